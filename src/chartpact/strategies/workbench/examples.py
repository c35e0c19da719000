"""Examples beside a strategy: steps of what the inputs say, and what must be decided at the end.

A step changes what it names, and the rest stays as in the step before: `chart` and `inputs`, each
`{"state": …}`, `{"violations": […]}`, "stale" or "missing". Every step is a closed bar that follows
on the one before, unless it says `"gap": true`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from chartpact.clock.timeframe import DAY, Timeframe
from chartpact.clock.zones import wall, zone
from chartpact.contracts import Violation
from chartpact.contracts.language.nodes import ListNode, walk
from chartpact.contracts.language.values import Kind
from chartpact.contracts.reading.result import ChartFacts
from chartpact.snapshot import SnapshotError, parse_json
from chartpact.strategies.decision import LatchMemory, StrategyDecision, decide
from chartpact.strategies.moment import MISSING, OK, REFUSED, STALE, InputState, bind, look
from chartpact.strategies.strategy import Strategy, otherwise_takes

_KEYS = {"about", "config", "profile", "steps", "expect"}
_STEP_KEYS = {"chart", "now", "inputs", "gap"}
_EXPECTED = {"state", "blocked_by", "score", "unknown"}
MOST_STEPS = 300
TICK = 0.25  # where a chart tells none

Json = Any
Names = tuple[str, ...]


class ExampleError(ValueError):
    """A file that is no example."""


@dataclass(frozen=True)
class ExampleStep:
    """One closed bar: the chart and the inputs as they stand then."""

    chart: Mapping[str, Json]
    inputs: Mapping[str, Json]
    gap: bool = False


@dataclass(frozen=True)
class StrategyExample:
    """Steps of what the inputs say, and what is expected at the end."""

    name: str
    steps: tuple[ExampleStep, ...]
    expect: Mapping[str, Json]
    config: Mapping[str, Any] | None = None
    profile: str | None = None
    about: str = ""

    def run(self, strategy: Strategy) -> Iterator[StrategyDecision]:
        """The decision at each step."""
        memory: LatchMemory | None = None
        before: int | None = None
        for step in self.steps:
            bound = bind(strategy, self.config, self.profile, step.chart)
            last = step.chart.get("last_time")
            facts = ChartFacts(
                str(step.chart.get("symbol", "")),
                str(step.chart.get("timeframe", "")),
                step.chart.get("confirmed", True) is True,
                last_time=last,
                previous_time=None if before is None else before - step.gap,
            )
            inputs = {
                name: _input(strategy, name, written)
                for name, written in step.inputs.items()
                if name in strategy.contracts
            }
            decision = decide(look(bound, inputs, step.chart, facts, "an example"), memory)
            memory, before = decision.memory, last
            yield decision

    def answer(self, strategy: Strategy) -> "ExampleAnswer":
        """What is decided at the last step."""
        *_, last = self.run(strategy)
        return ExampleAnswer.of(last)


@dataclass(frozen=True)
class ExampleAnswer:
    """The part of a decision that examples speak of."""

    state: Mapping[str, str | None]
    blocked_by: frozenset[str]
    perhaps_blocked_by: frozenset[str]
    score: Mapping[str, Json]
    unknown: Mapping[str, tuple[str, ...]]
    perhaps: frozenset[str]

    @classmethod
    def of(cls, decision: StrategyDecision) -> "ExampleAnswer":
        return cls(
            decision.state,
            frozenset(decision.blocked_by),
            frozenset(decision.perhaps_blocked_by),
            decision.score.to_json(),
            {one.table: one.could_be for one in decision.unknown},
            frozenset(decision.perhaps),
        )

    def difference(self, expect: Mapping[str, Json]) -> str | None:
        """How this differs from what is expected, or nothing; only what is named is compared."""
        for table, row in expect.get("state", {}).items():
            if self.state.get(table) != row:
                return f"{table} is {self.state.get(table)}, not {row}"
        if "blocked_by" in expect and {*expect["blocked_by"]} != self.blocked_by:
            found = ", ".join(sorted(self.blocked_by)) or "nothing"
            return f"blocked by {found}, not by {', '.join(expect['blocked_by']) or 'nothing'}"
        score = expect.get("score", {})
        score = score if isinstance(score, Mapping) else {"low": score, "high": score}
        for word, value in score.items():
            if self.score.get(word) != value:
                return f"the score's {word} is {self.score.get(word)}, not {value}"
        if "unknown" in expect:
            wanted = {name: tuple(sorted(rows)) for name, rows in expect["unknown"].items()}
            if wanted != dict(self.unknown):
                shown = {name: list(rows) for name, rows in self.unknown.items()}
                return f"unknown is {json.dumps(shown)}, not {json.dumps(expect['unknown'])}"
        return None


def _input(strategy: Strategy, name: str, written: Json) -> InputState:
    contract = strategy.contracts[name]
    if isinstance(written, str):
        return InputState(contract.name, contract.version, written)
    if "violations" in written:
        violations = tuple(
            Violation(one["kind"], one["path"], "", contract.name, contract.version)
            for one in written["violations"]
        )
        return InputState(contract.name, contract.version, REFUSED, violations=violations)
    return InputState(contract.name, contract.version, OK, state=written["state"])


# -------------------------------------------------------------------------------------------- files


def load_example(path: Path) -> StrategyExample:
    """The example in a file: `{about?, config?, profile?, steps, expect}`."""
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (SnapshotError, OSError, UnicodeDecodeError) as error:
        raise ExampleError(f"{path.name}: {error}") from None
    return parse_example(path.stem, data)


def parse_example(name: str, data: Json) -> StrategyExample:
    if not isinstance(data, dict) or not {"steps", "expect"} <= data.keys() <= _KEYS:
        known = ", ".join(sorted(_KEYS))
        raise ExampleError(f"{name}: an example has steps and expect; it may have {known}")
    expect = data["expect"]
    if not isinstance(expect, dict) or "state" not in expect or not expect.keys() <= _EXPECTED:
        raise ExampleError(
            f"{name}: expect has a state; it may have {', '.join(sorted(_EXPECTED))}"
        )
    written = data["steps"]
    if not isinstance(written, list) or not 1 <= len(written) <= MOST_STEPS:
        raise ExampleError(f"{name}: steps is a list of 1 to {MOST_STEPS} steps")
    steps: list[ExampleStep] = []
    for n, one in enumerate(written, start=1):
        if not isinstance(one, dict) or not one.keys() <= _STEP_KEYS:
            known = ", ".join(sorted(_STEP_KEYS))
            raise ExampleError(f"{name}: step {n} is a mapping of some of {known}")
        before = steps[-1] if steps else ExampleStep({}, {})
        steps.append(_step(f"{name}: step {n}", one, before))
    config, profile = data.get("config"), data.get("profile")
    return StrategyExample(name, tuple(steps), expect, config, profile, str(data.get("about", "")))


def _step(where: str, written: Mapping[str, Json], before: ExampleStep) -> ExampleStep:
    inputs = written.get("inputs", {})
    for name, one in inputs.items():
        words = one.keys() if isinstance(one, dict) else {one}
        if words not in ({"state"}, {"violations"}, {STALE}, {MISSING}):
            forms = '{"state": …}, {"violations": […]}, "stale" or "missing"'
            raise ExampleError(f"{where}: the input {name} is {forms}")
    chart = {**before.chart, **written.get("chart", {})}
    try:
        step = Timeframe.parse(chart["timeframe"]).ms
    except (KeyError, ValueError):
        raise ExampleError(f"{where}: chart.timeframe is missing, or none") from None
    if "now" in written:
        chart["last_time"] = written["now"] - step
    elif "last_time" in before.chart and "last_time" not in written.get("chart", {}):
        chart["last_time"] = before.chart["last_time"] + step
    return ExampleStep(chart, {**before.inputs, **inputs}, bool(written.get("gap")))


def load_all(folder: Path) -> list[StrategyExample]:
    """Every example in a folder, by name."""
    return [load_example(path) for path in sorted(folder.glob("*.json"))]


# ----------------------------------------------------------------------------------------- coverage


def unshown(strategy: Strategy, examples: Sequence[StrategyExample]) -> list[str]:
    """What no example shows: rows, blocks, factors, grades, latches, windows, and leaves."""
    shown: set[str] = set()
    for example in examples:
        shown |= _shown(strategy, list(example.run(strategy)))
    lacking = [one for one in _to_show(strategy) if one not in shown]
    return [*lacking, *_unshown_leaves(strategy, examples)]


def _to_show(strategy: Strategy) -> Iterator[str]:
    file = strategy.file
    for name, table in file.tables.items():
        yield from (f"tables.{name}.rows.{row}" for row in table.rows)
    for section in ("blocks", "factors"):
        for name in getattr(file, section):
            yield from (f"{section}.{name} {verdict}" for verdict in ("true", "false"))
    yield from (f"grades.{grade}" for grade in file.grades)
    for name in file.latches:
        for what in ("set", "kept", "reset") if file.epoch is not None else ("set", "kept"):
            yield f"latches.{name} {what}"
    for name in file.windows:
        yield from (f"windows.{name} {end}" for end in ("begins", "ends"))
    for name in file.tables:
        rest = otherwise_takes(strategy, name)
        if rest is not None:
            yield f"tables.{name}.rows.{rest[0]}"


def _shown(strategy: Strategy, decisions: Sequence[StrategyDecision]) -> set[str]:
    last, file = decisions[-1], strategy.file
    shown = {f"tables.{name}.rows.{row}" for name, row in last.state.items()}
    shown.add(f"grades.{last.score.grade}")
    for section, sure, perhaps in (
        ("blocks", last.blocked_by, last.perhaps_blocked_by),
        ("factors", last.factors, last.perhaps),
    ):
        for name in getattr(file, section):
            if name not in perhaps:
                shown.add(f"{section}.{name} {'true' if name in sure else 'false'}")
    for before, after in pairwise(decisions):
        for name in file.latches:
            was, now = before.memory.values[name], after.memory.values[name]
            step = {(False, True): "set", (True, True): "kept", (True, False): "reset"}
            shown.add(f"latches.{name} {step.get((bool(was), bool(now)))}")
    close, bar = last.moment.now, Timeframe.parse(last.moment.chart.timeframe).ms
    for name, (where, hours) in strategy.windows.items():
        if close is not None:
            is_open, was_open = (hours.contains(_wall(where, at)) for at in (close, close - bar))
            if is_open != was_open:
                shown.add(f"windows.{name} {'begins' if is_open else 'ends'}")
    return shown


def _wall(where: str, time: int) -> Any:
    return wall(zone(where), np.array([time]))


# ------------------------------------------------------------------------------------------- leaves


@dataclass(frozen=True)
class InputLeaf:
    """A field of an input's state that a fact looks at; `*` stands for each of a list."""

    path: Names
    kind: Kind

    def __str__(self) -> str:
        return ".".join(self.path)


