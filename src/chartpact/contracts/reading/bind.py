"""A contract bound to a configuration: its code with the values filled in, or what does not fit.

Here is also what the code calls, and the report of what it raises.
"""

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from math import floor
from typing import Any, NoReturn

import numpy as np

from chartpact.cache import Cache, Memo
from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import DAY, MINUTE, Timeframe
from chartpact.clock.tradingcalendar import TradingCalendar
from chartpact.clock.zones import wall, zone
from chartpact.contracts.check.config import fault
from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.generate import FILENAME, Key, ReadingProgram
from chartpact.contracts.language import codecs
from chartpact.contracts.language.codecs import Pattern, ReadingFault
from chartpact.contracts.language.model import ConfigKey
from chartpact.contracts.language.nodes import TICK_SIZE
from chartpact.contracts.language.values import Constant
from chartpact.contracts.reading.normalise import NOWHERE
from chartpact.contracts.reading.result import Violation
from chartpact.problem import Problem

LAST_TIME = 7_258_118_400_000  # 2200-01-01, in UTC ms

_BUILTINS = {
    function.__name__: function for function in (abs, min, max, len, any, all, zip, enumerate)
}


@dataclass(frozen=True)
class Bound:
    """A contract whose expressions know the configuration."""

    contract: Contract
    values: Mapping[str, Any]
    digest: str  # of the configuration
    functions: Mapping[Key, Callable[..., Any]]
    faults: tuple[Problem, ...] = ()
    text_costs: Mapping[str, float] = field(default_factory=dict)  # nodes for a byte, by channel

    @property
    def weight(self) -> int:
        """The bytes that it takes in memory, at most: what it remembers of texts, above all."""
        kinds = [constant.what for constant in self.contract.program.constants]
        memos = sum(kind in ("pattern", "decoder", "trading_day") for kind in kinds)
        patterns = sum(isinstance(value, str) for value in self.values.values())
        return 2 * codecs.MEMORY * (memos + patterns) + 16 * len(self.contract.text)


_bound: Cache[tuple[Any, ...], Bound] = Cache(
    most=256, weight=64 << 20, weigh=lambda bound: bound.weight
)


def bind(contract: Contract, values: Mapping[str, Any]) -> Bound:
    """The contract with these checked values; cached by their content."""
    # 1 and 1.0 are one value, yet each is given out as it was given.
    key = (contract.digest, *values.values(), *map(type, values.values()))
    return _bound.get_or_make(key, lambda: _bind(contract, values))


def digest(values: Mapping[str, Any]) -> str:
    """The digest of a configuration: equal values have one digest, however they are written.

    >>> digest({"bars": 20, "word": "a"}) == digest({"word": "a", "bars": 20.0})
    True
    """
    plain = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in values.items()
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _bind(contract: Contract, values: Mapping[str, Any]) -> Bound:
    faults: list[Problem] = []
    functions = run_program(
        contract.program, lambda constant: _constant(contract, constant, values, faults)
    )
    for edge in contract.edges.values():
        if edge.spec.violation == "config" and not faults and functions["edge", edge.name](()):
            faults.append(fault(f"edge_cases.{edge.name}", edge.spec.say or edge.name))
    distinct = tuple({(problem.path, problem.message): problem for problem in faults}.values())
    costs = _text_costs(contract, values)
    return Bound(contract, dict(values), digest(values), functions, distinct, costs)


def run_program(
    program: ReadingProgram, fix: Callable[[Constant], Any]
) -> dict[Key, Callable[..., Any]]:
    """The functions of a program, by what they are for, once its constants are fixed."""
    names: dict[str, Any] = {"__builtins__": _BUILTINS, **_NAMES}
    for constant, variable in program.constants.items():
        names[variable] = fix(constant)
    exec(program.code, names)  # the code is ours: see generate for what can be in it
    return {key: names[name] for key, name in program.functions.items()}


def _text_costs(contract: Contract, values: Mapping[str, Any]) -> dict[str, float]:
    """For each channel, the nodes that one byte of its texts costs: patterns, entries of lists."""
    costs = {channel: nodes / 2 for channel, nodes in contract.entry_costs.items()}
    for channel, at in contract.patterns:
        text = values[at.name] if isinstance(at, Constant) else at.value
        if text is not None:
            costs[channel] = costs.get(channel, 0) + Pattern(str(text)).cost
    return costs


def _constant(
    contract: Contract, constant: Constant, values: Mapping[str, Any], faults: list[Problem]
) -> Any:
    """The value of what the configuration fixes."""
    match constant.what:
        case "encoding":
            return _table(contract, constant, values, faults)
        case "decoder":
            return _decoder(contract, constant.name, values, faults)
    return fix_constant(constant, contract.keys, values, faults)


