"""The values of the language that Python has no exact match for.

Numbers, texts, tuples, ranges and None are Python's own. Lists and dicts are subclasses, because
Starlark's can be locked (while they are iterated) and frozen (once the module is loaded): to lock
one, its class is changed, so that a list in the middle of a hot loop costs what a list costs.
"""

from collections.abc import Iterable, Mapping
from types import FunctionType, MethodType
from typing import Any, ClassVar, NoReturn

from chartpact.script.errors import Fault
from chartpact.script.runtime.hashing import HashTable

FILE = "<script>"  # how compiled scripts call themselves; no host path is ever in one


class List(list[Any]):
    """A list a script may change."""

    __slots__ = ()


class Dict(HashTable):
    """A dict a script may change; `gone` counts the removed keys whose slots are still empty."""

    __slots__ = ("gone",)
    gone: int


def _refusal(message: str, hint: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: ARG001
        raise Fault("value", message, hint)

    return refuse


# The methods that change a list or a dict, and what Python calls for `x[i] = v`, `x += y`.
CHANGES = "append clear extend insert pop popitem remove setdefault update".split()
_OPERATORS = "sort reverse __setitem__ __delitem__ __iadd__ __imul__ __ior__".split()


def _unchangeable(name: str, base: type, message: str, hint: str) -> Any:
    """A subclass of which every method that would change it refuses."""
    refuse = _refusal(message, hint)
    refusals = {change: refuse for change in (*CHANGES, *_OPERATORS) if hasattr(base, change)}
    return type(name, (base,), {"__slots__": (), **refusals})


_ITERATED = "is being iterated and cannot change now", "collect the changes in another one"
_FROZEN = "is frozen and cannot change", "make a copy first: list(x) or dict(x)"
LockedList = _unchangeable("LockedList", List, f"this list {_ITERATED[0]}", _ITERATED[1])
LockedDict = _unchangeable("LockedDict", Dict, f"this dict {_ITERATED[0]}", _ITERATED[1])
FrozenList = _unchangeable("FrozenList", List, f"this list {_FROZEN[0]}", _FROZEN[1])
FrozenDict = _unchangeable("FrozenDict", Dict, f"this dict {_FROZEN[0]}", _FROZEN[1])

LISTS = frozenset((List, LockedList, FrozenList))
DICTS = frozenset((Dict, LockedDict, FrozenDict))


class Method:
    """A method taken from its value, such as `name.upper`."""

    __slots__ = ("call", "name", "owner")

    def __init__(self, owner: Any, name: str, call: Any) -> None:
        self.owner = owner
        self.name = name
        self.call = call

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.call(self.owner, *args, **kwargs)


class HostObject:
    """Something the host hands to a script, which sees the listed attributes and no others.

    A script may call `methods` and read `fields`. `meant` has names that people know from
    elsewhere, each with the name it has here.
    """

    __slots__ = ()
    type_name = "object"
    methods: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    meant: ClassVar[Mapping[str, str]] = {}

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


TYPE_NAMES: dict[type, str] = {
    type(None): "NoneType",
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    tuple: "tuple",
    range: "range",
    FunctionType: "function",
    MethodType: "function",
    Method: "function",
    **dict.fromkeys(LISTS, "list"),
    **dict.fromkeys(DICTS, "dict"),
}


def type_name(value: Any) -> str:
    """What `type(value)` says in a script."""
    known = TYPE_NAMES.get(type(value))
    return known or str(getattr(value, "type_name", "object"))


_ARTICLES = {"NoneType": "None", "int": "an int", "object": "an object", "ohlcv": "an ohlcv"}


def with_article(name: str) -> str:
    """A type in a sentence: 'a list', 'an int', 'None'."""
    return _ARTICLES.get(name, f"a {name}")


def a_type(value: Any) -> str:
    """The type of a value in a sentence."""
    return with_article(type_name(value))


def shown(value: Any) -> str:
    """A value in a message: as it is if that is short, else its type.

    >>> shown(1.5), shown("blu"), shown((1, 2))
    ('1.5', "'blu'", 'a tuple')
    """
    if type(value) in (int, float, bool, str) and len(text := repr(value)) <= 60:
        return text
    return a_type(value)


def is_script_function(value: Any) -> bool:
    return type(value) is FunctionType and value.__code__.co_filename == FILE


def freeze(value: Any) -> int:
    """Makes the lists and dicts in a value unchangeable, in place; returns its number of parts."""
    pending, seen, parts = [value], set(), 0
    while pending:
        part = pending.pop()
        parts += 1
        kind = type(part)
        if kind is List or kind is Dict:
            part.__class__ = FrozenList if kind is List else FrozenDict
        holds = kind in (List, Dict, tuple, Method) or is_script_function(part)
        if holds and id(part) not in seen:
            seen.add(id(part))
            pending.extend(_parts(part))
    return parts


def _parts(value: Any) -> Iterable[Any]:
    if type(value) is Method:  # values.append: to call it is to change the list
        return [value.owner]
    if type(value) is FunctionType:
        return [*(value.__defaults__ or ()), *_captured_values(value)]
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value  # type: ignore[no-any-return]


def _captured_values(function: FunctionType) -> Iterable[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a variable that was never assigned
            continue


def adopt(value: Any) -> Any:
    """A plain Python value (from JSON, from PARAMS) as a script sees it: unchangeable."""
    if isinstance(value, dict):
        return FrozenDict({key: adopt(part) for key, part in value.items()})
    if isinstance(value, list):
        return FrozenList([adopt(part) for part in value])
    if isinstance(value, tuple):
        return tuple(adopt(part) for part in value)
    return value
