"""The engine: one snapshot under one contract.

normalise → locate → capabilities → elements → unclaimed → states → edge cases → output. Violations
are collected; an output is given only where there are none. There is no fallback and no nearest
match, and no tolerance but the one a contract states.
"""

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

from chartpact.checks import is_whole
from chartpact.clock.walltime import iso
from chartpact.contracts.check import config
from chartpact.contracts.check.config import Setting
from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.elements import INFORMATIONAL, SIGNAL, ElementPlan
from chartpact.contracts.check.generate import NOTES, Key
from chartpact.contracts.check.machines import MachinePlan
from chartpact.contracts.check.outputs import Leaf, Many, Map, Node, One
from chartpact.contracts.check.totality import Combination, MachineRefusal, combination
from chartpact.contracts.language.codecs import MAX_TEXT
from chartpact.contracts.language.nodes import TICK_SIZE
from chartpact.contracts.language.values import Column, Slot
from chartpact.contracts.reading import normalise
from chartpact.contracts.reading.bind import (
    CAUGHT,
    MAX_OBJECTS,
    Bound,
    ReadingEnd,
    ReadingReport,
    bind,
    in_order,
    order_rows,
)
from chartpact.contracts.reading.matching import Matching
from chartpact.contracts.reading.normalise import ChannelRows, Wrong
from chartpact.contracts.reading.result import ChartFacts, Reading, Track
from chartpact.drawing import CAPS, OBJECTS
from chartpact.snapshot import CHANNELS, CHART, FIELDS, Snapshot, Study

# A computed price whose sixteen digits become much fewer at fourteen has rounding dust at its end.
DIGITS, DUST = 14, 3
MAX_COST = 20_000_000
MAX_TRIALS = 8  # settings with which a refused picture is tried, where that is cheap
_NO_SETTING = {"config", "unavailable", "version"}  # what no other setting would mend


def read(
    contract: Contract,
    snapshot: Snapshot,
    overrides: Mapping[str, Any] | None = None,
    profile: str | None = None,
) -> Reading:
    """Reads the snapshot under the contract."""
    # A reading makes many small lists and keeps few; collecting in between only costs time.
    paused = gc.isenabled()
    if paused:
        gc.disable()
    try:
        run = Run(contract, snapshot)
        reading = run.reading(overrides or {}, profile)
        if run.cost > MAX_COST / MAX_TRIALS:
            return reading
        return _name_setting(contract, snapshot, overrides or {}, profile, reading)
    finally:
        if paused:
            gc.enable()


def _name_setting(
    contract: Contract,
    snapshot: Snapshot,
    overrides: Mapping[str, Any],
    profile: str | None,
    reading: Reading,
) -> Reading:
    """A refusal that names the setting, such as the wrong mode, with which it would be read."""
    if reading.ok or {violation.kind for violation in reading.violations} & _NO_SETTING:
        return reading
    trials = [
        (name, option)
        for name, key in contract.file.config.items()
        for option in key.options or ((True, False) if key.type == "bool" else ())
    ]
    fitting = [
        (name, option)
        for name, option in trials[:MAX_TRIALS]
        if Run(contract, snapshot).reading({**overrides, name: option}, profile).ok
    ]
    if len(fitting) != 1:
        return reading
    name, option = fitting[0]
    first = min(reading.violations, key=lambda v: (v.kind, v.path, v.message))
    message = f"{first.message}; with {name} = {json.dumps(option)} it would be read"
    violations = (replace(v, message=message) if v is first else v for v in reading.violations)
    return replace(reading, violations=tuple(violations))


