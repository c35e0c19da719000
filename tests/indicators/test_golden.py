"""Builtins give what TradingView exported, where the exports cover them."""

import csv

import numpy as np
import pytest
from tests.indicators.market import values

import chartpact as cp
from chartpact.bars import Bars

pytestmark = pytest.mark.needs_shared

# builtin, parameters → file, {title: column}
EXPORTS = [
    ("bbands", {}, "bb", {
        "BB Mid": "ta.bb(close, 20, 2).base",
        "BB Upper": "ta.bb(close, 20, 2).upper",
        "BB Lower": "ta.bb(close, 20, 2).lower",
    }),
    ("macd", {}, "macd", {
        "MACD": "ta.macd(close, 12, 26, 9).macd",
        "Signal": "ta.macd(close, 12, 26, 9).signal",
        "Histogram": "ta.macd(close, 12, 26, 9).hist",
    }),
    ("rsi", {}, "mfi+rsi+stoch", {"RSI": "ta.rsi(close, 14)"}),
    ("stoch", {"period": 20, "k_smooth": 1}, "mfi+rsi+stoch", {
        "%K": "ta.stoch(close, high, low, 20)",
    }),
    ("sar", {}, "sar", {"SAR": "ta.sar(0.02, 0.02, 0.2)"}),
    ("atr", {}, "tr", {"ATR": "ta.atr(14)"}),
    ("donchian", {"period": 10}, "highest+lowest", {
        "DC Upper": "ta.highest(10)",
        "DC Lower": "ta.lowest(10)",
    }),
    ("obv", {}, "iii+nvi+obv", {"OBV": "ta.obv"}),
    ("ad", {}, "accdist+pvi+pvt+wad+wvad", {"A/D": "ta.accdist"}),
]  # fmt: skip


def exported(shared, name):
    with (shared / "golden" / "tv-ta" / f"{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float).T
    return {
        title.replace("&quot;", '"'): column for title, column in zip(header, table, strict=True)
    }


def bars_of(table, timeframe, flat=False):
    prices = [table["close" if flat else name] for name in ("open", "high", "low", "close")]
    time = (table["time"] * 1000).astype(np.int64)
    return Bars(time, *prices, table["Volume"], "EURUSD", timeframe)


@pytest.mark.parametrize(("name", "params", "file", "columns"), EXPORTS, ids=lambda e: str(e)[:20])
def test_a_builtin_is_what_tradingview_exports(shared, name, params, file, columns):
    table = exported(shared, file)
    scene = cp.indicator(name, **params)(bars_of(table, "30m"))
    for title, column in columns.items():
        np.testing.assert_allclose(values(scene, title), table[column], rtol=1e-9, atol=1e-12)


def test_vwap_begins_anew_where_tradingviews_does(shared):
    """The export averages the close, so the bars are made flat at it."""
    table = exported(shared, "vwap")
    market = bars_of(table, "15m", flat=True)
    found, wanted = values(cp.indicator("vwap")(market), "VWAP"), table["ta.vwap(close)"]
    known = ~np.isnan(wanted)  # the export is na until its first anchor, our study starts at once
    np.testing.assert_allclose(found[known], wanted[known], rtol=1e-9)
    assert known.sum() > 100


def test_money_flow_is_tradingviews(shared):
    table = exported(shared, "mfi+rsi+stoch")
    market = bars_of(table, "30m", flat=True)
    np.testing.assert_allclose(
        values(cp.indicator("mfi")(market), "MFI"), table["ta.mfi(close, 14)"], rtol=1e-9
    )
