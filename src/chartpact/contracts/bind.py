"""A contract bound to a configuration: its code with the values filled in, or what does not fit."""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from math import floor
from threading import Lock
from typing import Any, NoReturn

from chartpact.contracts import codecs
from chartpact.contracts.compile import Contract
from chartpact.contracts.config import TICK_SIZE, Fault
from chartpact.contracts.normalise import NOWHERE
from chartpact.contracts.patterns import Pattern
from chartpact.contracts.violations import Trouble

_CACHED = 256
_BUILTINS = {
    name: each
    for name, each in (
        ("abs", abs), ("min", min), ("max", max), ("len", len), ("any", any), ("all", all),
        ("zip", zip), ("enumerate", enumerate),
    )
}  # fmt: skip

Functions = Mapping[str, Any]


@dataclass(frozen=True)
class Bound:
    """A contract whose expressions know the configuration."""

    contract: Contract
    values: Mapping[str, Any]
    digest: str  # of the configuration
    functions: Functions
    faults: tuple[Fault, ...] = ()


_cache: OrderedDict[tuple[Any, ...], Bound] = OrderedDict()
_lock = Lock()


def bind(contract: Contract, values: Mapping[str, Any]) -> Bound:
    """The contract with these checked values; cached by their content."""
    at = (contract.digest, *values.values())
    with _lock:
        if at in _cache:
            _cache.move_to_end(at)
            return _cache[at]
    written = json.dumps(dict(sorted(values.items())), sort_keys=True)
    bound = _bind(contract, values, hashlib.sha256(written.encode()).hexdigest())
    with _lock:
        _cache[at] = bound
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)
    return bound


def _bind(contract: Contract, values: Mapping[str, Any], digest: str) -> Bound:
    faults: list[Fault] = []
    names: dict[str, Any] = {"__builtins__": _BUILTINS, **_HELPERS}
    for name, value in values.items():
        typed = contract.keys[name].type
        if typed == "pattern" and value is not None:
            names[f"c_{name}"] = Pattern(value)
        elif typed == "color":
            names[f"c_{name}"] = None if value is None else value[:7]
            names[f"ca_{name}"] = 0 if value is None else int(value[7:], 16)
        else:
            names[f"c_{name}"] = value
    tick = values.get(TICK_SIZE)
    if tick is not None:
        names["HALF_TICK"] = tick / 2
        names["to_tick"] = tick_rounding(tick)
    names["matching"] = {text: Pattern(text).matches for text in contract.patterns}
    for table, kind in contract.encodings:
        names[f"E_{table}_{kind}"] = _table(contract, table, values, faults)
    for element in contract.elements.values():
        if element.decode is not None:
            names[f"D_{element.name}"] = _decoder(element.name, element.decode, values, faults)
    exec(contract.code, names)  # the code is ours: see expressions for what can be in it
    for edge in contract.edges.values():
        if edge.spec.violation == "config" and not faults and names[f"edge_{edge.name}"]():
            faults.append(Fault(f"edge_cases.{edge.name}", edge.spec.say or edge.name))
    return Bound(contract, dict(values), digest, names, tuple(dict.fromkeys(faults)))


class Table(dict[Any, str]):
    """A closed table from looks to meanings."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, look: Any) -> NoReturn:
        known = ", ".join(f"{_shown(value)} = {meaning}" for value, meaning in self.items())
        raise Trouble("malformed", f"{_shown(look)} has no meaning in {self._name}: {known}")


def _shown(look: Any) -> str:
    return "none" if look is None else str(look)


def _table(contract: Contract, name: str, values: Mapping[str, Any], faults: list[Fault]) -> Table:
    table = Table(name)
    for meaning, written in contract.file.encodings[name].items():
        for each in written:
            look = _look(contract, each, values)
            if look is _UNSET:
                continue
            known = table.get(look)
            if known is not None and known != meaning:
                faults.append(
                    Fault(
                        f"encodings.{name}",
                        f"{known} and {meaning} look alike: both are {_shown(look)}",
                    )
                )
            table[look] = meaning
    return table


_UNSET = object()


def _look(contract: Contract, written: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(written, str) and written in contract.keys:
        value = values.get(written)
        if value is None:  # an optional key that is not set looks like nothing, not like none
            return _UNSET
        return value[:7] if contract.keys[written].type == "color" else value
    if written == "none" or written is None:
        return None
    if isinstance(written, str) and written.startswith("#"):
        return written[:7].lower()
    return written


def _decoder(
    name: str, codec: codecs.Codec, values: Mapping[str, Any], faults: list[Fault]
) -> Callable[[str], codecs.Values]:
    text = codec.pattern_of(values)
    if text is None:
        return codecs.decoder(codec)
    if codec.pattern_key is not None and (fault := codecs.group_fault(text, codec)) is not None:
        faults.append(Fault(f"config.{codec.pattern_key}", f"for {name}, {fault}"))
    return codecs.decoder(codec, Pattern(text))


# ------------------------------------------------------------------- what the generated code calls


def tick_rounding(tick: float) -> Callable[[float], float]:
    """A function that rounds to the tick, half up, by the decimal digits that people see.

    >>> tick_rounding(0.25)(5874.625), tick_rounding(0.01)(1.005)
    (5874.75, 1.01)
    """
    exact = Decimal(repr(tick))
    mantissa, scale = exact.as_integer_ratio()

    def to_tick(price: float) -> float:
        ratio = price / tick + 0.5
        whole = floor(ratio)
        if abs(ratio - round(ratio)) < 1e-6:  # near a half: only the decimal digits can tell
            halves = Decimal(repr(price)) / exact + Decimal("0.5")
            whole = int(halves.to_integral_value(ROUND_FLOOR))
        return whole * mantissa / scale

    return to_tick


def _lost(order: float | None) -> NoReturn:
    if order is None or order == NOWHERE:
        raise Trouble("unavailable", "an anchor lies outside the loaded history")
    raise Trouble(
        "unavailable", "an anchor has a place, but its bar or time is not known", placed=True
    )


def _endless() -> NoReturn:
    raise Trouble("malformed", "the result is not a finite number")


def _unknown(name: str) -> NoReturn:
    raise Trouble("unavailable", f"{name} is not known to the source")


def _tie(members: list[Any]) -> Trouble:
    return Trouble("ambiguous", f"{len(members)} objects fit equally", members)


def _nothing_left(members: list[Any]) -> Trouble:
    return Trouble("missing", "no object of the group is left for this part", members)


def _surplus(members: list[Any]) -> Trouble:
    told = "an object is" if len(members) == 1 else f"{len(members)} objects are"
    return Trouble("unexpected", f"{told} left over in the group", members)


def _crowd() -> Trouble:
    return Trouble("ambiguous", "too many candidates lie in reach to tell which belongs to which")


def _only(values: list[Any]) -> Any:
    found = set(values)
    return found.pop() if len(found) == 1 else None


_HELPERS: Mapping[str, Any] = {
    "NOWHERE": NOWHERE,
    "HALF_TICK": None,
    "to_tick": None,
    "lost": _lost,
    "endless": _endless,
    "unknown": _unknown,
    "tie": _tie,
    "nothing_left": _nothing_left,
    "surplus": _surplus,
    "crowd": _crowd,
    "only": _only,
    "bisect_left": bisect_left,
    "bisect_right": bisect_right,
}
