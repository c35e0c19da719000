"""Hostile scripts that are too long to write down: name → (source, step, kind)."""

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
COMPUTE = "def compute(ohlcv, params, chart):\n"


def body(*lines: str) -> str:
    return HEAD + COMPUTE + "".join(f"    {line}\n" for line in lines)


def nested(opening: str, closing: str, count: int, core: str = "1") -> str:
    return body(f"x = {opening * count}{core}{closing * count}")


def indented(word: str, depth: int) -> str:
    lines = [f"{'  ' * level}{word}:" for level in range(depth)]
    return body(*lines, f"{'  ' * depth}pass")


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


def _keyed(pairs: list[tuple[int, int]]) -> str:
    return ", ".join(f"({a}, {b}): 1" for a, b in pairs)


def _listed(pairs: list[tuple[int, int]]) -> str:
    return ", ".join(f"({a}, {b})" for a, b in pairs)


GENERATED: dict[str, tuple[str, str, str]] = {
    "more than 64 KB": (body("x = 1") + "#" * 65_536, "parse", "size"),
    "64 KB counted in bytes": (body("x = 1") + "# " + "é" * 33_000, "parse", "size"),
    "20 000 brackets": (nested("[", "]", 20_000), "parse", "size"),
    "20 000 parentheses": (nested("(", ")", 20_000), "parse", "size"),
    "20 000 dicts": (nested("{1:", "}", 10_000), "parse", "size"),
    "20 000 minuses": (nested("-", "", 20_000), "parse", "size"),
    "10 000 nots": (nested("not ", "", 10_000), "parse", "size"),
    "10 000 tildes": (nested("~", "", 10_000), "parse", "size"),
    "5 000 lambdas": (nested("lambda: ", "", 5_000), "parse", "size"),
    "5 000 conditionals": (nested("1 if 1 else ", "", 5_000), "parse", "size"),
    "20 000 terms": (body("x = " + "+".join(["1"] * 20_000)), "parse", "size"),
    "10 000 comparisons": (body("x = " + "<".join(["1"] * 10_000)), "check", "syntax"),
    "9 000 ands": (body("x = 1 // (0" + " and 1" * 9_000 + ")"), "run", "value"),
    "20 000 attributes": (body("x = ohlcv" + ".a" * 20_000), "parse", "size"),
    "20 000 calls": (body("x = ohlcv" + "()" * 20_000), "parse", "size"),
    "20 000 indices": (body("x = ohlcv" + "[0]" * 10_000), "parse", "size"),
    "brackets that do not match": (body("x = " + "([{" * 20 + ")]}" * 20), "parse", "syntax"),
    "brackets that do not close": (body("x = " + "[" * 59), "parse", "syntax"),
    "ifs within ifs": (indented("if 1", 200), "parse", "syntax"),
    "loops within loops": (indented("for i in range(9)", 60), "check", "forbidden"),
    "twelve loops within loops": (indented("for i in range(9)", 12), "run", "budget"),
    "an elif for everything": (
        body("if 0:", "    pass", *["elif 0:\n        pass"] * 2_000),
        "parse",
        "size",
    ),
    "comprehensions within comprehensions": (
        nested("[", " for i in range(9)]", 40, "1"),
        "check",
        "forbidden",
    ),
    "twelve comprehensions within comprehensions": (
        nested("[", " for i in range(9)]", 12, "1"),
        "run",
        "budget",
    ),
    "comprehensions within loops": (
        body(
            *(f"{'  ' * level}for i in range(9):" for level in range(7)),
            f"{'  ' * 7}x = {'[' * 6}1{' for i in range(9)]' * 6}",
        ),
        "check",
        "forbidden",
    ),
    "a comprehension of many clauses": (
        body("x = [1" + " for i in range(9)" * 500 + "]"),
        "check",
        "forbidden",
    ),
    "2 000 functions in a row": (
        HEAD
        + "def f0():\n    pass\n"
        + "".join(f"def f{i}():\n    f{i - 1}()\n" for i in range(1, 2_000))
        + COMPUTE
        + "    f1999()\n",
        "check",
        "forbidden",
    ),
    "a call tree of 2 to the 50": (
        HEAD
        + "def f0():\n    pass\n"
        + "".join(f"def f{i}():\n    f{i - 1}()\n    f{i - 1}()\n" for i in range(1, 50))
        + COMPUTE
        + "    f49()\n",
        "run",
        "budget",
    ),
    "1 000 functions that all call each other": (
        HEAD
        + "".join(f"def f{i}():\n    f{(i * 7 + 1) % 1_000}()\n" for i in range(1_000))
        + COMPUTE
        + "    f0()\n",
        "check",
        "forbidden",
    ),
    "3 000 unknown names": (
        body(*[f"x = unknown{i}" for i in range(2_900)]),
        "check",
        "name",
    ),
    "unknown names beside 3 000 known ones": (
        HEAD
        + "".join(f"V{i} = 1\n" for i in range(3_000))
        + COMPUTE
        + "".join(f"    x = W{i}\n" for i in range(1_000)),
        "check",
        "name",
    ),
    "a name of 60 000 letters": (body("x = " + "a" * 60_000), "check", "name"),
    "an attribute of 60 000 letters": (body("x = ta." + "a" * 60_000), "check", "name"),
    "5 000 augmented globals": (
        HEAD + "X = 1\n" + COMPUTE + "    X += 1\n" * 5_000,
        "check",
        "forbidden",
    ),
    "10 000 parameters of a function": (
        HEAD
        + "def f("
        + ",".join(f"a{i}" for i in range(9_000))
        + "):\n    pass\n"
        + COMPUTE
        + "    f()\n",
        "check",
        "size",
    ),
    "7 000 named values of a call": (
        body("x = dict(" + ",".join(f"a{i}=1" for i in range(7_000)) + ")"),
        "check",
        "size",
    ),
    "201 PARAMS": (
        "PARAMS = ["
        + ",".join(f'{{"name": "n{i}", "type": "int", "default": 1}}' for i in range(201))
        + ']\nMETA = {"title": "x"}\n'
        + COMPUTE
        + "    pass\n",
        "presence",
        "size",
    ),
    "a description of 60 000 letters": (
        'PARAMS = []\nMETA = {"title": "x", "description": "'
        + "a" * 60_000
        + '"}\n'
        + COMPUTE
        + "    pass\n",
        "presence",
        "size",
    ),
    "a NUL": (body("x = 1") + "\0", "parse", "syntax"),
    "a form feed": (body("x = 1", "\f", "y = 2"), "parse", "syntax"),
    "a lone carriage return": (body("x = 1\ry = 2"), "parse", "syntax"),
    "a byte order mark": ("\ufeff" + body("x = 1"), "parse", "syntax"),
    "half of a surrogate pair": (body("x = '\ud800'"), "parse", "syntax"),
    "nothing at all": ("", "presence", "name"),
    "one line of 60 000 statements": (
        body("x = 1" + "; x = 1" * 8_000 + "; x = 1 // 0"),
        "run",
        "value",
    ),
    "loops that puzzle the inference": (
        body(
            *[f"{'  ' * level}for v{level} in range(3):" for level in range(12)],
            *[f"{'  ' * 12}v{i} = v{(i + 1) % 12}" for i in range(12)],
            *[f"{'  ' * 12}w{i} = w{i - 1} + 1" if i else f"{'  ' * 12}w0 = 1" for i in range(300)],
        ),
        "run",
        "budget",
    ),
    "keys of one hash": (
        HEAD
        + f"KEYS = [{_listed(colliding(1_500))}]\n"
        + COMPUTE
        + "    table = {key: 1 for key in KEYS}\n"
        + "    last = KEYS[-1]\n"
        + "    for turn in range(1000):\n"
        + "        for i in range(100):\n"
        + "            x = table[last]\n",
        "run",
        "budget",
    ),
    "keys of one hash, written as a dict": (
        HEAD
        + COMPUTE
        + f"    for turn in range(1000):\n        x = {{{_keyed(colliding(800))}}}\n",
        "run",
        "budget",
    ),
    "keys of one hash, within keys": (
        HEAD
        + f"KEYS = [{_listed(colliding(1_000))}]\n"
        + COMPUTE
        + "    for turn in range(1000):\n"
        + "        table = {(key, key): 1 for key in KEYS}\n",
        "run",
        "budget",
    ),
}