class Run:
    """One reading while it is made."""

    def __init__(self, contract: Contract, snapshot: Snapshot) -> None:
        self.contract, self.snapshot = contract, snapshot
        self.report = ReadingReport(contract.name, contract.version, contract.program.paths)
        self.source = str(snapshot.source["name"])
        self.slots: list[Any] = [None] * len(contract.program.slots)
        self.drawn: dict[str, ChannelRows] = {}
        self.unread: set[str] = set()  # channels whose records are wrong
        self.assumptions: tuple[Setting, ...] = ()
        self.observed: dict[str, Any] = {}  # machine → what it saw
        self.untracked = ""
        self.evicted: dict[str, int] = {}  # element → instances that lost something to a cap
        self.notes: dict[str, str] = {}  # what had to be assumed about the picture
        self.digest = ""
        self.cost = 0.0  # the nodes that it runs, at most
        self.facts = _facts(snapshot)

    def reading(self, overrides: Mapping[str, Any], profile: str | None) -> Reading:
        state: dict[str, Any] | None = None
        tracks: tuple[Track, ...] | None = None
        try:
            self.study = self._locate()
            self.bound = self._bind(overrides, profile)
            self._capabilities()
            self._normalise()
            self._match()
            for machine in self.contract.machines.values():
                self._machine(machine)
            self._edge_cases()
            if not self.report.violations:
                state = without_dust(self._give(self.contract.output, "output"))
            if not self.report.violations and not self.untracked:
                tracks = self._tracks()
        except ReadingEnd:
            pass
        refused = bool(self.report.violations)
        return Reading(
            contract=self.contract.name,
            version=self.contract.version,
            state=None if refused else state,
            violations=tuple(self.report.violations),
            as_of=self.snapshot.chart.get("as_of"),
            source=self.source,
            assumptions=(*self.assumptions, *self._list_notes()),
            warnings=tuple(self.report.warnings),
            undrawn={name: drawn.undrawn for name, drawn in self.drawn.items() if drawn.undrawn},
            tracks=None if refused else tracks,
            untracked="" if refused else self.untracked,
            config=self.digest,
            facts=self.facts,
        )

    def _list_notes(self) -> Iterator[Setting]:
        for key, value in self.notes.items():
            yield Setting(key, value, "source" if value == "unknown" else "chart")
        for name, count in self.evicted.items():
            yield Setting(f"evicted.{name}", count, "cap")

    # ------------------------------------------------------------------------- locate and configure

    def _locate(self) -> Study:
        title, path = self.contract.title, "identity.pine_title"
        studies = self.snapshot.studies
        called = [study for study in studies if study.name == title]
        if not called:
            names = ", ".join(repr(study.name) for study in studies[:10]) or "nothing"
            self.report.add("missing", path, f"no study is called {title!r}; there is: {names}")
        elif len(called) > 1:
            message = f"{len(called)} studies are called {title!r}; keep one of them"
            self.report.add("duplicate", path, message)
        else:
            self.facts = _facts(self.snapshot, called[0])
            self._check_version(called[0])
            self._note_history()
        if self.report.violations:
            raise ReadingEnd
        return called[0]

    def _note_history(self) -> None:
        if self.contract.file.history == "loaded":
            first = self.facts.first_time
            self.notes["history_from"] = "unknown" if first is None else iso(first)

    def _check_version(self, study: Study) -> None:
        versions, path = self.contract.file.identity.script_versions, "identity.script_versions"
        if versions is None:
            return
        if "version" not in study.data:
            self._unavailable(path, "does not deliver the script's version", "version")
            return
        known, version = list(map(str, versions)), study.data["version"]
        if version is None or str(version) not in known:
            message = f"the script has version {version}; known: {', '.join(known)}"
            self.report.add("version", path, message)

    def _bind(self, overrides: Mapping[str, Any], profile: str | None) -> Bound:
        contract, chart = self.contract, self.snapshot.chart
        settings, faults = config.resolve(
            contract.keys, contract.file.profiles, overrides, profile, self.study.inputs, chart
        )
        self.assumptions = tuple(
            setting
            for name, setting in settings.items()
            if setting.origin != "caller" and name in contract.file.config
        )
        if not faults:
            bound = bind(contract, {name: setting.value for name, setting in settings.items()})
            faults = list(bound.faults)
        for fault in faults:
            self.report.add("config", fault.path or "config", fault.message)
        if faults:
            raise ReadingEnd
        places = contract.program.slots
        for name in CHART:
            if (slot := places.get(Slot("chart", name))) is not None:
                self.slots[slot] = (
                    _last_closed_bar(chart) if name == "last_bar" else chart.get(name)
                )
        if NOTES in places:
            self.slots[places[NOTES]] = self.notes
        self.digest = bound.digest
        return bound

    # ----------------------------------------------------------------- capabilities and normalising

    def _capabilities(self) -> None:
        for channel, role in self.contract.file.channels.items():
            if role == SIGNAL:
                self._check_channel(channel)
        step, chart = self.snapshot.source.get("price_step"), self.snapshot.chart
        tick = self.bound.values.get(TICK_SIZE) or chart.get("tick_size")
        if tick is not None and step is not None and step > tick / 2:
            path = "config.tick_size" if TICK_SIZE in self.contract.file.config else "config"
            message = f"rounds prices to {step:g}, more than half a tick of {tick:g}"
            self._unavailable(path, message, "price_step")
        if self.report.violations:
            raise ReadingEnd
        for need in chain.from_iterable(self.contract.tracking.values()):
            if not self.untracked and not self._delivers(need):
                self.untracked = f"the source {self.source!r} does not deliver {need}"

    def _check_channel(self, channel: str) -> None:
        path = f"channels.{channel}"
        if self.study.records(channel) is None:
            # Reports each missing field if the source declares its fields.
            declared = channel in (self.snapshot.source.get("fields") or {})
            needs = self.contract.needs[channel] if declared else ()
            for field in map(str, needs or (channel,)):
                self._unavailable(path, f"cannot read {field}", field, channel)
            return
        for need in self.contract.needs[channel]:
            if not self._delivers(need):
                self._unavailable(path, f"does not deliver {need}", str(need), channel)
        if channel in self.study.truncated:
            self._unavailable(path, f"left some {channel} out", channel, channel)

    def _delivers(self, need: Column) -> bool:
        return self.snapshot.delivers(need.channel, need.name, self.study)

    def _unavailable(self, path: str, lack: str, field: str, channel: str = "") -> None:
        tool = (self.snapshot.source.get("tools") or {}).get(channel)
        by = f" ({tool})" if tool else ""
        self.report.add("unavailable", path, f"the source {self.source!r}{by} {lack}", field=field)

    def _normalise(self) -> None:
        costs = self.contract.costs
        for channel in CHANNELS:
            records = self.study.records(channel) or ()
            if self.contract.file.role(channel) is None:
                drawn = normalise.rows(channel, records, (), {})
                for record in drawn.records if isinstance(drawn, ChannelRows) else records:
                    message = f"the contract knows no {channel}, yet this is drawn"
                    self.report.add("unexpected", "channels", message, [record])
            elif channel in costs:
                self.cost += len(records) * costs[channel] + self._text_cost(channel, records)
                if self.cost > MAX_COST:
                    message = f"{len(records)} {channel} are more than can be read at once"
                    self.report.add("unavailable", f"channels.{channel}", message, field=channel)
                    raise ReadingEnd
                self._rows(channel, records)

    def _text_cost(self, channel: str, records: Sequence[Any]) -> float:
        """The nodes that patterns and decoded lists count for: by the bytes of the texts."""
        cost = self.bound.text_costs.get(channel)
        if not cost:
            return 0.0
        needed = {need.field for need in self.contract.needs[channel]}
        fields = [name for name in needed if FIELDS[channel][name].kind == "text"]
        texts = (
            record.get(name) for record in records if isinstance(record, Mapping) for name in fields
        )
        return cost * sum(_bytes(text) for text in texts if isinstance(text, str))

    def _rows(self, channel: str, records: Sequence[Any]) -> None:
        contract, needs = self.contract, self.contract.needs[channel]
        besides = dict.fromkeys((*contract.tracking[channel], *contract.optional[channel]))
        wanted = (*needs, *(need for need in besides if self._delivers(need)))
        rows = self._take_rows(channel, records, wanted)
        if not isinstance(rows, ChannelRows) and wanted != needs:
            again = self._take_rows(channel, records, needs)
            if isinstance(again, ChannelRows):  # only following, or the age, lacks something
                self.untracked, rows = self.untracked or rows[0].message, again
        if isinstance(rows, ChannelRows):
            self.drawn[channel] = rows
            return
        self.unread.add(channel)
        self.report.warn = self.contract.file.role(channel) == INFORMATIONAL
        for wrong in rows:
            field = f"{channel}.{wrong.field}" if wrong.field else channel
            path = f"channels.{channel}"
            self.report.add("malformed", path, wrong.message, [wrong.record], field)
        self.report.warn = False

    def _take_rows(
        self, channel: str, records: Sequence[Any], wanted: Sequence[Column]
    ) -> ChannelRows | list[Wrong]:
        known = set(wanted)
        if self.contract.file.role(channel) == INFORMATIONAL:
            known = {need for need in wanted if self._delivers(need)}
        columns = self.contract.program.columns.get(channel, {})
        needed = {column: needs for column, needs in columns.items() if needs <= known}
        return normalise.rows(channel, records, columns, needed)

    # ------------------------------------------------------------------------ elements and machines

    def _match(self) -> None:
        drawn, caps = self.facts.drawn, self.facts.caps
        full = {channel for channel, cap in caps.items() if drawn.get(channel, 0) >= cap}
        self.matching = Matching(
            self.bound, self.drawn, self.slots, self.report, not self.untracked, full
        )
        for element in self.contract.elements.values():
            lacking = self._lacking(element)
            if lacking is not None and self.study.records(element.channel) is not None:
                self.report.warn = True
                lack = f"does not deliver {lacking}, so this is left empty"
                path, field = f"elements.{element.name}", str(lacking)
                self._unavailable(path, lack, field, element.channel)
            self.matching.run(element, lacking is not None or element.channel in self.unread)
        self.matching.check_claims()
        self.untracked = self.untracked or self.matching.untracked
        self.evicted = dict(self.matching.evicted)

    def _lacking(self, element: ElementPlan) -> Column | None:
        """The first column that an informational element needs and the source does not deliver."""
        needs = self.contract.element_needs[element.name] if element.role == INFORMATIONAL else ()
        unreadable = self.study.records(element.channel) is None
        lacking = (need for need in needs if not self._delivers(need))
        return next(iter(needs if unreadable else lacking), None)

    def _machine(self, machine: MachinePlan) -> None:
        """Runs a machine: once, or for each instance, which keeps what is decided about it."""
        name, failed = machine.name, self.matching.failed
        if machine.uses & failed:
            failed.add(name)
            return
        element = self.contract.elements.get(machine.element or "")
        observed = self._run(("observe", name), element, f"states.{name}")
        self.observed[name] = observed
        if observed is None:
            failed.add(name)
        elif element is None:
            row = machine.table[observed]
            if type(row[0]) is MachineRefusal:
                absent = [name for name in sorted(machine.uses) if not self.instances_of(name)]
                self._refuse(machine, observed, self._behind(machine.uses), absent)
                failed.add(name)
            else:
                self.slots[self.contract.program.slots[Slot("machine", name)]] = row
        else:
            at, table = element.row, machine.table
            for instance, values in zip(self.matching.instances[name], observed, strict=True):
                row = instance[at] = table[values]
                if type(row[0]) is MachineRefusal:
                    self._refuse(machine, values, self.matching.behind(element, [instance]))
                    failed |= {name, element.name}

    def _refuse(
        self,
        machine: MachinePlan,
        observed: Combination,
        objects: Sequence[Any],
        absent: Sequence[str] = (),
    ) -> None:
        shown = combination(machine.observed, observed)
        plans = [self.contract.elements[name] for name in absent]
        near = "".join(map(self.matching.near.nearest, plans))
        for refusal in machine.table[observed]:
            message = f"{refusal.say} ({shown})" if refusal.say else shown
            path = f"states.{machine.name}.rows.{refusal.name}"
            self.report.add(refusal.kind, path, message + near, objects)

    def instances_of(self, name: str) -> Sequence[Any]:
        """The instances of an element; a machine counts as there."""
        return self.matching.instances.get(name, [None])

    def _behind(self, names: Iterable[str]) -> list[Any]:
        """The records of which elements, and the elements that machines look at, are made."""
        elements, pending = set[str](), [*names]
        while pending:
            name = pending.pop()
            if name in self.contract.elements:
                elements.add(name)
            elif name in self.contract.machines:
                pending += self.contract.machines[name].uses
        records: dict[int, Any] = {}
        for plan in (self.contract.elements[name] for name in sorted(elements)):
            behind = self.matching.behind(plan, self.matching.instances[plan.name][:MAX_OBJECTS])
            records |= {id(record): record for record in behind}
        return list(records.values())

    def _run(self, key: Key, element: ElementPlan | None, path: str) -> Any:
        """Runs a function of the reading, or of each instance; None where it was refused."""
        run = self.bound.functions[key]
        if element is not None:
            return self.matching.each_instance(run, element, path)
        try:
            return run(self.slots)
        except CAUGHT as error:
            self.report.trouble(error, path)
            return None

    def _edge_cases(self) -> None:
        for edge in self.contract.edges.values():
            if edge.spec.violation == "config" or edge.uses & self.matching.failed:
                continue
            path, say = f"edge_cases.{edge.name}", edge.spec.say or edge.name.replace("_", " ")
            element = self.contract.elements.get(edge.spec.each or "")
            result = self._run(("edge", edge.name), element, path)
            if element is None and result:
                self.report.add(edge.spec.violation, path, say, self._behind(edge.uses))
            elif element is not None:
                for instance in result or ():
                    about = self.matching.behind(element, [instance])
                    self.report.add(edge.spec.violation, path, say, about)

    # -------------------------------------------------------------------------------------- output

    def _give(self, node: Node, path: str) -> Any:
        if isinstance(node, Leaf):
            return self._run(node.place, None, path)
        if isinstance(node, Map):
            items = node.items.items()
            return {name: self._give(inner, f"{path}.{name}") for name, inner in items}
        assert isinstance(node, One | Many)
        rows = self._run(node.place, self.contract.elements[node.element], path) or []
        if isinstance(node, One):
            return rows[0][2] if rows else None
        if node.split is None:
            return in_order(rows)
        lists: dict[str, list[Any]] = {name: [] for name in node.lists}
        for _, name, value in order_rows(rows):
            lists[name].append(value)
        return lists

    def _tracks(self) -> tuple[Track, ...] | None:
        try:
            return tuple(chain.from_iterable(map(self._follow, self.contract.machines.values())))
        except CAUGHT as error:
            self.untracked = str(error)
            return None

    def _follow(self, machine: MachinePlan) -> Iterator[Track]:
        epoch = self.bound.functions.get(("epoch", machine.name))
        if machine.element is None:
            state = self.slots[self.contract.program.slots[Slot("machine", machine.name)]][0]
            yield Track(machine.name, (), state, epoch(self.slots) if epoch else None)
            return
        element = self.contract.elements[machine.element]
        made, keys = self.matching.instances[element.name], self.matching.keys[element.name]
        epochs = epoch(made, self.slots) if epoch else [None] * len(made)
        states = [instance[element.row][0] for instance in made]
        places = OBJECTS[element.channel].places if element.channel in OBJECTS else ()
        times = [_earliest(self.matching.behind(element, [one]), places) for one in made]
        name = repeat(machine.name, len(made))
        yield from map(Track._make, zip(name, keys, states, epochs, times, strict=True))


