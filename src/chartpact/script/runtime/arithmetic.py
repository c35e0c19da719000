"""Arithmetic and bits, for operands the compiler knows too little about.

Compiled code uses Python's own operators wherever the kinds of both sides rule out what Starlark
forbids (True + 1) and what could explode ("x" * n). Elsewhere it calls these methods. They check,
charge by size, and say in words what does not go together.
"""

from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.limits import INT_BITS
from chartpact.script.runtime.formatting import check_length, format_percent
from chartpact.script.runtime.meter import Charging
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import DICTS, LISTS, Dict, List, a_type

NUMBERS = frozenset((int, float))
MERGE = 3  # steps to put a key of one dict into another

_SMALL = 1 << 64
_WIDE, _NARROW = 1e15, 1e-6


def mismatch(verb: str, a: Any, b: Any) -> Fault:
    """The fault of two values that an operator cannot take."""
    return Fault("type", f"cannot {verb} {a_type(a)} and {a_type(b)}", mismatch_hint(a, b))


def mismatch_hint(a: Any, b: Any) -> str:
    if a is None or b is None:
        return "None is no value: test it first with x == None"
    if type(a) is bool or type(b) is bool:
        return "True and False are no numbers: write 1 if x else 0"
    if type(a) is str or type(b) is str:
        return "turn a number into a text with str(x), a text into a number with float(s)"
    return ""


def bounded_int(value: int) -> int:
    """The number, if it has at most `INT_BITS` bits."""
    if -_SMALL < value < _SMALL or value.bit_length() <= INT_BITS:
        return value
    raise _too_wide()


def _too_wide() -> Fault:
    return Fault("value", f"a whole number grew beyond {INT_BITS} bits", "use a float")


def bounded_text(value: str) -> str:
    check_length(len(value))
    return value


class Arithmetic(Charging):
    """The arithmetic operators of one run."""

    def add(self, a: Any, b: Any) -> Any:
        left, right = type(a), type(b)
        if left in NUMBERS and right in NUMBERS:
            return bounded_int(a + b) if left is right is int else a + b
        if left is Series or right is Series:
            return a + b
        if left is right is str:
            self._grow(len(a) + len(b), 16)
            return bounded_text(a + b)
        if left in LISTS and right in LISTS:
            self.extend_list(0, len(a) + len(b))
            return List(list.__add__(a, b))
        if left is right is tuple:
            self.extend_list(0, len(a) + len(b))
            return a + b
        raise mismatch("add", a, b)

    def sub(self, a: Any, b: Any) -> Any:
        left, right = type(a), type(b)
        if left in NUMBERS and right in NUMBERS:
            return bounded_int(a - b) if left is right is int else a - b
        if left is Series or right is Series:
            return a - b
        raise mismatch("subtract", a, b)

    def mul(self, a: Any, b: Any) -> Any:
        left, right = type(a), type(b)
        if left in NUMBERS and right in NUMBERS:
            if left is right is int:
                self._charge(9 if a > _SMALL or a < -_SMALL else 6)
                if a.bit_length() + b.bit_length() > INT_BITS + 1:
                    raise _too_wide()
            return a * b
        if left is Series or right is Series:
            return a * b
        if left is int:
            a, b, left, right = b, a, right, left
        if right is int and (left is str or left is tuple or left in LISTS):
            count = max(b, 0)
            if left is str:
                self._grow(len(a) * count, 16)
                check_length(len(a) * count)
            else:
                self.extend_list(0, len(a) * count)
            return List(list.__mul__(a, count)) if left in LISTS else a * count
        raise mismatch("multiply", a, b)

    def div(self, a: Any, b: Any) -> Any:
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return a / b
        if type(a) is Series or type(b) is Series:
            return a / b
        raise mismatch("divide", a, b)

    def floordiv(self, a: Any, b: Any) -> Any:
        if type(a) in NUMBERS and type(b) in NUMBERS:
            self._charge_division(a, b)
            return a // b
        if type(a) is Series or type(b) is Series:
            return a // b
        raise mismatch("divide", a, b)

    def mod(self, a: Any, b: Any) -> Any:
        if type(a) in NUMBERS and type(b) in NUMBERS:
            self._charge_division(a, b)
            return a % b
        if type(a) is str:
            return bounded_text(format_percent(a, b, self.meter))
        if type(a) is Series or type(b) is Series:
            return a % b
        raise mismatch("take the remainder of", a, b)

    def _charge_division(self, a: Any, b: Any) -> None:
        """`//` and `%` take longer on large ints, and the further their sides are apart."""
        near = -_WIDE < a < _WIDE and not -_NARROW < b < _NARROW
        self._charge(5 if near else 18)

    def neg(self, a: Any) -> Any:
        if type(a) in NUMBERS or type(a) is Series:
            return -a
        raise Fault("type", f"{a_type(a)} has no negative", mismatch_hint(a, a))

    def pos(self, a: Any) -> Any:
        if type(a) in NUMBERS or type(a) is Series:
            return +a
        raise Fault("type", f"+ does not go with {a_type(a)}", mismatch_hint(a, a))

    def bitand(self, a: Any, b: Any) -> Any:
        if (type(a) is type(b) is int) or type(a) is Series or type(b) is Series:
            return a & b
        raise _no_bits("&", a, b)

    def bitor(self, a: Any, b: Any) -> Any:
        if (type(a) is type(b) is int) or type(a) is Series or type(b) is Series:
            return a | b
        if type(a) in DICTS and type(b) in DICTS:
            self._charge(8 + MERGE * (len(a) + len(b)))
            merged = Dict(a)
            merged.update(b)
            return merged
        raise _no_bits("|", a, b)

    def xor(self, a: Any, b: Any) -> Any:
        if type(a) is type(b) is int:
            return a ^ b
        raise _no_bits("^", a, b)

    def invert(self, a: Any) -> Any:
        if type(a) is int or type(a) is Series:
            return ~a
        hint = "for one True or False write: not x" if type(a) is bool else ""
        raise Fault("type", f"~ does not go with {a_type(a)}", hint)

    def lshift(self, a: Any, b: Any) -> Any:
        _check_shift("<<", a, b)
        if a.bit_length() + b > INT_BITS:
            raise _too_wide()
        return a << b

    def rshift(self, a: Any, b: Any) -> Any:
        _check_shift(">>", a, b)
        return a >> b


def _check_shift(sign: str, a: Any, b: Any) -> None:
    if type(a) is not int or type(b) is not int:
        raise _no_bits(sign, a, b)
    if b < 0:
        raise Fault("value", f"{sign} takes a count of bits that is not negative, not {b}")


def _no_bits(sign: str, a: Any, b: Any) -> Fault:
    hint = ""
    if type(a) is bool or type(b) is bool:
        word = {"&": "and", "|": "or"}.get(sign)
        hint = f"for one True or False write: a {word} b" if word else ""
    return Fault("type", f"{sign} does not go with {a_type(a)} and {a_type(b)}", hint)
