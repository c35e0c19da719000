"""Hostile scripts that the language lets pass, and the process stops.

OUTGROWN: name → (source, bars, milliseconds it is given, kind).

Their steps are within the budget; what they take is memory.
"""

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
COMPUTE = "def compute(ohlcv, params, chart):\n"

OUTGROWN: dict[str, tuple[str, int, int, str]] = {
    "more results than memory holds": (
        HEAD + COMPUTE + "    x = [ta.sma(ohlcv.close, i + 1) for i in range(95)]\n",
        100_000,
        1_000,
        "memory",
    ),
    "more series than memory holds": (
        HEAD + COMPUTE + "    x = [ohlcv.close + i for i in range(300)]\n",
        50_000,
        1_000,
        "memory",
    ),
}
