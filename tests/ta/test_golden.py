"""Values that TradingView exported, one assertion a column."""

import csv
import html
from datetime import datetime
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import ta

NEW_YORK = "America/New_York"
FX_SESSION = "1700-1700:23456"
pytestmark = pytest.mark.needs_shared


class Table(dict):
    """The columns of one file, by title; prices also as attributes."""

    def __getattr__(self, name):
        return self["Volume" if name == "volume" else name]


@cache
def table(path: Path) -> Table:
    with path.open(newline="") as lines:
        titles, *rows = list(csv.reader(lines))
    columns = dict(zip(map(html.unescape, titles), zip(*rows, strict=True), strict=True))
    times = columns.pop("time")
    if times[0].isdigit():
        stamps = [1000 * int(text) for text in times]
    else:
        stamps = [1000 * int(datetime.fromisoformat(text).timestamp()) for text in times]
    numbers = {title: np.array(values, float) for title, values in columns.items()}
    return Table(numbers, time=np.array(stamps))


def assert_exported(got, exported, relative=1e-9, absolute=0.0):
    got = np.asarray(got, float)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(exported))
    np.testing.assert_allclose(got, exported, rtol=relative, atol=absolute)


def _cross(t):
    return ta.ema(t.close, 5), ta.ema(t.close, 11)


def _sometimes(t):
    bar = np.arange(len(t.close))
    return bar % 3 == 0, np.where(bar % 2 == 0, np.nan, t.close)


def _periods(t, timeframe):
    return ta.timeframe_change(t.time, timeframe, NEW_YORK, "1700")


def _flag(t, name):
    return ta.FUNCTIONS[f"session_{name}"](t.time, t.time + 3_600_000, FX_SESSION, NEW_YORK)


def _sessions(t):
    starts = _periods(t, "1D")
    starts[0] = True  # this file begins with a session
    return starts


