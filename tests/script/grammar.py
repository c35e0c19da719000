"""Scripts made by chance: valid ones, and ones that are nearly so."""

from functools import cache

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "n", "s", "xs")
NUMBERS = ("0", "1", "2", "-1", "7", "100", "0.5", "1e3", "-0.25", "1000000007")
TEXTS = ('"a"', '""', '"x,y"', '"{}"', '"%s"', '"é"', 'f"{n}"')
BINARY = "+ - * / // % & | ^ << >>".split()
COMPARE = [*"== != < <= > >= in".split(), "not in"]
SERIES = (
    "ohlcv.close",
    "ohlcv.time",
    "ohlcv.volume",
    "ta.ema(ohlcv.close, 3)",
    "(ohlcv.close > 100)",
    "ohlcv.close[2:]",
)
OTHERS = ("None", "True", "False", "ohlcv", "params", 'params["n"]', 'params["c"]')
BUILTINS = (
    "abs all any bool dict enumerate float int len list max min range repr reversed sorted str sum "
    "tuple type zip"
).split()
METHODS = (
    "append clear extend index insert pop remove get items keys values setdefault update upper "
    "split join replace find format strip startswith elems count"
).split()
TA = (
    "ta.sma ta.ema ta.rsi ta.abs ta.nz ta.where ta.shift ta.crossover ta.max ta.isna ta.bb "
    "math.sqrt math.pow math.floor math.round math.sign math.sum math.avg math.median "
    "color.alpha color.mix color.gradient"
).split()
CHART = (
    "chart.line(ohlcv.close)",
    "chart.dot(1, 2.0, label=str(n))",
    "chart.hline(n)",
    "chart.new_label(n, 1, str(s))",
    "chart.fill(ohlcv.close, n)",
    "chart.bars(xs)",
    "chart.line(c)",
    "chart.candles(ohlcv.open, ohlcv.high, ohlcv.low, c, wick=s)",
    "chart.background(s)",
    "chart.bar_color(xs)",
    "chart.shape(c, text=s)",
    "chart.shape(ohlcv.close > n, location='top', color=xs)",
)


@cache
def expressions() -> st.SearchStrategy[str]:
    leaves = st.sampled_from((*NAMES, *NUMBERS, *TEXTS, *SERIES, *OTHERS))
    return st.recursive(leaves, _larger, max_leaves=8)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, max_size=3).map(", ".join)
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(COMPARE), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(("and", "or")), inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({}{})".format, st.sampled_from(("-", "+", "~", "not ")), inner),
        st.builds("[{}]".format, several),
        st.builds("({},)".format, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}[{}:{}]".format, inner, inner, inner),
        st.builds("{}({})".format, st.sampled_from((*BUILTINS, *TA)), several),
        st.builds("{}.{}({})".format, inner, st.sampled_from(METHODS), several),
        st.builds("[{} for a in {}]".format, inner, inner),
        st.builds("[{} for a, b in {} if {}]".format, inner, inner, inner),
        st.builds("{{a: {} for a in {}}}".format, inner, inner),
        st.builds("(lambda a: {})({})".format, inner, inner),
        st.builds("sorted({}, key=lambda a: {})".format, inner, inner),
        st.builds("helper({}, {})".format, inner, inner),
        st.builds("helper(*{})".format, inner),
        st.builds("helper({}, **{{'b': {}}})".format, inner, inner),
        st.builds("{}(*{})".format, st.sampled_from((*BUILTINS, *TA)), inner),
        st.builds("{}.{}(*{})".format, inner, st.sampled_from(METHODS), inner),
        st.builds("(lambda *a, **b: {})(*{})".format, inner, inner),
        st.builds("{}.{}".format, inner, st.sampled_from(METHODS)),
        st.builds("({})({})".format, inner, several),
        st.builds("({} % {})".format, st.sampled_from(TEXTS), inner),
    )


