"""The kinds of value that the compiler tells apart, as bits: a set of kinds is an int.

A set may be too large, never too small. What the compiler knows of an expression decides whether
Python's own operators may be used on it (`type_guards`).
"""

import ast
from collections.abc import Iterable, Mapping

from chartpact.prices import DERIVED, STORED

(
    UNBOUND, NONE, BOOL, SMALL, MID, BIG, FLOAT, STR, LIST, TUPLE, DICT, RANGE,
    FLOATS, CONDITIONS, TIMES, FUNC, OHLCV, PARAMS, OTHER,
) = (1 << bit for bit in range(19))  # fmt: skip

# Ints by size: SMALL fits 62 bits, MID is one operation away from that, BIG can be anything.
INT = SMALL | MID | BIG
NUMBER = INT | FLOAT
SERIES = FLOATS | CONDITIONS | TIMES
SEQUENCE = STR | LIST | TUPLE
CONTAINER = LIST | TUPLE | DICT
DICTS = DICT | PARAMS  # params is a dict whose values have the kinds that PARAMS declares
SERIES_TUPLE = TUPLE | FLOATS  # as the result of a ta function: a tuple of series
ANY = (1 << 19) - 1 - UNBOUND - PARAMS | DICT

PARAM_KINDS: Mapping[str, int] = {
    "int": SMALL,
    "float": FLOAT,
    "bool": BOOL,
    "str": STR,
    "choice": SMALL | FLOAT | STR,
    "color": STR,
    "session": STR,
    "timeframe": STR,
    "source": FLOATS,
    "symbol": OHLCV | NONE,
    "calendar": LIST | NONE,
    "time": SMALL,
    "price": FLOAT,
}
OHLCV_KINDS: Mapping[str, int] = {
    **dict.fromkeys(("bar_index", *STORED, *DERIVED), FLOATS),
    # stretched, times are na before the first higher bar
    **dict.fromkeys(("time", "close_time", "trading_day", "first_bar"), TIMES | FLOATS),
    "whole": CONDITIONS,
    **dict.fromkeys(("symbol", "timeframe", "day_roll", "market"), STR),
    "tick_size": FLOAT | NONE,
    "first_visible": SMALL,
}
MAY_FAIL = frozenset(("close_time", "trading_day", "first_bar", "whole"))  # of some bars
CONSTANT_KINDS: Mapping[str, int] = {"math.pi": FLOAT, "math.e": FLOAT}
BUILTIN_KINDS: Mapping[str, int] = {
    "all": BOOL, "any": BOOL, "bool": BOOL, "dict": DICT, "enumerate": LIST, "float": FLOAT,
    "int": BIG, "len": SMALL, "list": LIST, "print": NONE, "range": RANGE, "repr": STR,
    "reversed": LIST, "sorted": LIST, "str": STR, "sum": BIG | FLOAT, "tuple": TUPLE,
    "type": STR, "zip": LIST,
}  # fmt: skip
METHOD_KINDS: Mapping[str, int] = {
    **dict.fromkeys("append clear extend insert remove update".split(), NONE),
    **dict.fromkeys("elems items keys rsplit split splitlines values".split(), LIST),
    **dict.fromkeys("endswith startswith isalnum isalpha isdigit islower isspace".split(), BOOL),
    **dict.fromkeys("capitalize format join lower replace strip title upper".split(), STR),
    **dict.fromkeys("find rfind rindex count".split(), SMALL),
}
# Container kinds with the kinds of their elements, by `x[i]` and by a loop.
INDEXED = (
    (FLOATS, FLOAT), (CONDITIONS, BOOL), (TIMES, SMALL), (STR, STR), (RANGE, SMALL),
    (CONTAINER | PARAMS, ANY),
)  # fmt: skip
ITERATED = tuple(pair for pair in INDEXED if pair[0] != STR)


def union(kinds: Iterable[int]) -> int:
    joined = 0
    for some in kinds:
        joined |= some
    return joined


def elements(container: int, table: Iterable[tuple[int, int]]) -> int:
    """The kinds of the elements of a container, by one of the tables above."""
    return union(element for kinds, element in table if container & kinds)


def of_constant(value: object) -> int:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return SMALL if abs(value) < 1 << 62 else BIG
    return FLOAT if isinstance(value, float) else STR