# (file, column title, what should give it)
COLUMNS = [
    ("accdist+pvi+pvt+wad+wvad", "ta.accdist", ta.accdist),
    ("accdist+pvi+pvt+wad+wvad", "ta.pvi", ta.pvi),
    ("accdist+pvi+pvt+wad+wvad", "ta.pvt", ta.pvt),
    ("accdist+pvi+pvt+wad+wvad", "ta.wad", ta.wad),
    ("accdist+pvi+pvt+wad+wvad", "ta.wvad", ta.wvad),
    ("bb", "ta.bb(close, 20, 2).base", lambda t: ta.bb(t.close, 20, 2)[0]),
    ("bb", "ta.bb(close, 20, 2).upper", lambda t: ta.bb(t.close, 20, 2)[1]),
    ("bb", "ta.bb(close, 20, 2).lower", lambda t: ta.bb(t.close, 20, 2)[2]),
    ("cross", "ta.cross(ema1, ema2)", lambda t: 0.5 * ta.cross(*_cross(t))),
    ("cross", "ta.crossover(ema1, ema2)", lambda t: 1.0 * ta.crossover(*_cross(t))),
    ("cross", "ta.crossunder(ema1, ema2)", lambda t: -1.0 * ta.crossunder(*_cross(t))),
    ("falling+rising", "ta.falling(ema, 5)", lambda t: -1.0 * ta.falling(ta.ema(t.close, 20), 5)),
    ("falling+rising", "ta.rising(ema, 5)", lambda t: 1.0 * ta.rising(ta.ema(t.close, 20), 5)),
    ("highest+lowest", "ta.highest(10)", lambda t: ta.highest(t, 10)),
    ("highest+lowest", "ta.highest(close, 10)", lambda t: ta.highest(t.close, 10)),
    ("highest+lowest", "ta.lowest(10)", lambda t: ta.lowest(t, 10)),
    ("highest+lowest", "ta.lowest(close, 10)", lambda t: ta.lowest(t.close, 10)),
    ("highest+lowest", "ta.highestbars(10)", lambda t: ta.highestbars(t, 10)),
    ("highest+lowest", "ta.highestbars(close, 10)", lambda t: ta.highestbars(t.close, 10)),
    ("highest+lowest", "ta.lowestbars(10)", lambda t: ta.lowestbars(t, 10)),
    ("highest+lowest", "ta.lowestbars(close, 10)", lambda t: ta.lowestbars(t.close, 10)),
    ("iii+nvi+obv", "ta.iii", ta.iii),
    ("iii+nvi+obv", "ta.nvi", ta.nvi),
    ("iii+nvi+obv", "ta.obv", ta.obv),
    ("linreg", "ta.linreg(close, 20, 0)", lambda t: ta.linreg(t.close, 20, 0)),
    ("linreg", "ta.linreg(close, 20, 10)", lambda t: ta.linreg(t.close, 20, 10)),
    ("ma", "ta.sma(close, 10)", lambda t: ta.sma(t.close, 10)),
    ("ma", "ta.sma(hl2, 20)", lambda t: ta.sma(ta.hl2(t), 20)),
    ("ma", "ta.sma(hlc3, 15)", lambda t: ta.sma(ta.hlc3(t), 15)),
    ("ma", "ta.ema(close, 20)", lambda t: ta.ema(t.close, 20)),
    ("ma", "ta.ema(ohlc4, 10)", lambda t: ta.ema(ta.ohlc4(t), 10)),
    ("ma", "ta.rma(hlcc4, 5)", lambda t: ta.rma(ta.hlcc4(t), 5)),
    ("ma", "ta.rma(high, 15)", lambda t: ta.rma(t.high, 15)),
    ("ma", "ta.alma(close, 5, 0.85, 6)", lambda t: ta.alma(t.close, 5, 0.85, 6)),
    ("ma", "ta.alma(close, 10, 0.55, 12)", lambda t: ta.alma(t.close, 10, 0.55, 12)),
    ("ma", "ta.wma(close, 5)", lambda t: ta.wma(t.close, 5)),
    ("ma", "ta.wma(close, 20)", lambda t: ta.wma(t.close, 20)),
    ("ma", "ta.hma(close, 9)", lambda t: ta.hma(t.close, 9)),
    ("ma", "ta.hma(close, 20)", lambda t: ta.hma(t.close, 20)),
    ("ma", "ta.swma(hlc3)", lambda t: ta.swma(ta.hlc3(t))),
    ("ma", "ta.vwma(close, 20)", lambda t: ta.vwma(t.close, t, 20)),
    ("macd", "ta.macd(close, 12, 26, 9).macd", lambda t: ta.macd(t.close, 12, 26, 9)[0]),
    ("macd", "ta.macd(close, 12, 26, 9).signal", lambda t: ta.macd(t.close, 12, 26, 9)[1]),
    ("macd", "ta.macd(close, 12, 26, 9).hist", lambda t: ta.macd(t.close, 12, 26, 9)[2]),
    ("mfi+rsi+stoch", "ta.mfi(close, 14)", lambda t: ta.mfi(t.close, t, 14)),
    ("mfi+rsi+stoch", "ta.rsi(close, 14)", lambda t: ta.rsi(t.close, 14)),
    ("mfi+rsi+stoch", "ta.stoch(close, high, low, 20)", lambda t: ta.stoch(t.close, t, 20)),
    ("min+max+median+mode", "min(close)", lambda t: ta.min(t.close)),
    ("min+max+median+mode", "max(close)", lambda t: ta.max(t.close)),
    ("min+max+median+mode", "median(close)", lambda t: ta.median(t.close, 20)),
    ("min+max+median+mode", "mode(close)", lambda t: ta.mode(t.close, 20)),
    ("pivot", "ta.pivothigh(10, 5)", lambda t: ta.pivothigh(t, 10, 5)),
    ("pivot", "ta.pivothigh(close, 10, 5)", lambda t: ta.pivot_high(t.close, 10, 5)),
    ("pivot", "ta.pivotlow(10, 5)", lambda t: ta.pivotlow(t, 10, 5)),
    ("pivot", "ta.pivotlow(close, 10, 5)", lambda t: ta.pivot_low(t.close, 10, 5)),
    ("range", "ta.range(close, 20)", lambda t: ta.range(t.close, 20)),
    ("sar", "ta.sar(0.02, 0.02, 0.2)", lambda t: ta.sar(t, 0.02, 0.02, 0.2)),
    ("session", "isfirstbar", lambda t: 1.0 * _flag(t, "isfirstbar")),
    ("session", "isfirstbar_regular", lambda t: 1.5 * _flag(t, "isfirstbar_regular")),
    ("session", "islastbar", lambda t: 2.0 * _flag(t, "islastbar")),
    ("session", "islastbar_regular", lambda t: 2.5 * _flag(t, "islastbar_regular")),
    ("session", "ismarket", lambda t: 3.0 * ta.session_ismarket(t, FX_SESSION, NEW_YORK)),
    ("tr", "ta.tr", ta.tr),
    ("tr", "ta.tr(false)", lambda t: ta.tr(t, False)),
    ("tr", "ta.tr(true)", lambda t: ta.tr(t, True)),
    ("tr", "ta.atr(14)", lambda t: ta.atr(t, 14)),
    ("tsi", "ta.tsi(close, 12, 26)", lambda t: ta.tsi(t.close, 12, 26)),
    (
        "valuewhen",
        "ta.valuewhen(ta.cross(slow, fast), close, 1)",
        lambda t: ta.valuewhen(ta.cross(ta.sma(t.close, 7), ta.sma(t.close, 14)), t.close, 1),
    ),
    ("valuewhen_na", "v0", lambda t: ta.valuewhen(*_sometimes(t), 0)),
    ("valuewhen_na", "v1", lambda t: ta.valuewhen(*_sometimes(t), 1)),
    ("valuewhen_na", "v2", lambda t: ta.valuewhen(*_sometimes(t), 2)),
    ("valuewhen_na", "w0", lambda t: ta.valuewhen(_sometimes(t)[0], t.close, 0)),
    ("vwap", "ta.vwap(close)", lambda t: ta.vwap(t.close, t, _sessions(t))),
    (
        "vwap",
        'ta.vwap(close, timeframe.change("240"))',
        lambda t: ta.vwap(t.close, t, _periods(t, "4h")),
    ),
    *(
        (
            "vwap",
            f'ta.vwap(close, timeframe.change("360"), 2.0).{part}',
            lambda t, k=k: ta.vwap(t.close, t, _periods(t, "6h"), 2.0)[k],
        )
        for k, part in enumerate(("vwap", "upper_band", "lower_band"))
    ),
]


