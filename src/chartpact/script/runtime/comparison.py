"""Equality, order and membership, and the keys of dicts, which are equal or not as well.

Lists, tuples and dicts have to be walked: the walk is charged by its size and ends at a depth.
"""

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.runtime.arithmetic import NUMBERS, mismatch
from chartpact.script.runtime.hashing import seal
from chartpact.script.runtime.meter import Charging, Exhausted, walking
from chartpact.script.runtime.series import Series, TextSeries
from chartpact.script.runtime.values import DICTS, LISTS, Method, a_type

Order = Callable[[Any, Any], Any]

KEY = 6  # steps to hash a number or a short text
SHORT_KEY = 64  # characters of a text that is looked up at no cost of its own

_BY_BAR = frozenset((Series, TextSeries))  # are equal or not on each bar
_LOOKED_AT = 16  # elements of a list that are searched at a time
_LARGEST_KEY = (1 << 61) - 1
_WALKED = frozenset((*LISTS, *DICTS, tuple))
_PLAIN_KEYS = frozenset((int, float, str, type(None), FunctionType, Method))


class Comparison(Charging):
    """The comparisons of one run."""

    def eq(self, a: Any, b: Any) -> Any:
        left, right = type(a), type(b)
        if left in NUMBERS and right in NUMBERS:
            return a == b
        if left in _BY_BAR:
            return a == b
        if right in _BY_BAR:
            return b == a
        if left is right is str:
            if len(a) != len(b):
                return False
            self._charge(4 + len(a) // 64)
            return a == b
        if left in _WALKED:
            began = self.meter.left
            try:
                return self._same(a, b, 0)
            except Exhausted as error:
                raise error.since(began) from None
        return a == b if left is right is range else a is b

    def ne(self, a: Any, b: Any) -> Any:
        if type(a) in _BY_BAR:
            return a != b
        if type(b) in _BY_BAR:
            return b != a
        return not self.eq(a, b)

    def _same(self, a: Any, b: Any, depth: int) -> bool:
        left, right = type(a), type(b)
        if (left in LISTS and right in LISTS) or left is right is tuple:
            if a is b:
                return True
            if len(a) != len(b):
                return False
            self._deepen(len(a), depth)
            return all(self._equal(x, y, depth + 1) for x, y in zip(a, b, strict=True))
        if left in DICTS and right in DICTS:
            if a is b:
                return True
            if len(a) != len(b):
                return False
            self._deepen(2 * len(a), depth)
            return all(
                self._hashed(key) in b and self._equal(value, b[key], depth + 1)
                for key, value in a.items()
            )
        return False

    def _hashed(self, key: Any) -> Any:
        """The key of a dict, to be looked up in another: a tuple is walked again to be hashed."""
        return self.key(key) if type(key) is tuple else key

    def _equal(self, a: Any, b: Any, depth: int) -> bool:
        return self._same(a, b, depth) if type(a) in _WALKED else self.matches(b, a)

    def lt(self, a: Any, b: Any) -> Any:
        numbers = type(a) in NUMBERS and type(b) in NUMBERS
        return a < b if numbers else self._compare(a, b, operator.lt, 0)

    def le(self, a: Any, b: Any) -> Any:
        numbers = type(a) in NUMBERS and type(b) in NUMBERS
        return a <= b if numbers else self._compare(a, b, operator.le, 0)

    def gt(self, a: Any, b: Any) -> Any:
        numbers = type(a) in NUMBERS and type(b) in NUMBERS
        return a > b if numbers else self._compare(a, b, operator.gt, 0)

    def ge(self, a: Any, b: Any) -> Any:
        numbers = type(a) in NUMBERS and type(b) in NUMBERS
        return a >= b if numbers else self._compare(a, b, operator.ge, 0)

    def _compare(self, a: Any, b: Any, order: Order, depth: int) -> Any:
        left, right = type(a), type(b)
        if (left in NUMBERS and right in NUMBERS) or left is right is bool:
            return order(a, b)
        if left is Series or right is Series:
            return order(a, b)
        if left is right is str:
            self._charge(9 + min(len(a), len(b)) // 64)
            return order(a, b)
        if (left in LISTS and right in LISTS) or left is right is tuple:
            return self._sequences_ordered(a, b, order, depth)
        raise mismatch("compare", a, b)

    @walking
    def _sequences_ordered(self, a: Any, b: Any, order: Order, depth: int) -> Any:
        self._deepen(2 * min(len(a), len(b)), depth)
        for x, y in zip(a, b, strict=False):
            ordered = self._compare(x, y, order, depth + 1)  # equal or not, an order must exist
            if not self._equal(x, y, depth + 1):
                return ordered
        return order(len(a), len(b))

    def contains(self, value: Any, holder: Any) -> bool:
        kind = type(holder)
        if kind in LISTS or kind is tuple:
            return self._in_sequence(value, holder)
        if kind in DICTS:
            self._charge(4 + len(holder).bit_length() // 2)
            return self.key(value) in holder
        if kind is str:
            if type(value) is not str:
                raise Fault("type", f"a string holds strings only, and this is {a_type(value)}")
            self._charge(7 + len(holder) * (16 + min(len(value), 100)) // 256)
            return value in holder
        if kind is range:
            if type(value) is float and value.is_integer():
                value = int(value)
            return type(value) is int and value in holder
        hint = "compare bar by bar, s == x, or look at one bar: s[i] == x"
        raise Fault("type", f"in does not go with {a_type(holder)}", hint if kind is Series else "")

    def not_contains(self, value: Any, holder: Any) -> bool:
        return not self.contains(value, holder)

    def _in_sequence(self, value: Any, holder: Any) -> bool:
        if type(value) in NUMBERS or type(value) is str or value is None:
            per_element = 64 + len(value) if type(value) is str else 64
            self._charge(8 + len(holder) * per_element // 64)
            plain = Series not in set(map(type, holder))  # which is compared bar by bar
            if plain and value not in holder:  # Python finds more (True for 1), never less
                return False
        return self._search(value, holder)

    @walking
    def _search(self, value: Any, holder: Any) -> bool:
        self._charge(24)
        return self.find(value, holder, 0, len(holder)) is not None

    def find(self, value: Any, holder: Any, first: int, last: int) -> int | None:
        """The first place of a value between two others; a few places are charged at a time."""
        differs = _first_number(value)
        steps = 7 if differs is None else 4
        for begin in range(first, last, _LOOKED_AT):
            end = min(begin + _LOOKED_AT, last)
            self._charge(2 + steps * (end - begin))
            for place in range(begin, end):
                element = holder[place]
                if differs is not None and differs(element):
                    continue
                if self.matches(value, element):
                    return place
        return None

    def matches(self, value: Any, element: Any) -> bool:
        """Whether the element is the value; in a container a series is equal to itself alone."""
        if type(element) in _BY_BAR or type(value) in _BY_BAR:
            return element is value
        return bool(self.eq(element, value))

    def key(self, value: Any) -> Any:
        """The value as a dict keeps it, if it may be a key."""
        self._check_key(value, 0)
        return seal(value)

    def _check_key(self, value: Any, depth: int) -> None:
        kind = type(value)
        if kind in _PLAIN_KEYS:
            self._charge(KEY)
            if kind is str:
                self._charge(len(value) // 64)
            elif kind is int and not -_LARGEST_KEY < value < _LARGEST_KEY:
                raise Fault("value", "this int is too large to be the key of a dict")
        elif kind is tuple:
            self._deepen(len(value), depth)
            for element in value:
                self._check_key(element, depth + 1)
        else:
            hint = "use a tuple" if kind in LISTS else ""
            hint = "use 0 and 1, or two texts" if kind is bool else hint
            raise Fault("type", f"{a_type(value)} cannot be the key of a dict", hint)


def _first_number(value: Any) -> Callable[[Any], bool] | None:
    """A quick test that a value is no such record: its kind, its size or its first number differs.

    None for what is no record, or begins with something else than a number.
    """
    kind, size = type(value), len(value) if type(value) in _WALKED else 0
    if not size:
        return None
    if kind in DICTS:
        key = next(iter(value))
        number = value[key]
        if type(key) is not str or len(key) > SHORT_KEY or type(number) not in NUMBERS:
            return None
        return lambda other: (
            type(other) not in DICTS
            or len(other) != size
            or (type(first := other.get(key)) is type(number) and first != number)
        )
    number, kinds = value[0], LISTS if kind in LISTS else (tuple,)
    if type(number) not in NUMBERS:
        return None
    return lambda other: (
        type(other) not in kinds
        or len(other) != size
        or (type(first := other[0]) is type(number) and first != number)
    )
