"""Keys of a script's dicts: numbers and tuples are hashed with a secret, as Python hashes texts.

Without one, their places in a dict can be foretold, and a few thousand keys can be chosen that
make every look-up pass by all of them. `Table` is a dict that keeps such keys sealed and shows
them as they are; `seal` seals one beforehand. Both come from the C extension where it is built.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from chartpact.ta.kernels import FORBIDDEN


class Key:
    """A number or a tuple, hashed by its text."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._hash = hash(_written(value))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not Key:
            return NotImplemented
        return self._hash == other._hash and (self.value,) == (other.value,)  # na is itself

    def __repr__(self) -> str:
        return repr(self.value)


def _written(value: Any) -> str:
    """A text for a key, the same for numbers that are equal: 1 and 1.0."""
    if type(value) is float:
        if math.isnan(value):
            return f"na {id(value)}"
        return str(int(value)) if value.is_integer() else value.hex()
    if type(value) is tuple:
        return f"({','.join(map(_written, value))})"
    return str(value) if type(value) is int else f"#{hash(value)}"


def _sealed(value: Any) -> Any:
    """A key as a `Table` keeps it."""
    return Key(value) if type(value) in (int, float, tuple) else value


def _opened(key: Any) -> Any:
    return key.value if type(key) is Key else key


class Table(dict[Any, Any]):
    """What native/keys.c does, in Python.

    >>> table = REFERENCE[0]({1: "a", (2, 3): "b"})
    >>> table[1.0], list(table), table.popitem(), len(table)
    ('a', [1, (2, 3)], (1, 'a'), 1)
    """

    __slots__ = ()

    def __init__(self, /, *given: Any, **named: Any) -> None:
        super().__init__()
        _merge(self, *given, **named)

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(_sealed(key))
        except KeyError:
            raise KeyError(_opened(key)) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_sealed(key), value)

    def __delitem__(self, key: Any) -> None:
        try:
            super().__delitem__(_sealed(key))
        except KeyError:
            raise KeyError(_opened(key)) from None

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_sealed(key))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def get(self, key: Any, usual: Any = None, /) -> Any:
        return super().get(_sealed(key), usual)

    def items(self) -> Any:
        return [(_opened(key), value) for key, value in super().items()]

    def keys(self) -> Any:
        return [_opened(key) for key in super().__iter__()]

    def pop(self, key: Any, /, *usual: Any) -> Any:
        try:
            return super().pop(_sealed(key), *usual)
        except KeyError:
            raise KeyError(_opened(key)) from None

    def popitem(self) -> tuple[Any, Any]:
        for kept, value in super().items():
            super().__delitem__(kept)
            return _opened(kept), value
        raise KeyError("the dict is empty")

    def setdefault(self, key: Any, usual: Any = None, /) -> Any:
        return super().setdefault(_sealed(key), usual)

    def update(self, /, *given: Any, **named: Any) -> None:
        _merge(self, *given, **named)


def _merge(table: Table, other: Any = (), /, **named: Any) -> None:
    for each in (other, named):
        for key, value in dict.items(each) if isinstance(each, dict) else each:
            dict.__setitem__(table, _sealed(key), value)


seal = _sealed
REFERENCE = Table, seal

if not TYPE_CHECKING and not FORBIDDEN:
    with suppress(ImportError):  # not built: `chartpact doctor` says so
        from chartpact._native import Table, seal