def fix_constant(
    constant: Constant,
    keys: Mapping[str, ConfigKey],
    values: Mapping[str, Any],
    faults: list[Problem],
) -> Any:
    """The value of a constant that needs the configuration alone."""
    name, value = constant.name, values.get(constant.name)
    match constant.what:
        case "config" if value is not None and keys[name].type == "pattern":
            return Pattern(value)
        case "config" if value is not None and keys[name].type == "color":
            return value[:7]
        case "config":
            return value
        case "opacity":
            return 0 if value is None else int(value[7:], 16)
        case "pattern":
            return Pattern(name)
        case "half_tick":
            return values[TICK_SIZE] / 2
        case "to_tick":
            return tick_rounding(values[TICK_SIZE])
        case "time_of_day" | "trading_day":
            text = name if constant.kind == "" else str(value)
            try:
                return (minute_of_day if constant.what == "time_of_day" else day_of)(text)
            except ClockError as error:
                faults.append(fault(f"config.{name}", str(error)))
                return None
    raise ValueError(f"{constant} is not known")


class EncodingTable(dict[Any, str]):
    """A closed table from looks to meanings."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, look: Any) -> NoReturn:
        known = ", ".join(f"{_format_look(value)} = {meaning}" for value, meaning in self.items())
        raise ReadingFault(
            "malformed", f"{_format_look(look)} has no meaning in {self._name}: {known}"
        )


def _format_look(look: Any) -> str:
    return "none" if look is None else str(look)


def _table(
    contract: Contract, constant: Constant, values: Mapping[str, Any], faults: list[Problem]
) -> EncodingTable:
    table = EncodingTable(constant.name)
    for meaning, looks in contract.tables[constant.name].items():
        for look in looks:
            if look.key is not None and values[look.key] is None:
                continue  # an optional key that is not set looks like nothing, not like none
            drawn = look.value if look.key is None else values[look.key]
            if constant.kind == "color" and drawn is not None:
                drawn = drawn[:7].lower()
            known = table.get(drawn)
            if known is not None and known != meaning:
                message = f"{known} and {meaning} look alike: both are {_format_look(drawn)}"
                faults.append(fault(f"encodings.{constant.name}", message))
            table[drawn] = meaning
    return table


def _decoder(
    contract: Contract, name: str, values: Mapping[str, Any], faults: list[Problem]
) -> Mapping[str, codecs.Values]:
    decode = contract.elements[name].decode
    assert decode is not None
    codec = decode.codec
    key, pattern = codec.pattern_key, codec.pattern
    if key is not None:
        pattern = values[key]
        wrong = None if pattern is None else codecs.group_fault(pattern, codec)
        if wrong is not None:
            faults.append(fault(f"config.{key}", f"for {name}, {wrong}"))
    compiled = None if pattern is None else Pattern(pattern)
    return codecs.text_memo(lambda text: codecs.decode(codec, text, compiled), codec.weight)


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


def minute_of_day(where: str) -> Callable[[int], float]:
    """A function that gives the minutes since midnight on the clocks of a zone.

    >>> minute_of_day("America/New_York")(1_700_000_100_000)
    1035.0
    """
    there = zone(where)

    def minute(time: int) -> float:
        return float(wall(there, np.array([in_range(time)]))[0] % DAY) / MINUTE

    return minute


def day_of(roll: str) -> Callable[[int], int]:
    """A function that gives the date of the trading day of a time, in days since 1970.

    >>> day = day_of("18:00 America/New_York")
    >>> day(1_700_175_600_000) - day(1_700_175_599_999)  # 18:00 in New York
    1
    """
    calendar = TradingCalendar.of(roll)

    def day(time: int) -> int:
        return int(calendar.date(np.array([in_range(time)]))[0])

    return Memo(day, most=2048).__getitem__


def in_range(time: float) -> int:
    if not 0 <= time < LAST_TIME:
        raise ReadingFault("malformed", f"{time} is not a time between 1970 and 2200")
    return int(time)


def outdated(
    time: int | None, last: int | None, day: Callable[[int], int], notes: dict[str, str]
) -> bool:
    """Whether a time's trading day lies before that of the last bar; what is not known is noted."""
    if time is None or last is None:
        notes["age"] = "unknown"
        return False
    return day(time) < day(last)


def minutes(timeframe: str) -> float:
    try:
        return Timeframe.parse(timeframe).ms / MINUTE
    except ClockError as error:
        raise ReadingFault("unavailable", str(error)) from None


