"""The methods of strings: Starlark's, charged by the length of what they read and make."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from chartpact.script.errors import Fault
from chartpact.script.runtime.formatting import check_length, format_template
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.values import List, a_type

Result = TypeVar("Result")

_MOST_STRIPPED = 64
_SHORT = 16  # characters of a text that may be searched for character by character
_SLOWEST = 100  # up to this length Python compares at every place; longer texts it skips along
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def _charged(
    method: Callable[[str], Result], ascii_per_step: int, others_per_step: int | None = None
) -> Callable[..., Result]:
    """A method of Python's strings without arguments, charged by the length of the string."""
    beyond_ascii = others_per_step or ascii_per_step

    def charged(self: "StringMethods", s: str, /) -> Result:
        self._charge(3 + len(s) // (ascii_per_step if s.isascii() else beyond_ascii))
        result = method(s)
        check_length(len(result) if isinstance(result, str) else 0)
        return result

    charged.__name__ = charged.__qualname__ = method.__name__
    return charged


class StringMethods:
    """Every public method is one of the language; its first argument is the string."""

    def __init__(self, operators: Operators) -> None:
        self._operators = operators
        self._charge = operators.meter.charge

    isalnum = _charged(str.isalnum, 8)
    isalpha = _charged(str.isalpha, 8)
    isdigit = _charged(str.isdigit, 8)
    islower = _charged(str.islower, 8)
    isspace = _charged(str.isspace, 8)
    istitle = _charged(str.istitle, 8)
    isupper = _charged(str.isupper, 8)
    capitalize = _charged(str.capitalize, 4, 1)
    lower = _charged(str.lower, 4, 1)
    title = _charged(str.title, 4, 1)
    upper = _charged(str.upper, 4, 1)

    def count(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return s.count(self._text_to_find(s, sub), as_bound(start), as_bound(end))

    def elems(self, s: str, /) -> List:
        self._charge(1 + len(s))
        return List(s)

    def endswith(self, s: str, suffix: Any, start: Any = None, end: Any = None, /) -> bool:
        return s.endswith(self._affix(s, suffix), as_bound(start), as_bound(end))

    def find(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return s.find(self._text_to_find(s, sub), as_bound(start), as_bound(end))

    def format(self, s: str, /, *values: Any, **named: Any) -> str:
        return format_template(s, values, named, self._operators.meter)

    def index(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return _check_found(s.find(self._text_to_find(s, sub), as_bound(start), as_bound(end)))

    def join(self, s: str, parts: Any, /) -> str:
        values, length, _ = self._operators.sequence(parts)
        self._charge(12 + 2 * length)
        size = len(s) * max(length - 1, 0)
        for value in values:
            size += len(_string(value, "join takes strings"))
        self._charge_result(size)
        joined: str = s.join(values)
        return joined

    def lstrip(self, s: str, chars: Any = None, /) -> str:
        return s.lstrip(self._characters_to_strip(s, chars))

    def partition(self, s: str, sep: Any, /) -> tuple[str, str, str]:
        return s.partition(_separator(self._text_to_find(s, sep)))

    def removeprefix(self, s: str, prefix: Any, /) -> str:
        return self._charge_scan(s).removeprefix(_string(prefix, "a prefix is a string"))

    def removesuffix(self, s: str, suffix: Any, /) -> str:
        return self._charge_scan(s).removesuffix(_string(suffix, "a suffix is a string"))

    def replace(self, s: str, old: Any, new: Any, count: Any = -1, /) -> str:
        self._charge(17)
        old, new = self._text_to_find(s, old), _string(new, "replace takes strings")
        limit = as_index(count)
        times = s.count(old)
        times = min(times, limit) if limit >= 0 else times
        self._charge_result(len(s) + times * (len(new) - len(old)))
        replaced: str = s.replace(old, new, limit)
        return replaced

    def rfind(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        self._charge(6)
        return _find_last(s, self._text_to_find(s, sub), as_bound(start), as_bound(end))

    def rindex(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        self._charge(6)
        return _check_found(
            _find_last(s, self._text_to_find(s, sub), as_bound(start), as_bound(end))
        )

    def rpartition(self, s: str, sep: Any, /) -> tuple[str, str, str]:
        separator = _separator(self._text_to_find(s, sep))
        self._charge(5)
        at = _find_last(s, separator, None, None)
        return ("", "", s) if at < 0 else (s[:at], separator, s[at + len(separator) :])

    def rsplit(self, s: str, sep: Any = None, maxsplit: Any = -1, /) -> List:
        self._charge(9 + len(s))
        if sep is None or len(_separator(sep)) <= _SHORT:
            return List(s.rsplit(sep, as_index(maxsplit)))
        self._charge(18 + len(s) // 8)
        parts = s[::-1].split(sep[::-1], as_index(maxsplit))
        return List(part[::-1] for part in reversed(parts))

    def rstrip(self, s: str, chars: Any = None, /) -> str:
        return s.rstrip(self._characters_to_strip(s, chars))

    def split(self, s: str, sep: Any = None, maxsplit: Any = -1, /) -> List:
        self._charge(9 + len(s))
        return List(s.split(None if sep is None else _separator(sep), as_index(maxsplit)))

    def splitlines(self, s: str, keepends: Any = False, /) -> List:
        self._charge(5 + 9 * len(s) // 4)
        if type(keepends) is not bool:
            raise Fault("type", f"keepends is True or False, not {a_type(keepends)}")
        lines = _LINE.findall(s)
        return List(lines if keepends else [line.rstrip("\r\n") for line in lines])

    def startswith(self, s: str, prefix: Any, start: Any = None, end: Any = None, /) -> bool:
        return s.startswith(self._affix(s, prefix), as_bound(start), as_bound(end))

    def strip(self, s: str, chars: Any = None, /) -> str:
        return s.strip(self._characters_to_strip(s, chars))

    def _characters_to_strip(self, s: str, chars: Any) -> str | None:
        """The characters to strip, charged for stripping them."""
        self._charge(5 + len(s) // 4)
        if chars is None:
            return None
        if len(_string(chars, "the characters to strip are a string")) > _MOST_STRIPPED:
            raise Fault("size", f"at most {_MOST_STRIPPED} characters can be stripped")
        return str(chars)

    def _charge_scan(self, s: str) -> str:
        self._charge(1 + len(s) // 8)
        return s

    def _text_to_find(self, s: str, sub: Any) -> str:
        """The text to search for, charged for the search."""
        wanted = _string(sub, "a string is searched for a string")
        self._charge(7 + len(s) * (16 + min(len(wanted), _SLOWEST)) // 200)
        return wanted

    def _affix(self, s: str, value: Any) -> Any:
        """What a string is to begin or end with: a string, or any of some."""
        rule = "a prefix or suffix is a string"
        if type(value) is not tuple:
            self._charge(8 + min(len(s), len(_string(value, rule))) // 64)
            return value
        self._charge(5 + 5 * len(value))
        self._charge(sum(min(len(s), len(_string(affix, rule))) for affix in value) // 64)
        return value

    def _charge_result(self, size: int) -> None:
        check_length(size)
        self._charge(1 + size // 16)


def _string(value: Any, rule: str) -> str:
    if type(value) is not str:
        raise Fault("type", f"{rule}, not {a_type(value)}")
    return value


def _separator(value: Any) -> str:
    if _string(value, "a separator is a string") == "":
        raise Fault("value", "a separator cannot be empty", "take characters with s.elems()")
    return str(value)


def as_index(value: Any) -> int:
    """A count or a place, cut to what Python's methods take."""
    if type(value) is not int:
        raise Fault("type", f"a count or a place is an int, not {a_type(value)}")
    return max(-(1 << 60), min(value, 1 << 60))


def as_bound(value: Any) -> int | None:
    return None if value is None else as_index(value)


def _find_last(s: str, wanted: str, start: int | None, end: int | None) -> int:
    """The last place of a text, found from behind: Python's `rfind` is quadratic, `find` is not.

    >>> text = "banana banana banana"
    >>> _find_last(text, "banana " * 2 + "banana", None, None), _find_last("aba", "a", 0, 2)
    (0, 0)
    """
    if len(wanted) <= _SHORT:
        return s.rfind(wanted, start, end)
    first, last, _ = slice(start, end).indices(len(s))
    at = s[first:last][::-1].find(wanted[::-1])
    return at if at < 0 else last - at - len(wanted)


def _check_found(at: int) -> int:
    if at < 0:
        raise Fault("value", "the string does not hold this text", "find() gives -1 instead")
    return at
