"""What a strategy decides at one moment, or what it lacks to decide: never a guess.

A table has a row only if every completion of the unknown facts gives that row. Latches are what is
remembered of earlier closed bars of an epoch; they are handed in and handed back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from chartpact.clock.timeframe import Timeframe
from chartpact.contracts import Reading
from chartpact.contracts.reading.result import Track
from chartpact.strategies.logic import (
    BLOCKED,
    GRADE,
    LATCHES,
    SCORE,
    Value,
    World,
)
from chartpact.strategies.moment import OK, UNWATCHED, Cause, Json, Moment
from chartpact.strategies.strategy import Strategy

MOST_OPTIONS = 20  # of an unknown table that are listed


# ----------------------------------------------------------------------------------------- latches


@dataclass(frozen=True)
class LatchMemory:
    """The latches after a closed bar: set, not set, or unknown, and since which bar.

    `doubt` means that the epoch of a bar was unknown, so that another may have begun on it.
    """

    bar: int | None = None
    epoch: Json = None
    values: Mapping[str, bool | None] = field(default_factory=dict)
    since: Mapping[str, int | None] = field(default_factory=dict)
    doubt: bool = False

    def to_json(self) -> dict[str, Json]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "LatchMemory | None":
        return cls(**data) if data else None


def remember(moment: Moment, before: LatchMemory | None) -> LatchMemory:
    """The latches after a moment. A forming bar, and one that was seen already, change nothing."""
    logic, bar = moment.strategy.logic, moment.chart.last_time
    unset: dict[str, bool | None] = dict.fromkeys(logic.latches, None)
    if before is None:
        before = LatchMemory(values=unset, since=dict.fromkeys(logic.latches))
        watched = False
    else:
        watched = _follows_on(moment, before)
    seen = bar is None or (before.bar is not None and bar <= before.bar)
    if not moment.chart.confirmed or seen:
        return before
    known, same = not moment.epoch_wanting, moment.epoch == before.epoch
    values, since = dict(before.values), dict(before.since)
    if known and not same:
        sure = watched and not before.doubt
        values = dict.fromkeys(logic.latches, False if sure else None)
        since = dict.fromkeys(logic.latches)
    elif not watched:
        values = {name: value or None for name, value in values.items()}
    values, since = _set(moment, values, since, bar)
    epoch = moment.epoch if known else before.epoch
    return LatchMemory(bar, epoch, values, since, not known)


def _follows_on(moment: Moment, before: LatchMemory) -> bool:
    """Whether no closed bar lies between a moment and the bar before."""
    facts = moment.chart
    if facts.previous_time is not None:
        return facts.previous_time == before.bar
    if before.bar is None or facts.last_time is None or not facts.timeframe:
        return False
    return facts.last_time - before.bar <= Timeframe.parse(facts.timeframe).ms


def _set(
    moment: Moment,
    values: Mapping[str, bool | None],
    since: Mapping[str, int | None],
    bar: int | None,
) -> tuple[dict[str, bool | None], dict[str, int | None]]:
    """Sets the latches whose condition holds; all look at the values before this bar."""
    logic = moment.strategy.logic
    world = World(logic, moment.known, [(False,) * len(logic.latches)])
    after, times = dict(values), dict(since)
    for name, rule in logic.latches.items():
        if values[name]:
            continue
        holds = world.holds(rule.set)
        able = all(values[one] for one in rule.after)
        able = able and not any(values[one] is not False for one in rule.unless)
        may = all(values[one] is not False for one in rule.after)
        may = may and not any(values[one] for one in rule.unless)
        if able and bool(holds.all()):
            after[name], times[name] = True, bar
        elif may and bool(holds.any()):
            after[name] = None
    return after, times


def _vectors(moment: Moment, memory: LatchMemory) -> list[tuple[bool, ...]]:
    """The latches that there may be now."""
    asked = [memory.values.get(name) for name in moment.strategy.logic.latches]
    fitting = [
        vector
        for vector in moment.strategy.logic.vectors
        if all(want is None or want == has for want, has in zip(asked, vector, strict=True))
    ]
    # Before the first bar of an epoch is counted, no latch is set.
    return fitting or [tuple(bool(want) for want in asked)]


# ---------------------------------------------------------------------------------------- decision


@dataclass(frozen=True)
class Score:
    """The score as an interval, and the grade that it has at least."""

    low: int
    high: int
    of: int
    grade: str | None

    def to_json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(frozen=True)
class Unknown:
    """A table without a row: what it may be, and for want of which facts."""

    table: str
    could_be: tuple[str, ...]
    for_want_of: tuple[tuple[str, tuple[Cause, ...]], ...]
    latches: frozenset[str] = frozenset()

    def __str__(self) -> str:
        wanted: dict[str, list[str]] = {}
        for name, causes in self.for_want_of:
            reasons = [
                f"{one.get('input') or one.get('fact') or 'the epoch'} was {one['why']}"
                for one in causes
            ]
            wanted.setdefault(", ".join(reasons), []).append(name)
        parts = [f"{', '.join(names)}: {reason}" for reason, names in wanted.items()]
        return f"{self.table} ({' or '.join(self.could_be)}) for want of {'; '.join(parts)}"

    def to_json(self, told: set[str]) -> dict[str, Json]:
        """The table for programs; what a fact lacks is told once in an answer."""
        wanted: list[dict[str, Json]] = []
        for name, causes in self.for_want_of:
            word = "latch" if name in self.latches else "fact"
            because = [] if name in told else [dict(cause) for cause in causes]
            wanted.append({word: name, "because": because})
            told.add(name)
        could_be = list(self.could_be[:MOST_OPTIONS])
        return {"table": self.table, "could_be": could_be, "for_want_of": wanted}


@dataclass(frozen=True)
class StrategyDecision:
    """A strategy at one moment: the row of each table, or None, with every reason."""

    moment: Moment
    memory: LatchMemory
    state: Mapping[str, str | None]
    score: Score
    factors: tuple[str, ...]
    perhaps: tuple[str, ...]
    blocked_by: tuple[str, ...]
    perhaps_blocked_by: tuple[str, ...]
    unknown: tuple[Unknown, ...]
    reasons: Mapping[str, Mapping[str, Value | None]]
    given: Mapping[tuple[str, ...], Json]

    @property
    def ok(self) -> bool:
        """Whether every table has a row."""
        return not self.unknown

    @property
    def strategy(self) -> Strategy:
        return self.moment.strategy

    @property
    def facts(self) -> dict[str, Value | None]:
        return {name: self.moment.known.get(name) for name in self.strategy.logic.atoms}

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The tables that have a row, to be followed."""
        epoch = self.moment.epoch
        return tuple(
            Track(name, (), row, epoch, None) for name, row in self.state.items() if row is not None
        )

    def to_json(self, detail: bool = True) -> dict[str, Json]:
        """The decision as every door gives it out; without `detail`, only what is not in order."""
        moment, told = self.moment, set[str]()
        data: dict[str, Json] = {
            "strategy": self.strategy.name,
            "version": self.strategy.version,
            "symbol": moment.chart.symbol,
            "timeframe": moment.chart.timeframe,
            "as_of": moment.as_of,
            "now": moment.now,
            "confirmed": moment.chart.confirmed,
            "epoch": moment.epoch,
            "state": dict(self.state),
            "score": self.score.to_json(),
            "factors": list(self.factors),
            "perhaps": list(self.perhaps),
            "blocked_by": list(self.blocked_by),
            "perhaps_blocked_by": list(self.perhaps_blocked_by),
            "unknown": [one.to_json(told) for one in self.unknown],
            "reasons": [
                {"table": name, "row": self.state[name], "because": dict(because)}
                for name, because in self.reasons.items()
            ],
            "facts": {name: value for name, value in self.facts.items() if detail or value is None},
            "inputs": {
                name: one.to_json()
                for name, one in moment.inputs.items()
                if detail or one.health != OK
            },
            "assumptions": [one.to_json() for one in moment.assumptions],
            "tracks": [track.to_json() for track in self.tracks],
        }
        if self.memory.values:
            data["latches"] = dict(self.memory.values)
        for place, value in self.given.items():
            if place[0] == "output":
                data.setdefault("output", {})[place[1]] = value
            else:
                data.setdefault("give", {}).setdefault(place[1], {})[place[3]] = value
        return data

    def reading(self) -> Reading:
        """The decision as the tracker and the journal take it: facts, not the inputs' states."""
        moment, strategy = self.moment, self.strategy
        data = self.to_json()
        kept = {
            name: value
            for name, value in data.items()
            if name not in ("strategy", "version", "as_of", "now", "confirmed", "tracks", "reasons")
        }
        kept["inputs"] = {name: one.health for name, one in moment.inputs.items()}
        because = {name: dict(one) for name, one in self.reasons.items()}
        told = {"blocked_by": list(self.blocked_by), "score": self.score.to_json()}
        return Reading(
            contract=strategy.name,
            version=strategy.version,
            state=kept,
            as_of=moment.as_of,
            source=moment.source,
            tracks=self.tracks,
            config=moment.config,
            facts=moment.chart,
            unknown={one.table: str(one) for one in self.unknown},
            latches=self.memory.to_json() if strategy.remembers else {},
            told={
                name: {"because": because.get(name, {}), **told} for name in strategy.logic.tables
            },
        )

    def __str__(self) -> str:
        """The decision in at most five lines."""
        tables = [f"{name} {row}" for name, row in self.state.items() if row is not None]
        score = self.score
        interval = f"{score.low}" if score.low == score.high else f"{score.low}–{score.high}"
        lines = ["  ".join(tables) or "nothing is known"]
        if score.of:
            grade = f"grade {score.grade} " if score.grade is not None else "score "
            reasons = ", ".join(self.factors)
            lines.append(f"{grade}({interval} of {score.of}){': ' if reasons else ''}{reasons}")
        blocks = list(self.blocked_by)
        blocks += [f"perhaps {name}" for name in self.perhaps_blocked_by]
        if blocks:
            lines.append(f"blocked: {', '.join(blocks)}")
        if self.unknown:
            lines.append(f"unknown: {'; '.join(map(str, self.unknown))}")
        if not self.moment.chart.confirmed:
            lines.append("preview: the last bar is not closed")
        return "\n".join(lines)