def leaves(strategy: Strategy) -> list[InputLeaf]:
    """The fields of inputs that facts look at."""
    found: dict[Names, InputLeaf] = {}
    for rule in strategy.facts.values():
        lists = [node for node in rule.nodes if isinstance(node, ListNode)]
        inside: dict[int, Names] = {}
        for node in lists:
            if node.attached is not None:
                for part in filter(None, (node.item, node.test)):
                    inside |= dict.fromkeys(map(id, walk(part)), (*node.attached.names, "*"))
        for mention in rule.mentions:
            path = mention.names
            of_item = path[0] not in (*strategy.contracts, "chart") and len(path) > 1
            if id(mention) in inside and of_item:
                path = (*inside[id(mention)], *path[1:])
            if path[0] in strategy.contracts and mention.value.element is None:
                found[path] = InputLeaf(path, mention.value.kind)
    return list(found.values())


def _unshown_leaves(strategy: Strategy, examples: Sequence[StrategyExample]) -> Iterator[str]:
    """The inputs whose loss, and the fields whose change, no example shows to matter."""
    for name in strategy.contracts:
        for health in ("refused", STALE, MISSING):
            lost: Json = {"violations": []} if health == REFUSED else health
            if not _matters(strategy, examples, name, lambda _, lost=lost: [lost]):
                yield f"inputs.{name} {health}"
    for leaf in leaves(strategy):
        if not _matters(strategy, examples, leaf.path[0], _Changes(leaf)):
            yield f"inputs.{leaf}"


