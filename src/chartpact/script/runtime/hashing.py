"""Keyed hashing for the dicts of scripts: numbers and tuples are hashed with a secret.

Python hashes texts with a secret, but not numbers. So a script could choose a few thousand numbers
that all collide, and every look-up would pass by all of them. `HashTable` is a dict that keeps such
keys sealed and shows them as they are; `seal` seals one beforehand. Both come from the C extension
where it is built.
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
        self._hash = hash(_key_text(value))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if type(other) is not Key:
            return NotImplemented
        return self._hash == other._hash and (self.value,) == (other.value,)  # na is itself

    def __repr__(self) -> str:
        return repr(self.value)


def _key_text(value: Any) -> str:
    """A text to hash instead of the key, the same for numbers that are equal: 1 and 1.0."""
    if type(value) is float:
        if math.isnan(value):
            return f"na {id(value)}"
        return str(int(value)) if value.is_integer() else value.hex()
    if type(value) is tuple:
        return f"({','.join(map(_key_text, value))})"
    return str(value) if type(value) is int else f"#{hash(value)}"


def _seal(value: Any) -> Any:
    """A key as a `HashTable` keeps it."""
    return Key(value) if type(value) in (int, float, tuple) else value


def _unseal(key: Any) -> Any:
    return key.value if type(key) is Key else key


class HashTable(dict[Any, Any]):
    """What native/keys.c does, in Python.

    >>> table = REFERENCE[0]({1: "a", (2, 3): "b"})
    >>> table[1.0], list(table), table.popitem(), len(table)
    ('a', [1, (2, 3)], (1, 'a'), 1)
    """

    __slots__ = ()

    def __init__(self, /, *values: Any, **named: Any) -> None:
        super().__init__()
        _merge(self, *values, **named)

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(_seal(key))
        except KeyError:
            raise KeyError(_unseal(key)) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_seal(key), value)

    def __delitem__(self, key: Any) -> None:
        try:
            super().__delitem__(_seal(key))
        except KeyError:
            raise KeyError(_unseal(key)) from None

    def __contains__(self, key: object) -> bool:
        return super().__contains__(_seal(key))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def get(self, key: Any, default: Any = None, /) -> Any:
        return super().get(_seal(key), default)

    def items(self) -> Any:
        return [(_unseal(key), value) for key, value in super().items()]

    def keys(self) -> Any:
        return [_unseal(key) for key in super().__iter__()]

    def pop(self, key: Any, /, *default: Any) -> Any:
        try:
            return super().pop(_seal(key), *default)
        except KeyError:
            raise KeyError(_unseal(key)) from None

    def popitem(self) -> tuple[Any, Any]:
        for sealed, value in super().items():
            super().__delitem__(sealed)
            return _unseal(sealed), value
        raise KeyError("the dict is empty")

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        return super().setdefault(_seal(key), default)

    def update(self, /, *values: Any, **named: Any) -> None:
        _merge(self, *values, **named)


def _merge(table: HashTable, other: Any = (), /, **named: Any) -> None:
    for source in (other, named):
        for key, value in dict.items(source) if isinstance(source, dict) else source:
            dict.__setitem__(table, _seal(key), value)


seal = _seal
REFERENCE = HashTable, seal

if not TYPE_CHECKING and not FORBIDDEN:
    with suppress(ImportError):  # not built: `chartpact doctor` says so
        from chartpact._native import Table as HashTable
        from chartpact._native import seal
