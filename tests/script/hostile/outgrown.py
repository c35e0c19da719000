"""Hostile scripts that the language lets pass, and the process stops.

OUTGROWN: name → (source, bars, kind).

Their steps are within the budget; what they take is memory.
"""

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
COMPUTE = "def compute(ohlcv, params, chart):\n"

OUTGROWN: dict[str, tuple[str, int, str]] = {
    "more results than memory holds": (
        HEAD + COMPUTE + "    x = [ta.sma(ohlcv.close, i + 1) for i in range(95)]\n",
        100_000,
        "memory",
    ),
    "more series than memory holds": (
        HEAD + COMPUTE + "    x = [ohlcv.close + i for i in range(300)]\n",
        50_000,
        "memory",
    ),
}

FOREVER, ONE_MORE = "for i in range(100000000):", "    if i < 0: break"  # charged by the turn

# Attacks on the whole budget: the dearest things that steps can buy, as often as they can.
SPENDTHRIFT: dict[str, str] = {
    name: HEAD
    + "def double(x):\n    return x + x\n"
    + COMPUTE
    + "".join(f"    {line}\n" for line in lines)
    for name, lines in {
        "texts": ['s = "é𝄞" * 400000', FOREVER, ONE_MORE, "    x = s.upper()"],
        "ints": ["b = (1 << 511) - 1", FOREVER, ONE_MORE, "    x = b * b // 7 % 3"],
        "lists": [
            "v = [[0] * 100000 for i in range(10)]",
            FOREVER,
            ONE_MORE,
            "    x = v[0] + v[1]",
        ],
        "sorting": [
            "v = [(i * 7919) % 10007 for i in range(5000)]",
            FOREVER,
            ONE_MORE,
            "    x = sorted(v, key = lambda j: -j)",
        ],
        "dicts": ["d = {}", FOREVER, ONE_MORE, "    d[i] = (i, i)"],
        "search": ["v = [1.5] * 200000", FOREVER, ONE_MORE, "    x = 2.5 in v"],
        "series of lists": [
            "v = list(ohlcv.close)",
            FOREVER,
            ONE_MORE,
            "    x = ta.rsi(v, 14)",
        ],
        "handles": [
            "b = chart.new_box(1, 2.0, 3, 1.0)",
            'w = "é" * 4000',
            FOREVER,
            ONE_MORE,
            "    b.set_right(i % 100)",
            "    b.set_text(w)",
        ],
        "objects": [
            FOREVER,
            ONE_MORE,
            '    chart.new_label(i % 100, 1.5, "x" * (i % 99)).delete()',
        ],
        "no floats": [
            "v = [1] * 1000",
            "x = 0",
            FOREVER,
            ONE_MORE,
            "    x = v[i % 1000] - x",
        ],
        "calls": [FOREVER, ONE_MORE, "    x = [double(j) for j in (i, i, i)]"],
        "front of a list": [
            "v = [1] * 100000",
            FOREVER,
            ONE_MORE,
            "    v.insert(0, v.pop(0))",
        ],
    }.items()
}
