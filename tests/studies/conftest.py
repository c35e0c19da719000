"""Studies that are quick, and what is studied in them."""

from collections.abc import Callable
from typing import Any

import pytest

from chartpact import sources, studies
from chartpact.bars import Bars
from chartpact.catalogue import Catalogue, ScriptIndicator
from chartpact.request import Request
from chartpact.studies import StudyAnswer
from chartpact.studies.procedure import study

PREFIXES = 8

SCRIPT = """PARAMS = [{"name": "n", "type": "int", "default": 10, "min": 2}]
META = {"title": "Mine", "overlay": True}
def compute(ohlcv, params, chart):
    low = ta.lowest(ohlcv.low, params["n"])
    high = ta.highest(ohlcv.high, params["n"])
    for i in range(params["n"], len(ohlcv)):
        if ohlcv.low[i] < low[i - 1]:
            chart.dot(i, ohlcv.low[i], label="down")
        if ohlcv.high[i] > high[i - 1]:
            chart.dot(i, ohlcv.high[i], label="up")
"""
# A pivot that is drawn five bars before it is known, and says that it was known there.
EARLY = """PARAMS = []
META = {"title": "Early", "overlay": True}
def compute(ohlcv, params, chart):
    low = ta.pivot_low(ohlcv.low, 5, 5)
    for i in range(10, len(ohlcv)):
        if not ta.isna(low[i]):
            chart.dot(i - 5, ohlcv.low[i - 5], label="pivot")
"""
# A signal that vanishes when the next bar goes against it.
REPAINTING = """PARAMS = []
META = {"title": "Repaints", "overlay": True}
def compute(ohlcv, params, chart):
    for i in range(1, len(ohlcv)):
        last = i == len(ohlcv) - 1
        if ohlcv.close[i] > ohlcv.open[i] and (last or ohlcv.close[i + 1] > ohlcv.close[i]):
            chart.dot(i, ohlcv.close[i], label="sure")
"""


@pytest.fixture
def run() -> Callable[..., StudyAnswer]:
    """A study of a builtin, a pact or a script, with a short proof."""

    def run(name: str, bars: Bars, code: str = "", **options: Any) -> StudyAnswer:
        scripts = {name: ScriptIndicator.read(name, code)} if code else {}
        catalogue = Catalogue(scripts)
        return study(
            bars,
            lambda values: catalogue.plan([Request(name, values)])[0],
            studies.read_ask(**options),
            sources.fetch,
            PREFIXES,
        )

    return run
