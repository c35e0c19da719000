"""What a study is about: an indicator, and the events that can be dated on its pictures.

A subject is asked about prefixes of the bars. Signals stand in every picture since they were drawn.
Records of a pact's contract leave a picture when there are too many, so they are read backwards: at
the last bar, at the bar of the oldest record, and so on. Changes of a state machine stand in no
picture, and are found by replaying the bars, one reading a bar.

Whatever decides something on each bar, such as a strategy, becomes a subject by the same methods.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from chartpact import charts, contracts
from chartpact._version import VERSION
from chartpact.bars import Bars
from chartpact.catalogue import PACT, Plan, ScriptIndicator
from chartpact.charts import Chart
from chartpact.contracts import Contract, Reading
from chartpact.needs import Fetch, cut_supply
from chartpact.problem import Failure, did_you_mean
from chartpact.scene import Scene
from chartpact.scene.plots import DotPlot
from chartpact.studies.errors import StudyError, refuse

LONG, SHORT = 1, -1
SIDES = {"long": LONG, "short": SHORT}
MOST_REPLAYED = 3000  # bars, unless all of them are asked for
_DIRECTIONS = {"bullish": LONG, "bearish": SHORT}

Progress = Callable[[float], None]  # takes the share that is done


class StudyEvent(NamedTuple):
    """Something that is drawn at one bar and known since the close of another."""

    known: int
    bar: int
    name: str


class Subject(Protocol):
    """What is studied; its events have directions of their own, by name, or none."""

    plan: Plan
    sides: Mapping[str, int]
    checked: bool  # its events have to be checked on prefixes

    def scene(self, bars: Bars) -> Scene:
        """The picture of these bars."""

    def history(self, bars: Bars, progress: Progress) -> list[StudyEvent]:
        """Every event on these bars, in the order in which they became known."""

    def standing(self, bars: Bars) -> set[StudyEvent]:
        """The events that the one picture of these bars shows."""

    def provisional(self, bars: Bars) -> set[str]:
        """The names of events that are drawn on forming bars."""


def find(plan: Plan, states: Sequence[str], fetch: Fetch, whole: bool) -> Subject:
    """The subject of a planned indicator: its states where some are named, else its events."""
    if plan.problem is not None:
        raise Failure(plan.problem)
    fetch = cache(fetch)
    indicator = plan.indicator
    pact = getattr(indicator, "source", "") == PACT
    if states and not pact:
        raise StudyError("value", f"{plan.name} has no states", "states are those of a pact")
    if not pact:
        return SignalSubject(plan, fetch)
    contract = contracts.find(plan.name)
    if states:
        return StateSubject(plan, fetch, contract, tuple(states), whole)
    if not contract.file.events:
        machines = [f"{m}={row}" for m, row in _state_names(contract)]
        hint = f"study a change of its state, such as {machines[0]}" if machines else ""
        raise refuse("undated", f"{plan.name} dates none of what it draws", hint)
    return RecordSubject(plan, fetch, contract)


def digest(plan: Plan) -> str:
    """What identifies the code of an indicator."""
    indicator = plan.indicator
    code = indicator.code if isinstance(indicator, ScriptIndicator) else f"{plan.name} {VERSION}"
    return hashlib.sha256(code.encode()).hexdigest()


@dataclass
class SignalSubject:
    """The signals of an indicator: labelled dots, with the bar that confirms each."""

    plan: Plan
    fetch: Fetch
    sides: Mapping[str, int] = field(default_factory=dict)
    checked: bool = True

    def chart(self, bars: Bars) -> Chart:
        """The indicator on these bars, with what there was of its supplies."""
        chart = charts.draw(bars, [self.plan], None, lambda n: cut_supply(self.fetch(n), bars))
        if (problem := chart.drawn[0].error) is not None:
            raise Failure(problem)
        return chart

    def scene(self, bars: Bars) -> Scene:
        scene = self.chart(bars).drawn[0].scene
        assert scene is not None
        return scene

    def history(self, bars: Bars, progress: Progress) -> list[StudyEvent]:
        progress(1.0)
        return sorted(self.standing(bars))

    def standing(self, bars: Bars) -> set[StudyEvent]:
        return {
            StudyEvent(signal.confirmed_bar, signal.bar, signal.name)
            for signal in self.scene(bars).signals
            if signal.confirmed_bar < len(bars)
        }

    def provisional(self, bars: Bars) -> set[str]:
        plots = self.scene(bars).plots
        dots = [plot for plot in plots if isinstance(plot, DotPlot) and plot.provisional]
        return {name for plot in dots for name in plot.columns.label if name is not None}


class RecordSubject(SignalSubject):
    """The output lists of a pact's contract that are events."""

    def __init__(self, plan: Plan, fetch: Fetch, contract: Contract) -> None:
        lists = contract.file.events.values()
        sides = {name: SIDES[side] for events in lists for side, name in events.directions()}
        super().__init__(plan, fetch, sides)
        self.contract = contract

    def read(self, bars: Bars) -> Reading:
        """What the contract reads on these bars."""
        return contracts.read(self.contract, self.chart(bars).snapshot())

    def history(self, bars: Bars, progress: Progress) -> list[StudyEvent]:
        events: set[StudyEvent] = set()
        size = len(bars)
        while True:
            standing = self.standing(bars[:size])
            events |= standing
            oldest = min(standing).known + 1 if standing else 0
            progress(1 - oldest / len(bars))
            if not 0 < oldest < size:  # nothing older, or all of it of one bar
                return sorted(events)
            size = oldest

    def standing(self, bars: Bars) -> set[StudyEvent]:
        reading = self.read(bars)
        if reading.state is None:
            why = f"on {len(bars):,} bars its contract refuses the picture"
            raise StudyError("violation", f"{why}: {reading.violations[0]}")
        return set(self._events(reading, bars))

    def _events(self, reading: Reading, bars: Bars) -> Iterator[StudyEvent]:
        assert reading.state is not None
        for key, events in self.contract.file.events.items():
            for record in reading.state[key]:
                times = (record[events.known], record[events.time])
                if None not in times:
                    known, bar = (np.searchsorted(bars.time, times, "right") - 1).tolist()
                    yield StudyEvent(
                        known, bar, " ".join(str(record[word]) for word in events.name)
                    )


