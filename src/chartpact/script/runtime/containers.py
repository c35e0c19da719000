"""The methods of lists and dicts: Starlark's, charged by size."""

from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.strings import as_bound, as_index
from chartpact.script.runtime.values import Dict, List

_MOST_EMPTY = 16


class ListMethods:
    """Every public method is one of the language; its first argument is the list."""

    def __init__(self, operators: Operators) -> None:
        self._operators = operators
        self._charge = operators.meter.charge

    def append(self, values: List, value: Any, /) -> None:
        values.append(value)

    def clear(self, values: List, /) -> None:
        values.clear()

    def extend(self, values: List, more: Any, /) -> None:
        others, length, _ = self._operators.sequence(more)
        self._operators.extend_list(len(values), length)
        values.extend(list(others))

    def index(self, values: List, value: Any, start: Any = None, end: Any = None, /) -> int:
        first, last, _ = slice(as_bound(start), as_bound(end)).indices(len(values))
        self._charge(18)
        place = self._operators.find(value, values, first, last)
        if place is not None:
            return place
        raise Fault("value", "the list does not hold this value", "test it first: x in values")

    def insert(self, values: List, at: Any, value: Any, /) -> None:
        self._charge(6 + len(values) // 64)
        values.insert(as_index(at), value)

    def pop(self, values: List, at: Any = -1, /) -> Any:
        self._charge(6 + len(values) // 64)
        if not values:
            raise Fault("value", "an empty list has nothing to pop")
        at = as_index(at)
        if not -len(values) <= at < len(values):
            raise Fault("value", f"there is no element {at} in a list of {len(values)}")
        return values.pop(at)

    def remove(self, values: List, value: Any, /) -> None:
        values.pop(self.index(values, value))


class DictMethods:
    """Every public method is one of the language; its first argument is the dict."""

    def __init__(self, operators: Operators) -> None:
        self._operators = operators
        self._charge = operators.meter.charge

    def clear(self, values: Dict, /) -> None:
        values.clear()

    def get(self, values: Dict, key: Any, default: Any = None, /) -> Any:
        self._charge(len(values).bit_length())  # a large dict is not in the processor's cache
        return values.get(self._operators.key(key), default)

    def items(self, values: Dict, /) -> List:
        self._charge(1 + 2 * len(values))
        return List(values.items())

    def keys(self, values: Dict, /) -> List:
        self._charge(1 + len(values) // 2)
        return List(values)

    def pop(self, values: Dict, key: Any, /, *default: Any) -> Any:
        if len(default) > 1:
            raise Fault("type", f"pop takes a key and a default, not {1 + len(default)} values")
        key = self._operators.key(key)
        if key not in values and not default:
            raise Fault("value", "the dict has no such key", "give a default: d.pop(key, None)")
        value = values.pop(key, *default)
        self._compact(values)
        return value

    def popitem(self, values: Dict, /) -> tuple[Any, Any]:
        if not values:
            raise Fault("value", "an empty dict has nothing to pop")
        self._charge(getattr(values, "gone", 0) // 8)
        first = values.popitem()
        self._compact(values)
        return first

    def setdefault(self, values: Dict, key: Any, default: Any = None, /) -> Any:
        self._charge(len(values).bit_length())
        return values.setdefault(self._operators.key(key), default)

    def update(self, values: Dict, /, *pairs: Any, **named: Any) -> None:
        values.update(self._operators.pairs(pairs, named))

    def values(self, values: Dict, /) -> List:
        self._charge(1 + 3 * len(values) // 4)
        return List(values.values())

    def _compact(self, values: Dict) -> None:
        """Keeps the empty slots of a dict few: Python passes by them whenever it is iterated."""
        self._charge(12)
        values.gone = getattr(values, "gone", 0) + 1
        if values.gone > _MOST_EMPTY + len(values) // 4:
            items = list(values.items())
            values.clear()
            values.update(items)
            values.gone = 0