@in_one_test(("file", "title", "computed"), COLUMNS, ids=[c[1] for c in COLUMNS])
def test_a_function_gives_what_tradingview_exported(shared, file, title, computed):
    exported = table(shared / "golden" / "tv-ta" / f"{file}.csv")
    assert_exported(computed(exported), exported[title])


def test_bbw_gives_what_tradingview_exported(shared):
    exported = table(shared / "golden" / "tv-ta" / "bb.csv")
    assert_exported(ta.bbw(exported.close, 20, 2.1), exported["ta.bbw(close, 20, 2.1)"], 2e-9)


def test_correlation_gives_what_tradingview_exported(shared):
    t = table(shared / "golden" / "tv-ta" / "correlation.csv")
    got = ta.correlation(ta.sma(t.close, 20), ta.ema(t.close, 10), 20)
    assert_exported(got, t["correlation"], relative=0, absolute=5e-8)


def test_every_exported_column_is_compared(shared):
    own = {"open", "high", "low", "close", "Volume", "time"}
    elsewhere = {"ta.bbw(close, 20, 2.1)", "correlation"}
    compared = {title for _, title, _ in COLUMNS} | own | elsewhere
    files = sorted((shared / "golden" / "tv-ta").glob("*.csv"))
    assert files
    for file in files:
        assert set(table(file)) <= compared, file.name