def decide(moment: Moment, before: LatchMemory | None = None) -> StrategyDecision:
    """What follows from a moment, and from the latches before it."""
    return StrategyDecision(moment=moment, **_decide(moment, remember(moment, before)))


def _decide(moment: Moment, memory: LatchMemory) -> dict[str, Any]:
    strategy, logic = moment.strategy, moment.strategy.logic
    memory_now = memory
    if moment.epoch_wanting:  # another epoch may have begun, in which nothing was set before
        fresh, _ = _set(moment, dict.fromkeys(logic.latches, False), memory.since, None)
        both = {name: on if on == fresh[name] else None for name, on in memory.values.items()}
        memory_now = replace(memory, values=both)
    world = World(logic, moment.known, _vectors(moment, memory_now))
    blocks = {name: world.holds(node) for name, node in logic.blocks.items()}
    factors = {name: world.holds(node) for name, (node, _) in logic.factors.items()}
    state: dict[str, str | None] = {}
    unknown, reasons = list[Unknown](), dict[str, dict[str, Value | None]]()
    for name in strategy.file.tables:
        options = [str(row) for row in world.options(name)]
        state[name] = options[0] if len(options) == 1 else None
        if len(options) > 1:
            wanted = tuple(_wanting(world, moment, memory_now, name))
            latches = frozenset(logic.latches)
            unknown.append(Unknown(name, tuple(sorted(options)), wanted, latches))
            continue
        reasons[name] = {}
        for observed in logic.tables[name].observe:
            values = world.options(observed)
            reasons[name][observed] = values[0] if len(values) == 1 else None
    decided: dict[str, Any] = {**state, **memory_now.values}
    blocked = world.options(BLOCKED)
    score = _score(world)
    decided |= {BLOCKED: blocked[0] if len(blocked) == 1 else None, GRADE: score.grade}
    decided[SCORE] = score.low if score.low == score.high else None
    return {
        "memory": memory,
        "state": state,
        "score": score,
        "factors": _names(factors, every=True),
        "perhaps": _names(factors, every=False),
        "blocked_by": _names(blocks, every=True),
        "perhaps_blocked_by": _names(blocks, every=False),
        "unknown": tuple(unknown),
        "reasons": reasons,
        "given": moment.given(decided),
    }


def _names(conditions: Mapping[str, Any], every: bool) -> tuple[str, ...]:
    """The conditions that hold in every completion, or in some and not in all."""
    return tuple(
        name
        for name, holds in conditions.items()
        if (holds.all() if every else holds.any() and not holds.all())
    )


def _score(world: World) -> Score:
    logic, score = world.logic, world.value(SCORE)
    low, high = int(score.min()), int(score.max())
    grades = [grade for grade, least in logic.grades.items() if low >= least]
    of = sum(weight for _, weight in logic.factors.values())
    return Score(low, high, of, grades[0] if grades else None)


def _wanting(
    world: World, moment: Moment, memory: LatchMemory, table: str
) -> Iterable[tuple[str, tuple[Cause, ...]]]:
    """The unknown facts and latches on which a table depends, each with what it lacks."""
    array = world.value(table)
    for name in world.varying(array):
        if name != LATCHES:
            yield name, moment.wanting[name]
            continue
        for latch in world.logic.latches:
            array_of = world.value(latch)
            if memory.values.get(latch) is None and np.unique(array_of).size > 1:
                yield latch, tuple(moment.epoch_wanting) or ({"why": UNWATCHED},)