def apart(value: Any) -> Any:
    """A key to compare instances by; unknown values are never equal."""
    return object() if value is None or value == NOWHERE else value


def lost(order: float | None) -> NoReturn:
    if order is None or order == NOWHERE:
        raise ReadingFault("unavailable", "an anchor lies outside the loaded history")
    message = "an anchor has a place, but its bar or time is not known"
    raise ReadingFault("unavailable", message, placed=True)


def endless() -> NoReturn:
    raise ReadingFault("malformed", "the result is not a finite number")


def unknown(name: str) -> NoReturn:
    raise ReadingFault("unavailable", f"{name} is not known to the source")


def tie(members: list[Any]) -> ReadingFault:
    return ReadingFault("ambiguous", f"{len(members)} objects fit equally", members)


def check_alike(members: list[Any]) -> None:
    """Raises unless objects differ in nothing that the contract reads."""
    rows = [member for member in members if isinstance(member, tuple)]
    if len(rows) < len(members) or any(row[1:] != rows[0][1:] for row in rows):
        raise tie(members)


def nothing_left(members: list[Any]) -> ReadingFault:
    return ReadingFault("missing", "no object of the group is left for this part", members)


def surplus(members: list[Any]) -> ReadingFault:
    count = "an object is" if len(members) == 1 else f"{len(members)} objects are"
    return ReadingFault("unexpected", f"{count} left over in the group", members)


def crowd() -> ReadingFault:
    return ReadingFault(
        "ambiguous", "too many candidates lie in reach to tell which belongs to which"
    )


def only(values: list[Any]) -> Any:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


Row = tuple[Any, Any, dict[str, Any]]  # the value to sort by, the list, and what is given


def order_rows(rows: list[Row]) -> list[Row]:
    """Rows in order; ties are ordered by what is given."""
    rows.sort(key=lambda row: row[0])
    if any(a[0] == b[0] for a, b in pairwise(rows)):
        rows.sort(key=lambda row: (row[0], _rank(row[2])))
    return rows


def in_order(rows: list[Row]) -> list[dict[str, Any]]:
    return [value for _, _, value in order_rows(rows)]


def _rank(value: Any) -> tuple[Any, ...]:
    """A place in an order of all JSON values."""
    for rank, kind in enumerate((type(None), bool, int | float, str)):
        if isinstance(value, kind):
            return rank, value
    return 4, [_rank(inner) for inner in (value.values() if isinstance(value, dict) else value)]


_CALLED = (
    in_order,
    lost,
    endless,
    unknown,
    tie,
    check_alike,
    outdated,
    minutes,
    apart,
    nothing_left,
    surplus,
    crowd,
    only,
    bisect_left,
    bisect_right,
)
_NAMES = {"NOWHERE": NOWHERE, **{function.__name__: function for function in _CALLED}}


# ------------------------------------------------------------------------------------------ report

MAX_VIOLATIONS = 200
MAX_OBJECTS = 100  # that one violation speaks of

CAUGHT = (ReadingFault, ArithmeticError)  # what generated code may raise


class ReadingEnd(Exception):
    """Nothing more can be said."""


class ReadingReport:
    """The violations of a reading. While `warn` is set, new ones are only warnings."""

    def __init__(self, contract: str, version: str, paths: Mapping[int, str]) -> None:
        self._contract, self._version, self._paths = contract, version, paths
        self.violations: list[Violation] = []
        self.warnings: list[Violation] = []
        self.warn = False

    def __len__(self) -> int:
        return len(self.violations) + len(self.warnings)

    def add(
        self,
        kind: str,
        path: str,
        message: str,
        objects: Sequence[Any] = (),
        field: str | None = None,
    ) -> None:
        into = self.warnings if self.warn else self.violations
        if len(into) < MAX_VIOLATIONS:
            about = tuple(objects[:MAX_OBJECTS])
            into.append(Violation(kind, path, message, self._contract, self._version, about, field))
        elif not self.warn:
            raise ReadingEnd

    def trouble(self, error: Exception, default: str, objects: Sequence[Any] = ()) -> None:
        """Adds what generated code raised; the line that raised tells the place."""
        path, at = default, error.__traceback__
        while at is not None:
            if at.tb_frame.f_code.co_filename == FILENAME:
                path = self._paths.get(at.tb_lineno, path)
            at = at.tb_next
        kind, message = "malformed", "the result is not a finite number"
        if isinstance(error, ReadingFault):
            kind, message = error.kind, error.message
            path = f"{path}.{error.path}" if error.path else path
        self.add(kind, path, message, objects)
