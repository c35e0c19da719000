"""Mutants: a drawn object with one field changed to something that means something else."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chartpact.contracts.compile import Contract
from chartpact.contracts.workbench.targets import Target
from chartpact.palette import TEXT_SIZES
from chartpact.snapshot import FIELDS

FRESH_COLOR = "#1b2c3d"
FAR = 1_000_000

Record = Mapping[str, Any]


class Scale:
    """What counts as a change under one configuration: many ticks, and colours with a meaning."""

    def __init__(self, contract: Contract, values: Mapping[str, Any]) -> None:
        self._tick = values.get("tick_size") or 1
        self._colors: list[str] = [
            values[name]
            for name, key in contract.keys.items()
            if key.type == "color" and values[name] is not None
        ]

    def mutants(self, target: Target, record: Record) -> Iterator[tuple[str, Record]]:
        """The object with that field changed, in several ways, each told in words."""
        name, _, part = target.need.field.partition(".")
        field, value = FIELDS[target.need.channel][name], record[name]
        if field.kind == "anchor":
            at = part or "n"
            if value[at] is not None:
                for moved in (value[at] - FAR, value[at] + FAR):
                    yield f"{at} moved to {moved}", {**record, name: {**value, at: moved}}
            return
        for changed in self._values(target, field.kind, field.names, value):
            if changed != value:
                yield f"changed from {value!r:.40} to {changed!r:.40}", {**record, name: changed}

    def _values(self, target: Target, kind: str, names: Sequence[str], value: Any) -> Iterator[Any]:
        match kind:
            case "number":
                far = 97 * self._tick
                yield from () if value is None else (value + far, value - far)
            case "whole":
                yield from (value + 1, value + 7)
            case "flag":
                yield not value
            case "text":
                yield from (f"{value}~", "~", "")
            case "name":
                yield from names
            case "size":
                yield from TEXT_SIZES
            case "color" if target.alpha:
                if value is not None:
                    yield from (f"{value[:7]}01", f"{value[:7]}fe", f"{value[:7]}ff")
            case "color":
                yield from (f"{FRESH_COLOR}ff", None)
                for setting in self._colors:
                    if value is None or setting[:7] != value[:7].lower():
                        yield f"{setting[:7]}{(value or '#ffffffff')[7:] or 'ff'}"
