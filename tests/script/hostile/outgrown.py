"""Hostile scripts that the language lets pass, and the process stops.

OUTGROWN: name → (source, bars, milliseconds it is given, kind).

Their steps are within the budget. What they take is memory, or time that no counting foresees.
"""

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
COMPUTE = "def compute(ohlcv, params, chart):\n"

_MASK = (1 << 64) - 1
_FIRST, _SECOND, _FIFTH = 11400714785074694791, 14029467366897019727, 2870177450012600261
_LARGEST_KEY = (1 << 61) - 1


def _turned(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def colliding(count: int) -> list[tuple[int, int]]:
    """Pairs that Python gives one and the same hash, so that a dict looks through all of them."""
    back_first, back_second = pow(_FIRST, -1, 1 << 64), pow(_SECOND, -1, 1 << 64)
    wanted = _turned(12345 * back_first & _MASK, 64 - 31)
    pairs: list[tuple[int, int]] = []
    a = 0
    while len(pairs) < count:
        a += 1
        after = _turned((_FIFTH + a * _SECOND) & _MASK, 31) * _FIRST & _MASK
        b = (wanted - after) * back_second & _MASK
        b -= (b >> 63) << 64
        if abs(b) < _LARGEST_KEY and b != -1:
            pairs.append((a, b))
    return pairs


def _written(pairs: list[tuple[int, int]]) -> str:
    return ", ".join(f"({a}, {b})" for a, b in pairs)


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
    "keys of one hash": (
        HEAD
        + f"KEYS = [{_written(colliding(1_500))}]\n"
        + COMPUTE
        + "    table = {key: 1 for key in KEYS}\n"
        + "    last = KEYS[-1]\n"
        + "    for i in range(16000):\n"
        + "        x = table[last]\n",
        100,
        300,
        "time",
    ),
}
