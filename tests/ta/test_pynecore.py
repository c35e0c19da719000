"""A second runtime as witness: PyneCore computes what `ta` does, bar by bar and in its own way.

Both run over real bars, once as they are and once with gaps in the source. What they do not agree
on is listed with its reason, and the list is proven too: a difference that is gone has to leave it.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import chartpact as cp
from chartpact import ta

pytest.importorskip("pynecore", reason="PyneCore is a development dependency")

BARS = 600
FILE = "ESZ13_1m_2013-10-06_2013-10-14.csv.gz"
ROOT = Path(__file__).parents[2]

# name | ours | PyneCore's. `x` is the close, with gaps in the second run; `up` bars closed higher.
FUNCTIONS = """
accdist       | ta.accdist(h, l, c, v)               | ta.accdist
alma          | ta.alma(x, 9, 0.85, 6)               | ta.alma(x, 9, 0.85, 6.0)
atr           | ta.atr(h, l, c, 14)                  | ta.atr(14)
barssince     | ta.barssince(up)                     | ta.barssince(up)
bb            | ta.bb(x, 20, 2)                      | ta.bb(x, 20, 2.0)
bbw           | ta.bbw(x, 20, 2)                     | ta.bbw(x, 20, 2.0)
cci           | ta.cci(x, 5)                         | ta.cci(x, 5)
change        | ta.change(x)                         | ta.change(x)
cmo           | ta.cmo(x, 9)                         | ta.cmo(x, 9)
cog           | ta.cog(x, 10)                        | ta.cog(x, 10)
correlation   | ta.correlation(x, v, 10)             | ta.correlation(x, volume, 10)
cross         | ta.cross(x, o)                       | ta.cross(x, open)
crossover     | ta.crossover(x, o)                   | ta.crossover(x, open)
crossunder    | ta.crossunder(x, o)                  | ta.crossunder(x, open)
cum           | ta.cum(x)                            | ta.cum(x)
dev           | ta.dev(x, 10)                        | ta.dev(x, 10)
dmi           | ta.dmi(h, l, c, 14, 14)              | ta.dmi(14, 14)
ema           | ta.ema(x, 9)                         | ta.ema(x, 9)
falling       | ta.falling(x, 3)                     | ta.falling(x, 3)
highest       | ta.highest(x, 8)                     | ta.highest(x, 8)
highestbars   | ta.highestbars(x, 8)                 | ta.highestbars(x, 8)
hma           | ta.hma(x, 9)                         | ta.hma(x, 9)
iii           | ta.iii(h, l, c, v)                   | ta.iii
kc            | ta.kc(x, h, l, c, 20, 1.5)           | ta.kc(x, 20, 1.5)
kcw           | ta.kcw(x, h, l, c, 20, 1.5)          | ta.kcw(x, 20, 1.5)
linreg        | ta.linreg(x, 10, 1)                  | ta.linreg(x, 10, 1)
lowest        | ta.lowest(x, 8)                      | ta.lowest(x, 8)
lowestbars    | ta.lowestbars(x, 8)                  | ta.lowestbars(x, 8)
macd          | ta.macd(x, 12, 26, 9)                | ta.macd(x, 12, 26, 9)
max           | ta.max(x)                            | ta.max(x)
median        | ta.median(x, 6)                      | ta.median(x, 6)
mfi           | ta.mfi(x, v, 14)                     | ta.mfi(x, 14)
min           | ta.min(x)                            | ta.min(x)
mode          | ta.mode(x, 7)                        | ta.mode(x, 7)
mom           | ta.mom(x, 10)                        | ta.mom(x, 10)
nvi           | ta.nvi(c, v)                         | ta.nvi
obv           | ta.obv(c, v)                         | ta.obv
percentile_linear_interpolation | ta.percentile_linear_interpolation(x, 9, 40) | ta.percentile_linear_interpolation(x, 9, 40)
percentile_nearest_rank | ta.percentile_nearest_rank(x, 9, 40) | ta.percentile_nearest_rank(x, 9, 40)
percentrank   | ta.percentrank(x, 9)                 | ta.percentrank(x, 9)
pivothigh     | ta.pivothigh(x, 3, 2)                | ta.pivothigh(x, 3, 2)
pivotlow      | ta.pivotlow(x, 3, 2)                 | ta.pivotlow(x, 3, 2)
pvi           | ta.pvi(c, v)                         | ta.pvi
pvt           | ta.pvt(c, v)                         | ta.pvt
range         | ta.range(x, 8)                       | ta.range(x, 8)
rising        | ta.rising(x, 3)                      | ta.rising(x, 3)
rma           | ta.rma(x, 9)                         | ta.rma(x, 9)
roc           | ta.roc(x, 9)                         | ta.roc(x, 9)
rsi           | ta.rsi(x, 14)                        | ta.rsi(x, 14)
sar           | ta.sar(h, l, c, 0.02, 0.02, 0.2)     | ta.sar(0.02, 0.02, 0.2)
sma           | ta.sma(x, 9)                         | ta.sma(x, 9)
stdev         | ta.stdev(x, 9)                       | ta.stdev(x, 9)
stoch         | ta.stoch(x, h, l, 14)                | ta.stoch(x, high, low, 14)
supertrend    | ta.supertrend(h, l, c, 3, 10)        | ta.supertrend(3.0, 10)
swma          | ta.swma(x)                           | ta.swma(x)
tr            | ta.tr(h, l, c, True)                 | ta.tr(True)
tsi           | ta.tsi(x, 13, 25)                    | ta.tsi(x, 13, 25)
valuewhen     | ta.valuewhen(up, x, 1)               | ta.valuewhen(up, x, 1)
variance      | ta.variance(x, 9, False)             | ta.variance(x, 9, False)
vwap          | ta.vwap(x, v, anchor, 2)             | ta.vwap(x, anchor, 2.0)
vwma          | ta.vwma(x, v, 9)                     | ta.vwma(x, 9)
wad           | ta.wad(h, l, c)                      | ta.wad
wma           | ta.wma(x, 9)                         | ta.wma(x, 9)
wpr           | ta.wpr(h, l, c, 14)                  | ta.wpr(14)
wvad          | ta.wvad(o, h, l, c, v)               | ta.wvad
sum           | ta.sum(x, 9)                         | math.sum(x, 9)
avg           | ta.avg(x, o, h)                      | math.avg(x, open, high)
round         | ta.round(x / 7, 2)                   | math.round(x / 7, 2)
nz            | ta.nz(x, o)                          | nz(x, open)
fixnan        | ta.fixnan(x)                         | fixnan(x)
rci           | ta.rci(c, 9)                         | ta.rci(close, 9)
lt            | ta.lt(x / 3 * 3, o)                  | x / 3 * 3 < open
le            | ta.le(x / 3 * 3, o)                  | x / 3 * 3 <= open
eq            | ta.eq(x / 3 * 3, o)                  | x / 3 * 3 == open
ne            | ta.ne(x / 3 * 3, o)                  | x / 3 * 3 != open
"""  # noqa: E501
TYPES = ("Traditional", "Fibonacci", "Woodie", "Classic", "DM", "Camarilla")
GAPS = "bar_index % 17 == 5 or bar_index % 71 == 6"
RUNS = {"plain": "close", "gaps": f"na(float) if {GAPS} else close"}

# TradingView's own cancellation, which PyneCore repeats and `ta` does not.
ROUNDED = {
    "correlation": "five rolling sums of products and squares lose digits",
    "variance": "two rolling sums lose the digits of a small deviation",
    "stdev": "two rolling sums lose the digits of a small deviation",
}
# What else differs, by run, and why.
LEAVES_EARLY = (
    "PyneCore leaves before it calls the inner functions, whose history then lacks the bar"
)
NOT_PROBED = "OakScriptJS recorded TradingView here; PyneCore follows no probe"
DIFFERENT: dict[tuple[str, str], str] = {
    ("pivot Traditional", "plain"): "PyneCore has no fourth and fifth levels; the help page has",
    ("pivot Woodie", "plain"): "PyneCore has no fourth levels; the help page has",
    ("pivot Camarilla", "plain"): "PyneCore has no fifth levels; the help page has",
    ("pivot Classic", "plain"): "PyneCore takes it for Traditional, against the help page",
    (
        "cci",
        "plain",
    ): "OakScriptJS recorded that TradingView holds on a flat window; PyneCore divides",
    ("cmo", "gaps"): "not settled: PyneCore is na on the bar after a gap as well",
    ("cog", "gaps"): NOT_PROBED,
    ("falling", "gaps"): NOT_PROBED,
    ("rising", "gaps"): NOT_PROBED,
    ("mfi", "gaps"): NOT_PROBED,
    ("range", "gaps"): NOT_PROBED,
    ("stoch", "gaps"): NOT_PROBED,
    ("vwap", "gaps"): NOT_PROBED,
    ("hma", "gaps"): LEAVES_EARLY,
    ("pivothigh", "gaps"): LEAVES_EARLY,
    ("pivotlow", "gaps"): LEAVES_EARLY,
    ("roc", "gaps"): LEAVES_EARLY,
    ("tsi", "gaps"): LEAVES_EARLY,
}
# Where two gaps are in a window, the order of its slots is not settled: a few bars may differ.
UNSETTLED = ("percentile_linear_interpolation", "percentile_nearest_rank")
# PyneCore does not come to an end where the source of rci has a gap, so rci is given the close.


def calls() -> dict[str, tuple[str, str]]:
    """Each name with our call and PyneCore's."""
    lines = [line.split("|") for line in FUNCTIONS.strip().splitlines()]
    table = {name.strip(): (ours.strip(), theirs.strip()) for name, ours, theirs in lines}
    for kind in TYPES:
        ours = f'ta.pivot_point_levels(o, h, l, c, "{kind}", anchor)'
        table[f"pivot {kind}"] = (ours, f'ta.pivot_point_levels("{kind}", anchor)')
    return table