def _matters(
    strategy: Strategy, examples: Sequence[StrategyExample], name: str, change: Any
) -> bool:
    """Whether a change of one input at the last step changes the answer of an example."""
    for example in examples:
        last = example.steps[-1]
        if name not in last.inputs:
            continue
        answer = example.answer(strategy)
        for changed in change(last):
            step = replace(last, inputs={**last.inputs, name: changed})
            other = replace(example, steps=(*example.steps[:-1], step))
            if other.answer(strategy) != answer:
                return True
    return False


class _Changes:
    """The ways to change one field of an input."""

    def __init__(self, leaf: InputLeaf) -> None:
        self.leaf = leaf

    def __call__(self, step: ExampleStep) -> Iterator[Json]:
        written = step.inputs[self.leaf.path[0]]
        if not isinstance(written, dict) or "state" not in written:
            return
        for changed in _change(written["state"], self.leaf.path[1:], self._values(step)):
            yield {"state": changed}

    def _values(self, step: ExampleStep) -> Any:
        kind, chart = self.leaf.kind, step.chart
        tick, bar = chart.get("tick_size") or TICK, Timeframe.parse(chart["timeframe"]).ms

        def values(old: Json) -> Iterable[Json]:
            options: list[Json] = [None] if kind.nullable else []
            if kind.name == "bool":
                options += [True, False]
            elif kind.name == "enum":
                options += kind.names
            elif kind.name == "time":
                now = chart.get("last_time", 0) + bar
                times = [now, *([old] if old is not None else [])]
                options += [at + d for at in times for d in (1, -1, bar, -bar, -3_600_000, -DAY)]
            elif kind.name == "number":
                prices = [chart.get("last_price", 0.0), *([old] if old is not None else [])]
                options += [at + d * tick for at in prices for d in (0, 1, -1, 400, -400)]
            else:
                options += ["another"]
            return [value for value in options if value != old]

        return values


def _change(data: Json, path: Names, values: Any) -> Iterator[Json]:
    """The data with the value at a path changed in every way, one place at a time."""
    if not path:
        yield from values(data)
    elif path[0] == "*" and isinstance(data, list):
        for n, item in enumerate(data):
            for changed in _change(item, path[1:], values):
                yield [*data[:n], changed, *data[n + 1 :]]
    elif isinstance(data, dict) and path[0] in data:
        for changed in _change(data[path[0]], path[1:], values):
            yield {**data, path[0]: changed}