@cache
def statements(depth: int = 2) -> st.SearchStrategy[list[str]]:
    """A block of lines, not indented."""
    value = expressions()
    name = st.sampled_from(NAMES)
    simple = st.one_of(
        st.builds("{} = {}".format, name, value),
        st.builds("{} {}= {}".format, name, st.sampled_from(BINARY), value),
        st.builds("{}[{}] = {}".format, name, value, value),
        st.builds("{}[{}] += {}".format, name, value, value),
        st.builds("{}, {} = {}".format, name, name, value),
        st.builds("print({})".format, value),
        st.builds("xs.append({})".format, value),
        st.builds("xs.append(*{})".format, value),
        st.builds("xs.insert({}, {})".format, value, value),
        st.builds("xs.insert(*{})".format, value),
        st.builds("xs[{}], {} = {}, {}".format, value, name, value, value),
        st.builds("xs = [{}]".format, value),
        st.sampled_from(CHART),
    ).map(lambda line: [line])
    if depth == 0:
        return simple
    block = statements(depth - 1)
    bodies = st.lists(block, min_size=1, max_size=3).map(_flat)
    exits = st.sampled_from(([], ["break"], ["continue"], ["return a"]))
    return st.one_of(
        simple,
        st.builds(lambda c, b: [f"if {c}:", *_in(b)], value, bodies),
        st.builds(lambda c, b, d: [f"if {c}:", *_in(b), "else:", *_in(d)], value, bodies, bodies),
        st.builds(lambda i, b: [f"for a in {i}:", *_in(b)], value, bodies),
        st.builds(lambda b: ["for i in range(len(xs)):", *_in(b)], bodies),
        st.builds(lambda i, b: [f"for n, c in enumerate({i}):", *_in(b)], value, bodies),
        st.builds(
            lambda i, b, t, e: [f"for a in {i}:", *_in([*b, f"if {t}:", *_in(e or ["pass"])])],
            value,
            bodies,
            value,
            exits,
        ),
        st.builds(lambda b: ["def inner(a, b = 1):", *_in([*b, "return a"])], bodies),
    )


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _flat(blocks: list[list[str]]) -> list[str]:
    return [line for block in blocks for line in block]


HEAD = """PARAMS = [
    {"name": "n", "type": "int", "default": 3},
    {"name": "c", "type": "choice", "default": "x", "options": ["x", 2, 0.5]},
]
META = {"title": "by chance"}

def helper(a, b):
    out = []
    for i in range(3):
        out.append(a)
    return out[0]

"""


@cache
def scripts() -> st.SearchStrategy[str]:
    body = st.lists(statements(), min_size=1, max_size=5).map(_flat)
    start = ["a = 1", "b = 2.5", "c = ohlcv.close", 'n = params["n"]', 's = "x,y"', "xs = [1, 2.0]"]
    return body.map(
        lambda lines: (
            HEAD + "def compute(ohlcv, params, chart):\n" + "\n".join(_in([*start, *lines])) + "\n"
        )
    )


SCRAPS = (
    '_ __class__ load while import ** // := -> @ 1_0 00 0x " \' """ f" \\ \t \n ( ) [ ] { } , : ; '
    "lambda for in if else not is None async yield global é \u202e * == = % #"
).split(" ")


def broken_scripts() -> st.SearchStrategy[str]:
    """A script with a piece cut out, doubled, or put where it does not belong."""

    @st.composite
    def draw(draw: st.DrawFn) -> str:
        source = draw(scripts())
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(source)))
            end = draw(st.integers(at, min(len(source), at + 20)))
            piece = draw(
                st.one_of(st.sampled_from(SCRAPS), st.just(source[at:end] * 2), st.just(""))
            )
            source = source[:at] + piece + source[end:]
        return source

    return draw()


SCALARS = (
    *NUMBERS,
    '"a"',
    '"b,c"',
    "None",
    "True",
    "False",
    "[]",
    "[1, 2]",
    "(1,)",
    "{}",
    '{"a": 1}',
)


def scalar_expressions() -> st.SearchStrategy[str]:
    """Expressions that any Starlark can evaluate."""

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        several = st.lists(inner, max_size=2).map(", ".join)
        return st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from("+ - * // % &".split()), inner),
            st.builds("({} {} {})".format, inner, st.sampled_from(COMPARE), inner),
            st.builds("({} {} {})".format, inner, st.sampled_from(("and", "or")), inner),
            st.builds("({} if {} else {})".format, inner, inner, inner),
            st.builds("({}{})".format, st.sampled_from(("-", "not ")), inner),
            st.builds("[{}]".format, several),
            st.builds("({}, {})".format, inner, inner),
            st.builds("{{{}: {}}}".format, inner, inner),
            st.builds("{}[{}]".format, inner, inner),
            st.builds("{}[{}:]".format, inner, inner),
            st.builds(
                "{}({})".format,
                st.sampled_from("abs all any bool len list max min repr sorted tuple type".split()),
                several,
            ),
            st.builds("[({}, x) for x in {}]".format, inner, inner),
            st.builds("(lambda x: {})({})".format, inner, inner),
        )

    return st.recursive(st.sampled_from(SCALARS), larger, max_leaves=6)


