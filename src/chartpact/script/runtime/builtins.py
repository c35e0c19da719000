"""The builtin functions: Starlark's names, Starlark's results, everything charged by size."""

import itertools
import math
import re
from collections.abc import Callable
from functools import cmp_to_key
from math import isfinite
from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.limits import INT_BITS, LOG_LINE_CHARS, LOG_LINES, RANGE_BITS
from chartpact.script.runtime.arithmetic import NUMBERS, bounded_int, mismatch_hint
from chartpact.script.runtime.formatting import to_repr, to_str
from chartpact.script.runtime.meter import walking
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import DICTS, LISTS, Dict, HostObject, List, a_type, type_name

Call = Callable[..., Any]

NAMES = (
    "abs all any bool dict enumerate fail float int len list max min print range repr reversed "
    "sorted str sum tuple type zip"
).split()

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_FLOAT = re.compile(
    r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)", re.I | re.A
)
_PREFIXES = {2: "0b", 8: "0o", 16: "0x"}
_RANGE = 1 << RANGE_BITS
_LOOK = 20  # steps to look at the kinds of a list's elements


class Builtins:
    """The builtins of one run: they charge its meter, write its log and call its functions."""

    def __init__(self, operators: Operators, call: Call) -> None:
        self._operators = operators
        self.meter = operators.meter
        self._charge = operators.meter.charge
        self._call = call
        self.log: list[str] = []

    def names(self) -> dict[str, Callable[..., Any]]:
        own = {name: getattr(self, f"_{name}") for name in NAMES if name != "range"}
        return {**own, "range": self.span}

    def _abs(self, x: Any, /) -> Any:
        if type(x) in NUMBERS:
            return abs(x)
        if type(x) is Series:
            raise Fault("type", "abs takes one number, and this is a series", "write ta.abs(x)")
        raise Fault("type", f"abs takes a number, not {a_type(x)}", mismatch_hint(x, x))

    def _all(self, values: Any, /) -> bool:
        return all(self._truths(values, "all"))

    def _any(self, values: Any, /) -> bool:
        return any(self._truths(values, "any"))

    def _truths(self, values: Any, name: str) -> Any:
        if type(values) is Series:
            hint = "join conditions bar by bar with & and |, or ask for one bar: cond[i]"
            raise Fault("type", f"{name} does not go with a series", hint)
        return self._values(values)

    def _bool(self, x: Any = False, /) -> bool:
        return bool(x)

    def _dict(self, /, *pairs: Any, **named: Any) -> Dict:
        return self._operators.pairs(pairs, named)

    def _enumerate(self, values: Any, /, start: Any = 0) -> List:
        sequence = self._values(values)
        self._charge(len(sequence))
        return List(enumerate(sequence, _int(start, "start")))

    def _fail(self, /, *values: Any, sep: Any = " ") -> None:
        message = self._line(values, sep)[:LOG_LINE_CHARS]
        raise Fault("value", message or "the script called fail()")

    def _float(self, x: Any = 0.0, /) -> float:
        if type(x) in (int, float, bool):
            self._charge(2)
            try:
                return float(x)
            except OverflowError:
                raise Fault("value", "this int is too large for a float") from None
        if type(x) is str:
            self._charge(20 + len(x) // 4)
            if not _FLOAT.fullmatch(x):
                raise Fault("value", f"{x!r:.40} is not a number")
            number = float(x)
            if number - number != 0 and x[-1] in "0123456789.":
                raise Fault("value", f"{x!r:.40} is too large for a float")
            return number
        hint = "take one bar: s[i]" if type(x) is Series else ""
        raise Fault("type", f"float takes a number or a string, not {a_type(x)}", hint)

    def _int(self, x: Any = 0, /, base: Any = None) -> int:
        if type(x) is str:
            self._charge(44 + len(x) // 3)
            return _parse_int(x, 10 if base is None else _int(base, "the base"))
        if base is not None:
            raise Fault("type", "a base goes with a string only")
        if type(x) in (int, bool):
            return int(x)
        if type(x) is float:
            if x - x != 0:
                raise Fault("value", f"{x} has no whole part", "test it first with ta.isna(x)")
            self._charge(6 if -_RANGE < x < _RANGE else 10)
            return int(x)
        hint = "take one bar: s[i]" if type(x) is Series else ""
        raise Fault("type", f"int takes a number or a string, not {a_type(x)}", hint)

    def _len(self, x: Any, /) -> int:
        if type(x) in (str, tuple, range, Series) or type(x) in LISTS or type(x) in DICTS:
            return len(x)
        if isinstance(x, HostObject) and hasattr(x, "__len__"):
            return len(x)
        raise Fault("type", f"{a_type(x)} has no length")

    def _list(self, values: Any = (), /) -> List:
        return List(self._collect(values))

    def _max(self, /, *values: Any, key: Any = None) -> Any:
        return self._extreme("max", values, key)

    def _min(self, /, *values: Any, key: Any = None) -> Any:
        return self._extreme("min", values, key)

    def _extreme(self, name: str, arguments: tuple[Any, ...], key: Any) -> Any:
        if key is None and len(arguments) == 1 and type(arguments[0]) in LISTS:
            values = arguments[0]
            self._charge(_LOOK + len(values) // 2)
            kinds = {*map(type, values)}
            if kinds in ({int}, {float}):
                self._charge(len(values) // 2)
                if kinds == {int} or isfinite(sum(values)):  # there is no NaN
                    return max(values) if name == "max" else min(values)
        kinds = {*map(type, arguments)}
        if key is None and len(arguments) == 2 and kinds == {float}:
            self._charge(10)
            return larger(*arguments) if name == "max" else smaller(*arguments)
        if not arguments:
            raise Fault("type", f"{name} takes some values, or one list of them")
        if Series in kinds:
            hint = f"write ta.{name}(a, b) bar by bar, ta.{_WINDOW[name]}(s, n) for a window, or "
            hint += f"{name}(list(s[a:b])) for some bars"
            raise Fault("type", f"{name} does not go with a series", hint)
        one = len(arguments) == 1
        values = self._operators.sequence(arguments[0])[0] if one else arguments
        if not len(values):
            raise Fault("value", f"{name} of nothing", "test first that there are values")
        self._charge(30 + (1 if key is None else 14) * len(values))
        if key is None and type(values) is range:
            values = (values[0], values[-1])
        if key is None and (set(map(type, values)) if one else kinds) <= NUMBERS:
            return largest(*values) if name == "max" else smallest(*values)
        if key is None:
            self._charge(15 + 15 * len(values))
        values = list(values)  # a key function may change the list it is asked about
        keys = _order_nan(values if key is None else self._keys(key, values))
        better = 1 if name == "max" else -1
        best = 0
        for at in range(1, len(keys)):
            if self._compare(keys[at], keys[best]) == better:
                best = at
        return values[best]

    def _compare(self, a: Any, b: Any) -> int:
        """-1, 0 or 1 as a stands before, beside or after b; NaN inside a list has no place."""
        if self._operators.lt(a, b):
            return -1
        if self._operators.lt(b, a):
            return 1
        if not self._operators.eq(a, b):
            message = "lists and tuples with nan (na) in them have no order"
            raise Fault("value", message, "leave them out first: ta.isna(x)")
        return 0

    @walking
    def _keys(self, key: Any, values: Any) -> list[Any]:
        return [self._call(key, value) for value in values]

    def _print(self, /, *values: Any, sep: Any = " ") -> None:
        line = self._line(values, sep)
        if len(self.log) < LOG_LINES:
            self.log.append(line[:LOG_LINE_CHARS])
        elif len(self.log) == LOG_LINES:
            self.log.append(f"(more than {LOG_LINES} lines: the rest is left out)")

    def _line(self, values: tuple[Any, ...], sep: Any) -> str:
        if type(sep) is not str:
            raise Fault("type", f"sep is a string, not {a_type(sep)}")
        pieces = [to_str(value, self.meter) for value in values]
        self._charge(20 + (sum(map(len, pieces)) + len(sep) * len(pieces)) // 16)
        return sep.join(pieces)

    def span(self, first: Any, last: Any = ..., step: Any = 1, /) -> range:
        """`range(…)`."""
        first, last = (0, first) if last is ... else (first, last)
        plain = type(first) is type(last) is type(step) is int and step == 1
        if plain and -_RANGE <= first <= _RANGE and -_RANGE <= last <= _RANGE:
            self._charge(6)
            return range(first, last)
        self._charge(25)
        bounds = [_int(bound, "range") for bound in (first, last, step)]
        if any(abs(bound) > _RANGE for bound in bounds):
            raise Fault("value", f"a range cannot go beyond {_RANGE:,}")
        if bounds[2] == 0:
            raise Fault("value", "a range cannot have a step of 0")
        return range(*bounds)

    def _repr(self, x: Any, /) -> str:
        return to_repr(x, self.meter)

    def _reversed(self, values: Any, /) -> List:
        return List(reversed(self._values(values)))

    def _sorted(self, values: Any, /, *, key: Any = None, reverse: Any = False) -> List:
        if type(reverse) is not bool:
            raise Fault("type", f"reverse is True or False, not {a_type(reverse)}")
        sequence, length, _ = self._operators.sequence(values)
        turns = length * max(length, 1).bit_length()
        self._charge((55 if key is None else 75) + length + turns // 2)
        listed = list(sequence)
        keys = listed if key is None else self._keys(key, listed)
        kinds = set(map(type, keys))
        order = range(length)
        if kinds <= NUMBERS or kinds == {str}:
            if len(kinds) > 1 or kinds == {str}:
                self._charge(10 + turns // 4)
            if kinds == {str}:
                self._charge(turns * max(map(len, keys)) // 64)
            elif _has_nan(keys):
                self._charge(turns // 2)
                keys = _order_nan(keys)
            return List(listed[at] for at in sorted(order, key=keys.__getitem__, reverse=reverse))
        self._charge(20 * turns)

        def compare(a: int, b: int) -> int:
            return self._compare(keys[a], keys[b])

        return List(listed[at] for at in sorted(order, key=cmp_to_key(compare), reverse=reverse))

    def _str(self, x: Any, /) -> str:
        self._charge(5)
        return to_str(x, self.meter)

    def _sum(self, values: Any, /) -> Any:
        """The sum of numbers; that of floats is rounded once, whatever their order."""
        if type(values) is Series:
            hint = "write ta.cum(s) up to each bar, ta.sum(s, n) for a window, or "
            hint += "sum(list(s[a:b])) for some bars"
            raise Fault("type", "sum does not go with a series", hint)
        numbers = self._values(values)
        self._charge(4 + len(numbers) // 4)
        kinds = {*map(type, numbers)}
        if not kinds <= NUMBERS:
            odd = next(value for value in numbers if type(value) not in NUMBERS)
            hint = "math.sum(values) leaves na out" if odd is None else ""
            raise Fault("type", f"sum takes a list of numbers, and this holds {a_type(odd)}", hint)
        if kinds <= {int}:
            return bounded_int(sum(numbers))
        try:
            return math.fsum(numbers)
        except (OverflowError, ValueError):  # beyond floats on the way, or infinite both ways
            return sum(map(self._float, numbers))

    def _tuple(self, values: Any = (), /) -> tuple[Any, ...]:
        return tuple(self._collect(values))

    def _type(self, x: Any, /) -> str:
        self._charge(3)
        return type_name(x)

    def _zip(self, /, *values: Any) -> List:
        self._charge(32 + 10 * len(values))
        columns = [self._operators.sequence(value)[0] for value in values]
        rows = min((len(column) for column in columns), default=0)
        self._charge(rows * (1 + len(columns)))
        return List(zip(*columns, strict=False))

    def _values(self, values: Any) -> Any:
        """What a builtin goes through from end to end."""
        sequence, length, _ = self._operators.sequence(values)
        self._charge(11 + length)
        return sequence

    def _collect(self, values: Any) -> Any:
        """The elements of a new list or tuple."""
        sequence, length, _ = self._operators.sequence(values)
        self._operators.extend_list(0, length)
        return sequence


_WINDOW = {"max": "highest", "min": "lowest"}


def largest(*numbers: Any) -> Any:
    """The largest number; NaN is above all others, as Starlark orders it."""
    return next(filter(_is_nan, numbers)) if _has_nan(numbers) else max(numbers)


def smallest(*numbers: Any) -> Any:
    """The smallest number; NaN only where there is no other."""
    if _has_nan(numbers):
        numbers = tuple(itertools.filterfalse(_is_nan, numbers)) or numbers[:1]
    return min(numbers)


def larger(a: Any, b: Any) -> Any:
    """`largest` of two, for inner loops."""
    return a if a >= b or a != a else b  # noqa: PLR0124


def smaller(a: Any, b: Any) -> Any:
    """`smallest` of two, for inner loops."""
    return a if a <= b or b != b else b  # noqa: PLR0124


def _is_nan(number: Any) -> bool:
    return bool(number != number)  # noqa: PLR0124  (an int may be too large for math.isnan)


def _has_nan(numbers: Any) -> bool:
    try:
        total = sum(numbers)
    except OverflowError:  # an int too large for a float
        return any(map(_is_nan, numbers))
    return _is_nan(total) and any(map(_is_nan, numbers))


def _order_nan(keys: list[Any]) -> list[Any]:
    """The keys; numbers with NaN among them as pairs that put NaN above all others."""
    if set(map(type, keys)) <= NUMBERS and _has_nan(keys):
        return [(1, 0) if _is_nan(key) else (0, key) for key in keys]
    return keys


def _int(value: Any, what: str) -> int:
    if type(value) is not int:
        hint = "cut the fraction with int(x)" if type(value) is float else ""
        raise Fault("type", f"{what} takes an int, not {a_type(value)}", hint)
    return value


def _parse_int(digits: str, base: int) -> int:
    if base != 0 and not 2 <= base <= 36:
        raise Fault("value", f"the base of an int is from 2 to 36, not {base}")
    sign, body = ("-", digits[1:]) if digits[:1] == "-" else ("", digits.removeprefix("+"))
    for prefixed, prefix in _PREFIXES.items():
        if body.lower().startswith(prefix) and base in (0, prefixed):
            base, body = prefixed, body[2:]
            break
    base = base or 10
    alphabet = set(_DIGITS[:base])
    if len(body) * (base.bit_length() - 1) > INT_BITS:
        raise Fault("value", f"an int has at most {INT_BITS} bits, and this text is longer")
    if not body or not set(body.lower()) <= alphabet:
        hint = "write int(float(s))" if base == 10 and _FLOAT.fullmatch(digits) else ""
        raise Fault("value", f"{digits!r:.40} is not an int in base {base}", hint)
    value = bounded_int(int(body, base))
    return -value if sign else value