class StateSubject(RecordSubject):
    """Rows of a contract's machines: each entry into one, found by a reading of every bar."""

    def __init__(
        self, plan: Plan, fetch: Fetch, contract: Contract, states: Sequence[str], whole: bool
    ) -> None:
        super().__init__(plan, fetch, contract)
        self.checked = False  # every bar is read on its own prefix
        self.whole = whole
        self.wanted = {_read_state(contract, text): text for text in states}
        self.sides = {
            f"{machine}={row}": side for (machine, row, side) in self.wanted if side is not None
        }

    @cached_property
    def _rows(self) -> set[tuple[str, str]]:
        return {(machine, row) for machine, row, _ in self.wanted}

    def history(self, bars: Bars, progress: Progress) -> list[StudyEvent]:
        events: list[StudyEvent] = []
        before: dict[tuple[str, Any], tuple[str, Any]] | None = None
        first = 0 if self.whole else max(0, len(bars) - MOST_REPLAYED)
        for bar in range(first, len(bars)):
            progress((bar - first) / (len(bars) - first))
            reading = self.read(bars[: bar + 1])
            if reading.tracks is None:  # nothing is known of this bar
                continue
            now = {(t.machine, t.key): (t.state, t.epoch) for t in reading.tracks}
            for (machine, key), entered in now.items():
                is_new = before is not None and before.get((machine, key)) != entered
                if is_new and (machine, entered[0]) in self._rows:
                    events.append(StudyEvent(bar, bar, f"{machine}={entered[0]}"))
            before = now
        return events


def _state_names(contract: Contract) -> list[tuple[str, str]]:
    machines = contract.file.states.items()
    return [(m, row) for m, spec in machines for row, r in spec.rows.items() if r.violation is None]


def _read_state(contract: Contract, text: str) -> tuple[str, str, int | None]:
    """The machine, the row and the side of `TABLE=ROW[:long|short]`."""
    named, _, side = text.partition(":")
    machine, _, row = named.partition("=")
    known = _state_names(contract)
    if (machine, row) not in known:
        names = [f"{m}={r}" for m, r in known]
        hint = did_you_mean(named, names) or f"states: {', '.join(names[:20])}"
        raise StudyError("name", f"{contract.name} has no state {named!r:.80}", hint)
    if side:
        if side not in SIDES:
            raise StudyError("value", f"state {text:.80}: the side is long or short")
        return machine, row, SIDES[side]
    given = contract.file.states[machine].rows[row].give or {}
    sides = [_DIRECTIONS[value] for value in given.values() if value in _DIRECTIONS]
    return machine, row, sides[0] if sides else None