def without_dust(value: Any) -> Any:
    """A state whose computed prices have the digits of their sources: 1.07822, not …20000000002.

    >>> without_dust({"low": 1.0782200000000002, "times": [1_710_475_200_000]})
    {'low': 1.07822, 'times': [1710475200000]}
    """
    if isinstance(value, float):
        short = float(f"{value:.{DIGITS}g}")
        return short if len(repr(short)) + DUST < len(repr(value)) else value
    if isinstance(value, dict):
        return {name: without_dust(item) for name, item in value.items()}
    return [without_dust(item) for item in value] if isinstance(value, list) else value


def _facts(snapshot: Snapshot, study: Study | None = None) -> ChartFacts:
    chart, data = snapshot.chart, study.data if study is not None else {}
    counts = {name: len(data[name]) for name in CHANNELS if data.get(name) is not None}
    script = data.get("version")
    return ChartFacts(
        str(chart["symbol"]),
        str(chart["timeframe"]),
        chart.get("confirmed") is True,
        chart.get("first_time"),
        chart.get("last_time"),
        chart.get("previous_time"),
        None if script is None else str(script),
        counts,
        {name: cap for name, cap in data.get("limits", {}).items() if name in CAPS},
    )


def _bytes(text: str) -> int:
    """The length in UTF-8; what is too long is refused before it is matched."""
    return len(text) if text.isascii() else len(text[:MAX_TEXT].encode("utf-8", "replace"))


def _last_closed_bar(chart: Mapping[str, Any]) -> int | None:
    """The number of the last closed bar: while a bar forms, the one before it."""
    last: int | None = chart.get("last_bar")
    return last - 1 if last is not None and chart.get("confirmed") is False else last


def _earliest(records: Sequence[Any], places: Sequence[str]) -> int | None:
    """The earliest time at which one of the records is drawn."""
    anchors = [record.get(place) for record in records for place in places]
    times: list[int] = [
        at["time"] for at in anchors if isinstance(at, Mapping) and is_whole(at.get("time"))
    ]
    return min(times, default=None)