CALLS = calls()


@pytest.fixture(scope="module")
def bars(shared):
    """Real bars, or where they are missing those of a sample."""
    file = shared / "data" / FILE
    return cp.load(file if file.exists() else "sample:es-5m")[:BARS]


@pytest.fixture(scope="module", params=RUNS)
def run(request, bars, tmp_path_factory):
    """The name of the run, and the columns of every function: ours and PyneCore's."""
    from tests.ta.pynecore_run import script

    bar = np.arange(len(bars))
    x = bars.close.copy()
    if request.param == "gaps":
        x[(bar % 17 == 5) | (bar % 71 == 6)] = np.nan
    prices = dict(
        zip("ohlcv", (bars.open, bars.high, bars.low, bars.close, bars.volume), strict=True)
    )
    names = {"ta": ta, "x": x, "up": bars.close > bars.open, "anchor": bar % 50 == 7, **prices}
    ours = {name: eval(call, names) for name, (call, _) in CALLS.items()}
    ours = {name: made if isinstance(made, tuple) else (made,) for name, made in ours.items()}

    folder = tmp_path_factory.mktemp("pynecore")
    expressions = {name: (CALLS[name][1], len(made)) for name, made in ours.items()}
    (folder / "script.py").write_text(script(RUNS[request.param], expressions))
    np.save(folder / "bars.npy", np.array([bars.time, *prices.values()], dtype=float))
    command = [sys.executable, "-m", "tests.ta.pynecore_run", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    columns = np.load(folder / "columns.npz")
    theirs = {
        name: [columns[f"{name} {k}"] for k in range(len(made))] for name, made in ours.items()
    }
    return request.param, ours, theirs


def differing(name, ours, theirs):
    """The share of bars on which one of the results differs."""
    near = {"rtol": 1e-6, "atol": 1e-6} if name in ROUNDED else {"rtol": 1e-9, "atol": 1e-9}
    same = [
        np.isclose(np.asarray(mine, float), other, equal_nan=True, **near)
        for mine, other in zip(ours, theirs, strict=True)
    ]
    return 1 - np.mean(np.all(same, axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_pynecore_computes_the_same_or_it_is_known_why_not(name, run, shared):
    kind, ours, theirs = run
    reason = DIFFERENT.get((name, "plain")) or DIFFERENT.get((name, kind))
    share = differing(name, ours[name], theirs[name])
    if reason is None:
        assert share <= (0.05 if kind == "gaps" and name in UNSETTLED else 0)
    elif (shared / "data" / FILE).exists():  # a sample need not show every difference
        assert share > 0, f"no longer so: {reason}"


def test_every_function_of_pynecore_is_asked():
    pynecore = pytest.importorskip("pynecore.lib.ta")
    assert set(pynecore.__all__) <= {*CALLS, "pivot_point_levels"}