# ------------------------------------------------------------- programs that any Starlark can run

ATOMS = (
    *("a", "b", "c", "xs", "ys", "d", "s", "0", "1", "2", "-1", "7", "2.5", "None", "True"),
    *('"k"', '"ab"', "[]", "(1, 2)", "len(xs)"),
)
SCALAR_BUILTINS = (
    "abs all any bool dict enumerate float int len list max min range repr reversed sorted str "
    "tuple type zip"
).split()
SCALAR_METHODS = (
    "append insert pop remove index extend clear get setdefault keys values items update popitem "
    "upper split join find count strip"
).split()


def programs() -> st.SearchStrategy[str]:
    """A function f() of scalars, lists and dicts, which returns all that it did to them."""
    value = st.recursive(st.sampled_from(ATOMS), _larger_scalar, max_leaves=5)
    name = st.sampled_from(("a", "b", "c", "xs", "ys", "d"))
    simple = st.one_of(
        st.builds("{} = {}".format, name, value),
        st.builds("{} {}= {}".format, name, st.sampled_from("+ - * // % |".split()), value),
        st.builds("{}[{}] = {}".format, st.sampled_from(("xs", "d")), value, value),
        st.builds("{}[{}] += {}".format, st.sampled_from(("xs", "d")), value, value),
        st.builds("{}, {} = {}".format, name, name, value),
        st.builds("{}, xs[{}] = {}, {}".format, name, value, value, value),
        st.builds("xs[{}], {} = {}, {}".format, value, name, value, value),
        st.builds("xs.append({})".format, value),
        st.sampled_from(("ys = xs", "xs = [1, 2]", "d = {}")),
    ).map(lambda line: [line])
    inner = st.lists(simple, min_size=1, max_size=3).map(_flat)
    leave = st.sampled_from(("break", "continue", "return [a, xs, d]"))
    block = st.one_of(
        simple,
        st.builds(lambda c, b, e: [f"if {c}:", *_in(b), "else:", *_in(e)], value, inner, inner),
        st.builds(lambda i, b: [f"for a in {i}:", *_in(b)], value, inner),
        st.builds(lambda i, b: [f"for a, b in enumerate({i}):", *_in(b)], value, inner),
        st.builds(
            lambda i, b, c, e: [f"for a in {i}:", *_in([*b, f"if {c}:", f"    {e}"])],
            value,
            inner,
            value,
            leave,
        ),
        st.builds(
            lambda b, x: ["def inner(a, b = 1):", *_in([*b, "return a"]), f"c = inner({x})"],
            inner,
            value,
        ),
    )
    start = [
        "a = 1",
        "b = 2.5",
        "c = None",
        "xs = [1, 2, 3]",
        "ys = xs",
        'd = {"k": 1}',
        's = "a b"',
    ]
    return st.lists(block, min_size=1, max_size=6).map(
        lambda blocks: "\n".join(
            ["def f():", *_in([*start, *_flat(blocks), "return [a, b, c, xs, ys, d]"]), ""]
        )
    )


def _larger_scalar(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, max_size=2).map(", ".join)
    signs = "+ - * // % & | ^ < <= == != > in and or".split()
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(signs), inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({}{})".format, st.sampled_from(("not ", "-")), inner),
        st.builds("[{}]".format, several),
        st.builds("({}, {})".format, inner, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("{}({})".format, st.sampled_from(SCALAR_BUILTINS), several),
        st.builds("{}.{}({})".format, inner, st.sampled_from(SCALAR_METHODS), several),
        st.builds("[{} for a in {} if {}]".format, inner, inner, inner),
        st.builds("[{} for a, b in {}]".format, inner, inner),
        st.builds("{{a: {} for a in {}}}".format, inner, inner),
        st.builds("(lambda a, b = {}: {})({})".format, inner, inner, inner),
        st.builds("(lambda *a: {})(*{})".format, inner, inner),
        st.builds("sorted({}, key = lambda a: {})".format, inner, inner),
    )
