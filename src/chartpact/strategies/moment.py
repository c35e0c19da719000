"""The facts of one moment: what the inputs say of a chart, and what is wanting for the others."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chartpact.clock.timeframe import Timeframe
from chartpact.clock.zones import wall, zone
from chartpact.contracts import Reading, Violation
from chartpact.contracts.check import config
from chartpact.contracts.check.config import Setting
from chartpact.contracts.check.generate import Key
from chartpact.contracts.language.values import Slot
from chartpact.contracts.reading.bind import CAUGHT, digest, fix_constant, run_program
from chartpact.contracts.reading.result import ChartFacts
from chartpact.problem import Failure, Problem
from chartpact.strategies.logic import Value
from chartpact.strategies.model import UNKNOWN
from chartpact.strategies.strategy import NOW, Strategy

OK, REFUSED, STALE, MISSING = "ok", "refused", "stale", "missing"
NONE, UNWATCHED = "none", "unwatched"
MOST_VIOLATIONS = 3  # of an input that are told

Json = Any
Cause = Mapping[str, Json]  # why a fact is unknown: an input, why, and its violations


@dataclass(frozen=True)
class BoundStrategy:
    """A strategy whose expressions know its configuration."""

    strategy: Strategy
    settings: Mapping[str, Setting]
    digest: str
    functions: Mapping[Key, Callable[..., Any]] = field(repr=False)


def bind(
    strategy: Strategy,
    overrides: Mapping[str, Any] | None = None,
    profile: str | None = None,
    chart: Mapping[str, Any] | None = None,
) -> BoundStrategy:
    """The strategy with a configuration; raises `Failure` where that does not fit."""
    keys, faults = strategy.keys, list[Problem]()
    settings, wrong = config.resolve(
        keys, strategy.file.profiles, overrides or {}, profile, {}, chart or {}
    )
    values = {name: setting.value for name, setting in settings.items()}
    if wrong:
        raise Failure(wrong[0].at(kind="value"))
    functions = run_program(
        strategy.program, lambda constant: fix_constant(constant, keys, values, faults)
    )
    if faults:
        raise Failure(faults[0].at(kind="value"))
    return BoundStrategy(strategy, settings, digest(values), functions)


@dataclass(frozen=True)
class InputState:
    """An input at one moment: its state where it is healthy, else why it is not."""

    contract: str
    version: str
    health: str = MISSING
    as_of: int | None = None
    state: Mapping[str, Json] | None = None
    violations: tuple[Violation, ...] = ()
    assumptions: tuple[Setting, ...] = ()

    @classmethod
    def of(cls, reading: Reading, age: int = 0, max_age: int = 0) -> "InputState":
        """What a reading says; `age` is in bars of the input."""
        health = REFUSED if not reading.ok else STALE if age > max_age else OK
        return cls(
            reading.contract, reading.version, health, reading.as_of, reading.state,
            reading.violations, reading.assumptions,
        )  # fmt: skip

    def cause(self, name: str) -> dict[str, Json]:
        data: dict[str, Json] = {"input": name, "why": self.health}
        if self.health == REFUSED:
            shown = self.violations[:MOST_VIOLATIONS]
            data["violations"] = [{"kind": one.kind, "path": one.path} for one in shown]
        return data

    def to_json(self) -> dict[str, Json]:
        data = {"contract": self.contract, "version": self.version, "health": self.health}
        return {**data, "as_of": self.as_of}


@dataclass(frozen=True)
class Moment:
    """The facts of one chart at one moment. A decision needs nothing else but its latches."""

    strategy: Strategy
    chart: ChartFacts
    as_of: int | None
    now: int | None
    source: str
    inputs: Mapping[str, InputState]
    known: Mapping[str, Value]  # facts and windows
    wanting: Mapping[str, tuple[Cause, ...]]  # the others, and why
    epoch: Json
    epoch_wanting: tuple[Cause, ...]
    config: str
    assumptions: tuple[Setting, ...]
    given: Callable[[Mapping[str, Any]], dict[tuple[str, ...], Json]] = field(repr=False)


def look(
    bound: BoundStrategy,
    inputs: Mapping[str, InputState],
    chart: Mapping[str, Any],
    facts: ChartFacts,
    source: str,
) -> Moment:
    """The moment that inputs and a chart show. An input that is not there is missing."""
    return _Look(bound, inputs, chart, facts).moment(source)


class _Look:
    def __init__(
        self,
        bound: BoundStrategy,
        inputs: Mapping[str, InputState],
        chart: Mapping[str, Any],
        facts: ChartFacts,
    ) -> None:
        self.bound, self.strategy, self.facts, self.chart = bound, bound.strategy, facts, chart
        self.now = closing_time(facts)
        self.inputs = {
            name: inputs.get(name, InputState(contract.name, contract.version))
            for name, contract in self.strategy.contracts.items()
        }
        self.known: dict[str, Value] = {}
        self.wanting: dict[str, tuple[Cause, ...]] = {}
        slots = self.strategy.program.slots
        self.S: list[Any] = [None] * len(slots)
        for slot in slots:
            if slot.what == "input":
                self.S[slots[slot]] = self.inputs[slot.name].state
            elif slot.what == "chart":
                self.S[slots[slot]] = chart.get(slot.name)
            elif slot == NOW:
                self.S[slots[slot]] = self.now

    def moment(self, source: str) -> Moment:
        for name, (where, hours) in self.strategy.windows.items():
            if self.now is None:
                self.wanting[name] = (_NO_CHART,)
            else:
                there = wall(zone(where), np.array([self.now]))
                self._put(name, bool(hours.contains(there)[0]))
        for name in self.strategy.facts:
            self._fact(name)
        epoch, missing = None, tuple[Cause, ...]()
        if (rule := self.strategy.epoch) is not None:
            missing = self._missing(rule.named)
            if not missing:
                epoch, missing = self._run(("epoch",))
        settings = self.bound.settings.values()
        return Moment(
            self.strategy,
            self.facts,
            self.chart.get("as_of"),
            self.now,
            source,
            self.inputs,
            self.known,
            self.wanting,
            epoch,
            missing,
            self.bound.digest,
            tuple(one for one in settings if one.origin == "default"),
            self._give,
        )

    def _put(self, name: str, value: Value) -> None:
        self.known[name] = value
        if (slot := self.strategy.program.slots.get(Slot("fact", name))) is not None:
            self.S[slot] = value

    def _fact(self, name: str) -> None:
        missing = self._missing(self.strategy.facts[name].named)
        value = None
        if not missing:
            value, missing = self._run(("fact", name))
        if missing:
            self.wanting[name] = missing
            return
        spec = self.strategy.file.facts[name]
        value = spec.none if value is None else value
        if value is None or (value == UNKNOWN and spec.none == UNKNOWN):
            self.wanting[name] = tuple(self._of_none(name))
        else:
            self._put(name, value)

    def _of_none(self, name: str) -> Iterator[Cause]:
        """The inputs of a fact that is none."""
        named = self.strategy.facts[name].named
        inputs = [one for one in self.inputs if one in named]
        yield from [{"input": one, "why": NONE} for one in inputs] or [{"fact": name, "why": NONE}]

    def _missing(self, names: frozenset[str]) -> tuple[Cause, ...]:
        """Why something that names these cannot be known, or nothing."""
        causes: list[Cause] = []
        for name, one in self.inputs.items():
            if name in names and one.health != OK:
                causes.append(one.cause(name))
        if NOW.name in names and self.now is None:
            causes.append(_NO_CHART)
        for name, behind in self.wanting.items():
            if name in names:
                causes += [cause for cause in behind if cause not in causes]
        return tuple(causes)

    def _run(self, key: Key) -> tuple[Any, tuple[Cause, ...]]:
        """The value of an expression, or what it lacked."""
        try:
            return self.bound.functions[key](self.S), ()
        except CAUGHT as error:
            if getattr(error, "kind", "") == "unavailable":
                return None, (_NO_CHART,)
            return None, ({"fact": ".".join(map(str, key[-1:])), "why": UNKNOWN},)

    def _give(self, decided: Mapping[str, Any]) -> dict[tuple[str, ...], Json]:
        """What tables give and what is put out, once something is decided."""
        slots, given = self.strategy.program.slots, dict[tuple[str, ...], Json]()
        for slot in slots:
            if slot.what == "logic":
                self.S[slots[slot]] = decided.get(slot.name)
        for place, rule in self.strategy.given.items():
            given[place] = None if self._missing(rule.named) else self._run(place)[0]
        return given


_NO_CHART: Cause = {"input": "chart", "why": MISSING}


def closing_time(facts: ChartFacts) -> int | None:
    """The close of the last closed bar."""
    if facts.last_time is None:
        return None
    if not facts.confirmed and facts.previous_time is None:
        return facts.last_time
    last = facts.last_time if facts.confirmed else facts.previous_time
    return (last or 0) + Timeframe.parse(facts.timeframe).ms if facts.timeframe else None


def age_of(reading: Reading, facts: ChartFacts) -> int:
    """How many bars of its timeframe a reading lies behind the chart."""
    last, now = reading.facts.last_time, closing_time(facts)
    if last is None or now is None or not reading.facts.timeframe:
        return 0
    step = Timeframe.parse(reading.facts.timeframe).ms
    return max(0, (now - last - step) // step)


def chart_facts(chart: Mapping[str, Any]) -> ChartFacts:
    """The facts of a chart that following needs."""
    return ChartFacts(
        str(chart.get("symbol", "")),
        str(chart.get("timeframe", "")),
        chart.get("confirmed") is True,
        chart.get("first_time"),
        chart.get("last_time"),
        previous_time=chart.get("previous_time"),
    )


def inputs_of(
    strategy: Strategy, readings: Mapping[str, Reading], facts: ChartFacts
) -> dict[str, InputState]:
    """The inputs that readings are, by name; what was not read is missing."""
    return {
        name: InputState.of(readings[name], age_of(readings[name], facts), spec.max_age)
        for name, spec in strategy.file.inputs.items()
        if name in readings
    }


def sources_of(strategy: Strategy) -> Sequence[str]:
    """The contracts that the strategy reads, each once."""
    return tuple(dict.fromkeys(contract.name for contract in strategy.contracts.values()))
