"""Attributes: the methods of strings, lists and dicts, and what host objects show."""

from collections.abc import Callable, Mapping
from typing import Any

from chartpact.problem import did_you_mean
from chartpact.script.errors import Fault
from chartpact.script.runtime.arithmetic import mismatch_hint
from chartpact.script.runtime.containers import DictMethods, ListMethods
from chartpact.script.runtime.operators import Operators
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.strings import StringMethods
from chartpact.script.runtime.values import (
    DICTS,
    LISTS,
    FrozenDict,
    HostObject,
    Method,
    a_type,
    type_name,
)

_CLASSES = {"string": StringMethods, "list": ListMethods, "dict": DictMethods}
NAMES: Mapping[str, list[str]] = {  # of the methods, by the type that has them
    kind: sorted(name for name in vars(methods) if not name.startswith("_"))
    for kind, methods in _CLASSES.items()
}


class Methods:
    """The methods of one run's values, charged to its meter."""

    def __init__(self, operators: Operators) -> None:
        self._charge = operators.meter.charge
        self._tables: dict[str, dict[str, Callable[..., Any]]] = {}
        for kind, methods in _CLASSES.items():
            bound = methods(operators)
            self._tables[kind] = {name: getattr(bound, name) for name in NAMES[kind]}

    def attribute(self, value: Any, name: str) -> Any:
        """`value.name`."""
        if isinstance(value, HostObject):
            if name in value.fields or name in value.methods:
                self._charge(7)
                return getattr(value, name)
            raise unknown_attribute(value, name)
        table = self._tables.get(type_name(value), {})
        if name in table:
            self._charge(22)
            return Method(value, name, table[name])
        raise unknown_attribute(value, name)


def unknown_attribute(value: Any, name: str) -> Fault:
    """There is no such attribute."""
    if isinstance(value, HostObject):
        known = [*value.fields, *value.methods]
    else:
        known = NAMES.get(type_name(value), [])
    hint = did_you_mean(name, sorted(known), alike=0.6, show=".{}".format)
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
