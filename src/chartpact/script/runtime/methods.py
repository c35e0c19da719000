"""Attributes: the string, list and dict methods of Starlark, and what host objects show."""

import re
from collections.abc import Callable
from typing import Any

from chartpact.problem import nearest
from chartpact.script.errors import Fault
from chartpact.script.limits import TEXT_CHARS
from chartpact.script.runtime.formatting import formatted
from chartpact.script.runtime.operators import Operators, mismatch_hint, text
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import (
    DICTS,
    LISTS,
    Dict,
    FrozenDict,
    HostObject,
    List,
    Method,
    a_type,
    type_name,
)


class Methods:
    """The methods of one run's values, charged to its meter."""

    def __init__(self, operators: Operators, charge: Callable[[int], None]) -> None:
        self._operators = operators
        self._charge = charge
        self._tables: dict[str, dict[str, Callable[..., Any]]] = {
            kind: {name: getattr(self, f"_{kind}_{name}") for name in table}
            for kind, table in _NAMES.items()
        }

    def attribute(self, value: Any, name: str) -> Any:
        """`value.name`."""
        if isinstance(value, HostObject):
            if name in value.fields or name in value.methods:
                self._charge(18)
                return getattr(value, name)
            raise unknown(value, name, [*value.fields, *value.methods])
        table = self._tables.get(type_name(value), {})
        if name in table:
            self._charge(25)
            return Method(value, name, table[name])
        raise unknown(value, name, list(table))

    # ---------------------------------------------------------------------------------- strings

    def _string_capitalize(self, s: str, /) -> str:
        return self._converted(s, s.capitalize())

    def _string_count(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return s.count(self._search(s, sub), _bound(start), _bound(end))

    def _string_elems(self, s: str, /) -> List:
        self._charge(1 + len(s))
        return List(s)

    def _string_endswith(self, s: str, suffix: Any, start: Any = None, end: Any = None, /) -> bool:
        return s.endswith(self._affix(s, suffix), _bound(start), _bound(end))

    def _string_find(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return s.find(self._search(s, sub), _bound(start), _bound(end))

    def _string_format(self, s: str, /, *values: Any, **named: Any) -> str:
        return formatted(s, values, named, self._operators.meter)

    def _string_index(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return _at(s.find(self._search(s, sub), _bound(start), _bound(end)))

    def _string_isalnum(self, s: str, /) -> bool:
        return self._scanned(s).isalnum()

    def _string_isalpha(self, s: str, /) -> bool:
        return self._scanned(s).isalpha()

    def _string_isdigit(self, s: str, /) -> bool:
        return self._scanned(s).isdigit()

    def _string_islower(self, s: str, /) -> bool:
        return self._scanned(s).islower()

    def _string_isspace(self, s: str, /) -> bool:
        return self._scanned(s).isspace()

    def _string_istitle(self, s: str, /) -> bool:
        return self._scanned(s).istitle()

    def _string_isupper(self, s: str, /) -> bool:
        return self._scanned(s).isupper()

    def _string_join(self, s: str, parts: Any, /) -> str:
        values, length, _ = self._operators.sequence(parts)
        self._charge(5 + 2 * length)
        size = len(s) * max(length - 1, 0)
        for each in values:
            size += len(_string(each, "join takes strings"))
        self._sized(size)
        joined: str = s.join(values)
        return joined

    def _string_lower(self, s: str, /) -> str:
        return self._converted(s, s.lower())

    def _string_lstrip(self, s: str, chars: Any = None, /) -> str:
        return s.lstrip(self._stripped(s, chars))

    def _string_partition(self, s: str, sep: Any, /) -> tuple[str, str, str]:
        return s.partition(_separator(self._search(s, sep)))

    def _string_removeprefix(self, s: str, prefix: Any, /) -> str:
        return self._scanned(s).removeprefix(_string(prefix, "a prefix is a string"))

    def _string_removesuffix(self, s: str, suffix: Any, /) -> str:
        return self._scanned(s).removesuffix(_string(suffix, "a suffix is a string"))

    def _string_replace(self, s: str, old: Any, new: Any, count: Any = -1, /) -> str:
        self._charge(8)
        old, new = self._search(s, old), _string(new, "replace takes strings")
        limit = _whole(count)
        found = s.count(old)
        found = min(found, limit) if limit >= 0 else found
        self._sized(len(s) + found * (len(new) - len(old)))
        replaced: str = s.replace(old, new, limit)
        return replaced

    def _string_rfind(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return _last(s, self._search(s, sub), _bound(start), _bound(end))

    def _string_rindex(self, s: str, sub: Any, start: Any = None, end: Any = None, /) -> int:
        return _at(_last(s, self._search(s, sub), _bound(start), _bound(end)))

    def _string_rpartition(self, s: str, sep: Any, /) -> tuple[str, str, str]:
        wanted = _separator(self._search(s, sep))
        at = _last(s, wanted, None, None)
        return ("", "", s) if at < 0 else (s[:at], wanted, s[at + len(wanted) :])

    def _string_rsplit(self, s: str, sep: Any = None, maxsplit: Any = -1, /) -> List:
        self._charge(1 + len(s))
        if sep is None or len(_separator(sep)) <= _SHORT:
            return List(s.rsplit(sep, _whole(maxsplit)))
        self._charge(12 + len(s) // 8)
        parts = s[::-1].split(sep[::-1], _whole(maxsplit))
        return List(part[::-1] for part in reversed(parts))

    def _string_rstrip(self, s: str, chars: Any = None, /) -> str:
        return s.rstrip(self._stripped(s, chars))

    def _string_split(self, s: str, sep: Any = None, maxsplit: Any = -1, /) -> List:
        self._charge(1 + len(s))
        return List(s.split(None if sep is None else _separator(sep), _whole(maxsplit)))

    def _string_splitlines(self, s: str, keepends: Any = False, /) -> List:
        self._charge(1 + 2 * len(s))
        if type(keepends) is not bool:
            raise Fault("type", f"keepends is True or False, not {a_type(keepends)}")
        lines = _LINE.findall(s)
        return List(lines if keepends else [line.rstrip("\r\n") for line in lines])

    def _string_startswith(
        self, s: str, prefix: Any, start: Any = None, end: Any = None, /
    ) -> bool:
        return s.startswith(self._affix(s, prefix), _bound(start), _bound(end))

    def _string_strip(self, s: str, chars: Any = None, /) -> str:
        return s.strip(self._stripped(s, chars))

    def _string_title(self, s: str, /) -> str:
        return self._converted(s, s.title())

    def _string_upper(self, s: str, /) -> str:
        return self._converted(s, s.upper())

    def _stripped(self, s: str, chars: Any) -> str | None:
        self._charge(5 + len(s) // 4)
        return _maybe(chars)

    def _scanned(self, s: str) -> str:
        self._charge(1 + len(s) // 8)
        return s

    def _converted(self, s: str, result: str) -> str:
        self._charge(1 + len(s) // 4)
        return text(result)

    def _search(self, s: str, sub: Any) -> str:
        wanted = _string(sub, "a string is searched for a string")
        self._charge(5 + len(s) * (16 + min(len(wanted), _SLOWEST)) // 200)
        return wanted

    def _affix(self, s: str, value: Any) -> Any:
        """What a string is to begin or end with: a string, or any of some."""
        rule = "a prefix or suffix is a string"
        if type(value) is not tuple:
            self._charge(1 + min(len(s), len(_string(value, rule))) // 64)
            return value
        self._charge(5 + 4 * len(value))
        self._charge(sum(min(len(s), len(_string(each, rule))) for each in value) // 64)
        return value

    def _sized(self, size: int) -> None:
        if size > TEXT_CHARS:
            raise Fault("size", f"a text grew beyond {TEXT_CHARS:,} characters")
        self._charge(1 + size // 16)

    # ------------------------------------------------------------------------------------ lists

    def _list_append(self, values: List, value: Any, /) -> None:
        values.append(value)

    def _list_clear(self, values: List, /) -> None:
        values.clear()

    def _list_extend(self, values: List, more: Any, /) -> None:
        others, length, _ = self._operators.sequence(more)
        self._charge(1 + length // 2)
        values.extend(list(others))

    def _list_index(self, values: List, value: Any, start: Any = None, end: Any = None, /) -> int:
        first, last, _ = slice(_bound(start), _bound(end)).indices(len(values))
        self._charge(1 + self._operators.seeking(value) * max(last - first, 0))
        for at in range(first, last):
            if self._operators.found(value, values[at]):
                return at
        raise Fault("value", "the list does not hold this value", "test it first: x in values")

    def _list_insert(self, values: List, at: Any, value: Any, /) -> None:
        self._charge(1 + len(values) // 64)
        values.insert(_whole(at), value)

    def _list_pop(self, values: List, at: Any = -1, /) -> Any:
        self._charge(1 + len(values) // 64)
        if not values:
            raise Fault("value", "an empty list has nothing to pop")
        at = _whole(at)
        if not -len(values) <= at < len(values):
            raise Fault("value", f"there is no element {at} in a list of {len(values)}")
        return values.pop(at)

    def _list_remove(self, values: List, value: Any, /) -> None:
        at = self._list_index(values, value)
        values.pop(at)

    # ------------------------------------------------------------------------------------ dicts

    def _removed(self, values: Dict) -> None:
        """Keeps the empty places of a dict few: Python passes by them whenever it is iterated."""
        self._charge(10)
        values.gone = getattr(values, "gone", 0) + 1
        if values.gone > _EMPTY_PLACES + len(values) // 4:
            kept = list(values.items())
            values.clear()
            values.update(kept)
            values.gone = 0

    def _dict_clear(self, values: Dict, /) -> None:
        values.clear()

    def _dict_get(self, values: Dict, key: Any, default: Any = None, /) -> Any:
        return values.get(self._operators.key(key), default)

    def _dict_items(self, values: Dict, /) -> List:
        self._charge(1 + 2 * len(values))
        return List(values.items())

    def _dict_keys(self, values: Dict, /) -> List:
        self._charge(1 + len(values) // 2)
        return List(values)

    def _dict_pop(self, values: Dict, key: Any, /, *default: Any) -> Any:
        if len(default) > 1:
            raise Fault("type", f"pop takes a key and a default, not {1 + len(default)} values")
        key = self._operators.key(key)
        if key not in values and not default:
            raise Fault("value", "the dict has no such key", "give a default: d.pop(key, None)")
        value = values.pop(key, *default)
        self._removed(values)
        return value

    def _dict_popitem(self, values: Dict, /) -> tuple[Any, Any]:
        if not values:
            raise Fault("value", "an empty dict has nothing to pop")
        self._charge(getattr(values, "gone", 0) // 8)
        first = values.popitem()
        self._removed(values)
        return first

    def _dict_setdefault(self, values: Dict, key: Any, default: Any = None, /) -> Any:
        return values.setdefault(self._operators.key(key), default)

    def _dict_update(self, values: Dict, /, *pairs: Any, **named: Any) -> None:
        values.update(self._operators.pairs(pairs, named))

    def _dict_values(self, values: Dict, /) -> List:
        self._charge(1 + len(values) // 2)
        return List(values.values())


_EMPTY_PLACES = 16
_MOST_STRIPPED = 64
_SHORT = 16  # characters of a text that may be sought character by character
_SLOWEST = 100  # up to this length Python compares at every place; longer texts it skips along
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def _names(kind: str) -> list[str]:
    prefix = f"_{kind}_"
    return sorted(each.removeprefix(prefix) for each in dir(Methods) if each.startswith(prefix))


_NAMES = {kind: _names(kind) for kind in ("string", "list", "dict")}


def names() -> dict[str, list[str]]:
    """The methods of each type, for the documentation."""
    return _NAMES


def unknown(value: Any, name: str, known: list[str]) -> Fault:
    """There is no such attribute."""
    near = nearest(name, known, alike=0.6)
    hint = f"did you mean .{near[0]}?" if near else ""
    if isinstance(value, HostObject) and name in value.meant:
        hint = f"did you mean .{value.meant[name]}?"
    elif value is None:
        hint = mismatch_hint(value, value)
        if name.startswith("set_"):
            hint += "; chart.new_line gives a handle, chart.line gives none"
    elif type(value) is FrozenDict and name in value:
        hint = f'write params["{name}"]'
    elif type(value) is Series:
        hint = "what is done with series is in ta, as in ta.sma(s, n); one bar is s[i]"
    elif not hint and known and (type(value) in LISTS or type(value) in DICTS):
        hint = f"it has {', '.join(sorted(known))}"
    return Fault("name", f"{a_type(value)} has no {name!r}", hint)


def _string(value: Any, rule: str) -> str:
    if type(value) is not str:
        raise Fault("type", f"{rule}, not {a_type(value)}")
    return value


def _separator(value: Any) -> str:
    if _string(value, "a separator is a string") == "":
        raise Fault("value", "a separator cannot be empty", "take characters with s.elems()")
    return str(value)


def _maybe(value: Any) -> str | None:
    if value is None:
        return None
    chars = _string(value, "the characters to strip are a string")
    if len(chars) > _MOST_STRIPPED:
        raise Fault("size", f"at most {_MOST_STRIPPED} characters can be stripped")
    return chars


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise Fault("type", f"a count or a place is an int, not {a_type(value)}")
    return max(-(1 << 60), min(value, 1 << 60))


def _bound(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _last(s: str, wanted: str, start: int | None, end: int | None) -> int:
    """Where the text is found last: `rfind`, which is quadratic in Python, and `find` is not.

    >>> _last("banana banana banana", "banana " * 2 + "banana", None, None), _last("aba", "a", 0, 2)
    (0, 0)
    """
    if len(wanted) <= _SHORT:
        return s.rfind(wanted, start, end)
    first, last, _ = slice(start, end).indices(len(s))
    at = s[first:last][::-1].find(wanted[::-1])
    return at if at < 0 else last - at - len(wanted)


def _at(place: int) -> int:
    if place < 0:
        raise Fault("value", "the string does not hold this text", "find() gives -1 instead")
    return place