def of_binary(operator: ast.operator, left: int, right: int) -> int:
    """The kinds that a binary operator can give."""
    kinds = FLOAT if (left & FLOAT and right & NUMBER) or (right & FLOAT and left & NUMBER) else 0
    if (left | right) & SERIES:
        kinds |= CONDITIONS if isinstance(operator, ast.BitAnd | ast.BitOr) else FLOATS
    ints = left & INT and right & INT
    if isinstance(operator, ast.Div):
        return kinds | (FLOAT if ints else 0)
    if ints:
        if isinstance(operator, ast.Add | ast.Sub | ast.Mult):
            kinds |= MID if left & SMALL and right & SMALL else 0
            kinds |= BIG if (left | right) & (MID | BIG) else 0
        elif isinstance(operator, ast.FloorDiv):
            kinds |= left & INT
        elif isinstance(operator, ast.Mod):
            kinds |= right & INT
        else:
            kinds |= BIG
    if isinstance(operator, ast.Add):
        kinds |= left & right & SEQUENCE
    elif isinstance(operator, ast.Mult):
        kinds |= (left & SEQUENCE) if right & INT else 0
        kinds |= (right & SEQUENCE) if left & INT else 0
    elif isinstance(operator, ast.Mod):
        kinds |= left & STR
    elif isinstance(operator, ast.BitOr) and left & DICTS and right & DICTS:
        kinds |= DICT
    return kinds


def of_unary(operator: ast.unaryop, operand: int) -> int:
    if isinstance(operator, ast.Not):
        return BOOL
    if isinstance(operator, ast.Invert):
        return (BIG if operand & INT else 0) | (CONDITIONS if operand & SERIES else 0)
    return (operand & NUMBER) | (FLOATS if operand & SERIES else 0)


def of_comparison(node: ast.Compare, left: int, right: int) -> int:
    if isinstance(node.ops[0], ast.In | ast.NotIn) or is_none_test(node):
        return BOOL
    if not (left | right) & SERIES:
        return BOOL
    surely_series = not left & ~SERIES or not right & ~SERIES
    equality = isinstance(node.ops[0], ast.Eq | ast.NotEq)
    return CONDITIONS if surely_series and not equality else CONDITIONS | BOOL


def of_builtin(name: str, arguments: list[int], spread: bool) -> int:
    """The kinds that a call of a builtin can give; `spread` if it has *values."""
    if name == "abs" and arguments:
        return arguments[0] & NUMBER
    if name in ("min", "max") and len(arguments) > 1 and not spread:
        return union(arguments)
    if name in ("min", "max") and arguments == [RANGE]:
        return SMALL
    return BUILTIN_KINDS.get(name, ANY)


def of_ohlcv_method(name: str, arguments: int) -> int:
    """The kinds that a method of bars gives; `security` is one without a function."""
    if name in ("resample", "security"):
        return OHLCV
    if name == "series" and arguments and not arguments & ~(NUMBER | NONE):
        return FLOATS
    return STR if name == "price_text" else ANY


def of_host_call(result: int, arguments: list[int]) -> int:
    """A function that gives a series of series gives a number of numbers, a list of lists."""
    if result == SERIES_TUPLE:
        return TUPLE
    if arguments and not union(arguments) & ~(NUMBER | BOOL | STR | NONE):
        return FLOAT if result == FLOATS else BOOL if result == CONDITIONS else result
    if result & SERIES:
        result |= list_of_lists(arguments)
    if not any(kinds and not kinds & ~(SERIES | LIST | OHLCV) for kinds in arguments):
        result |= (FLOAT if result & FLOATS else 0) | (BOOL if result & CONDITIONS else 0)
    return result


def list_of_lists(arguments: list[int]) -> int:
    """LIST where a host function may have been given lists, and no series beside them."""
    sure = any(kinds and not kinds & ~(SERIES | OHLCV) for kinds in arguments)
    return 0 if sure else LIST & union(arguments)


def is_none_test(node: ast.Compare) -> bool:
    """Whether the comparison is `x == None` or `x != None`."""
    sides = (node.left, node.comparators[0])
    return isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(
        isinstance(side, ast.Constant) and side.value is None for side in sides
    )
