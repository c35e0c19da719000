"""The engine: one snapshot under one contract.

normalise → locate → capabilities → elements → unclaimed → states → edge cases → output. Violations
are collected; an output is given only where there are none. There is no fallback and no nearest
match, and no tolerance but the one a contract states.
"""

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from typing import Any

from chartpact.contracts import config, normalise
from chartpact.contracts.bind import Bound, bind
from chartpact.contracts.compile import Contract
from chartpact.contracts.elements import INFORMATIONAL, SIGNAL, ElementCode
from chartpact.contracts.machines import MachineCode, Refusal, combination
from chartpact.contracts.matching import Matching
from chartpact.contracts.normalise import Drawn, Wrong
from chartpact.contracts.outputs import Leaf, Many, Map, Node, One
from chartpact.contracts.reading import Assumption, Reading, Track
from chartpact.contracts.report import CAUGHT, Report, Stop
from chartpact.contracts.scope import Need, Needs
from chartpact.snapshot import CHANNELS, CHART, Snapshot, Study

MAX_COST = 20_000_000


def read(
    contract: Contract,
    snapshot: Snapshot,
    given: Mapping[str, Any] | None = None,
    profile: str | None = None,
) -> Reading:
    """What the snapshot says under the contract."""
    run = Run(contract, snapshot)
    # A reading makes many small lists and keeps few; collecting in between only costs time.
    paused = gc.isenabled()
    if paused:
        gc.disable()
    try:
        return run.reading(given or {}, profile)
    finally:
        if paused:
            gc.enable()


class Run:
    """One reading while it is made."""

    def __init__(self, contract: Contract, snapshot: Snapshot) -> None:
        self.contract, self.snapshot = contract, snapshot
        self.report = Report(contract.name, contract.version, contract.paths)
        self.source = str(snapshot.source["name"])
        self.S: list[Any] = [None] * len(contract.places)
        self.drawn: dict[str, Drawn] = {}
        self.unread: set[str] = set()  # channels whose records are wrong
        self.assumptions: tuple[Assumption, ...] = ()
        self.observed: dict[str, Any] = {}  # machine → what it saw
        self.untracked = ""
        self.digest = ""

    def reading(self, given: Mapping[str, Any], profile: str | None) -> Reading:
        state: dict[str, Any] | None = None
        tracks: tuple[Track, ...] | None = None
        try:
            self.study = self._locate()
            self.bound = self._bind(given, profile)
            self._capabilities()
            self._normalise()
            self._match()
            for machine in self.contract.machines.values():
                self._machine(machine)
            self._edge_cases()
            if not self.report.violations:
                state = self._given(self.contract.output.root, "output")
            if not self.report.violations and not self.untracked:
                tracks = self._tracks()
        except Stop:
            pass
        refused = bool(self.report.violations)
        return Reading(
            contract=self.contract.name,
            version=self.contract.version,
            state=None if refused else state,
            violations=tuple(self.report.violations),
            as_of=self.snapshot.chart.get("as_of"),
            source=self.source,
            assumptions=self.assumptions,
            warnings=tuple(self.report.warnings),
            undrawn={name: each.undrawn for name, each in self.drawn.items() if each.undrawn},
            tracks=None if refused else tracks,
            untracked="" if refused else self.untracked,
            config=self.digest,
        )

    # ------------------------------------------------------------------------- locate and configure

    def _locate(self) -> Study:
        title, path = self.contract.title, "identity.pine_title"
        studies = self.snapshot.studies
        found = [study for study in studies if study.name == title]
        if not found:
            names = ", ".join(repr(study.name) for study in studies[:10]) or "nothing"
            self.report.add("missing", path, f"no study is called {title!r}; there is: {names}")
        elif len(found) > 1:
            told = f"{len(found)} studies are called {title!r}; keep one of them"
            self.report.add("duplicate", path, told)
        else:
            self._check_version(found[0])
        if self.report.violations:
            raise Stop
        return found[0]

    def _check_version(self, study: Study) -> None:
        versions, path = self.contract.file.identity.script_versions, "identity.script_versions"
        if versions is None:
            return
        if "version" not in study.data:
            told = f"the source {self.source!r} does not deliver the script's version"
            self.report.add("unavailable", path, told, field="version")
            return
        known, version = [str(each) for each in versions], study.data["version"]
        if version is None or str(version) not in known:
            told = f"the script has version {version}; known: {', '.join(known)}"
            self.report.add("version", path, told)

    def _bind(self, given: Mapping[str, Any], profile: str | None) -> Bound:
        contract, chart = self.contract, self.snapshot.chart
        settings, faults = config.resolve(
            contract.keys, contract.file.profiles, given, profile, self.study.inputs, chart
        )
        if not faults:
            bound = bind(contract, {name: setting.value for name, setting in settings.items()})
            faults = list(bound.faults)
        for fault in faults:
            self.report.add("config", fault.path, fault.message)
        if faults:
            raise Stop
        self.assumptions = tuple(
            Assumption(name, setting.value, setting.origin)
            for name, setting in settings.items()
            if setting.origin != "caller" and name in contract.file.config
        )
        for name in CHART:
            if (at := contract.places.get(f"ch_{name}")) is not None:
                self.S[at] = chart.get(name)
        self.digest = bound.digest
        return bound

    # ----------------------------------------------------------------- capabilities and normalising

    def _capabilities(self) -> None:
        for channel, role in self.contract.file.channels.items():
            if role == SIGNAL:
                self._check_channel(channel)
        step, chart = self.snapshot.source.get("price_step"), self.snapshot.chart
        tick = self.bound.values.get(config.TICK_SIZE) or chart.get("tick_size")
        if tick is not None and step is not None and step > tick / 2:
            path = "config.tick_size" if config.TICK_SIZE in self.contract.file.config else "config"
            told = f"rounds prices to {step:g}, more than half a tick of {tick:g}"
            self._unavailable(path, told, "price_step")
        if self.report.violations:
            raise Stop
        if chart.get("confirmed") is False:
            self.untracked = "the last bar is not confirmed"
        for needs in self.contract.tracking.values():
            for need in sorted(needs, key=str):
                if not self.untracked and not self.snapshot.delivers(need.channel, need.field):
                    self.untracked = f"the source {self.source!r} does not deliver {need}"

    def _check_channel(self, channel: str) -> None:
        path = f"channels.{channel}"
        if self.study.records(channel) is None:
            self._unavailable(path, f"cannot read {channel}", channel)
            return
        for need in sorted(self.contract.needs[channel], key=str):
            if not self.snapshot.delivers(channel, need.field):
                self._unavailable(path, f"does not deliver {need}", str(need))
        if channel in self.study.truncated:
            self._unavailable(path, f"left some {channel} out", channel)

    def _unavailable(self, path: str, told: str, field: str, warn: bool = False) -> None:
        message = f"the source {self.source!r} {told}"
        self.report.add("unavailable", path, message, field=field, warn=warn)

    def _normalise(self) -> None:
        contract, cost = self.contract, 0
        for channel in CHANNELS:
            records = self.study.records(channel) or ()
            readers = [each for each in contract.elements.values() if each.channel == channel]
            if contract.role(channel) is None:
                self._undeclared(channel, records)
            elif readers:
                cost += len(records) * sum(each.nodes + 1 for each in readers)
                if cost > MAX_COST:
                    told = f"{len(records)} {channel} are more than can be read at once"
                    self.report.add("unavailable", f"channels.{channel}", told, field=channel)
                    raise Stop
                self._rows(channel, records)

    def _undeclared(self, channel: str, records: Sequence[Any]) -> None:
        found = normalise.rows(channel, records, (), frozenset())
        for record in found.records if isinstance(found, Drawn) else records:
            told = f"the contract knows no {channel}, yet this is drawn"
            self.report.add("unexpected", "channels", told, [record])

    def _rows(self, channel: str, records: Sequence[Any]) -> None:
        warn = self.contract.role(channel) == INFORMATIONAL
        needs, tracking = self.contract.needs[channel], self.contract.tracking[channel]
        wanted = needs if self.untracked else needs | tracking
        found = self._taken(channel, records, wanted, warn)
        if not isinstance(found, Drawn) and wanted != needs:
            again = self._taken(channel, records, needs, warn)
            if isinstance(again, Drawn):  # only following lacks something
                self.untracked, found = found[0].message, again
        if isinstance(found, Drawn):
            self.drawn[channel] = found
            return
        self.unread.add(channel)
        for wrong in found:
            field = f"{channel}.{wrong.field}" if wrong.field else channel
            path = f"channels.{channel}"
            self.report.add("malformed", path, wrong.message, [wrong.record], field, warn)

    def _taken(
        self, channel: str, records: Sequence[Any], wanted: Needs, warn: bool
    ) -> Drawn | list[Wrong]:
        fields = {n.field for n in wanted if not warn or self.snapshot.delivers(channel, n.field)}
        columns = self.contract.columns.get(channel, ())
        needed = frozenset(each for each in columns if each.removesuffix(".alpha") in fields)
        return normalise.rows(channel, records, columns, needed)

    # ------------------------------------------------------------------------ elements and machines

    def _match(self) -> None:
        self.found = Matching(self.bound, self.drawn, self.S, self.report, not self.untracked)
        for element in self.contract.elements.values():
            lacking = self._lacking(element)
            if lacking is not None and self.study.records(element.channel) is not None:
                told = f"does not deliver {lacking}, so this is left empty"
                self._unavailable(f"elements.{element.name}", told, str(lacking), warn=True)
            self.found.run(element, lacking is not None or element.channel in self.unread)
        self.found.check_claims()
        self.untracked = self.untracked or self.found.untracked

    def _lacking(self, element: ElementCode) -> Need | None:
        """What an informational element needs and the source cannot tell."""
        if element.role != INFORMATIONAL:
            return None
        unreadable = self.study.records(element.channel) is None
        for need in sorted(element.asked, key=str):
            if unreadable or not self.snapshot.delivers(element.channel, need.field):
                return need
        return None

    def _machine(self, machine: MachineCode) -> None:
        uses = machine.uses | ({machine.element} if machine.element else frozenset())
        path, run = f"states.{machine.name}", self.bound.functions[f"observe_{machine.name}"]
        if uses & self.found.failed:
            self.found.failed.add(machine.name)
        elif machine.element is None:
            self.observed[machine.name] = observed = self._once(run, path)
            row = None if observed is None else self._decide(machine, observed)
            self.S[self.contract.places[f"s_{machine.name}"]] = row
            if row is None:
                self.found.failed.add(machine.name)
        else:
            self._machine_of(machine, self.contract.elements[machine.element], run, path)

    def _machine_of(
        self, machine: MachineCode, element: ElementCode, run: Callable[..., Any], path: str
    ) -> None:
        """A machine that runs for each instance; what it decides is kept in the instance."""
        self.observed[machine.name] = observed = self.found.each_instance(run, element, path)
        if observed is None:
            self.found.failed.add(machine.name)
            return
        at, table = element.row, machine.table
        for instance, each in zip(self.found.instances[element.name], observed, strict=True):
            row = table[each]
            instance[at] = row
            if type(row[0]) is Refusal:
                self._decide(machine, each, self.found.behind(element, [instance]))
                self.found.failed |= {machine.name, element.name}

    def _decide(
        self, machine: MachineCode, observed: tuple[Any, ...], objects: Sequence[Any] = ()
    ) -> tuple[Any, ...] | None:
        row = machine.table[observed]
        if type(row[0]) is not Refusal:
            return row
        shown = combination(machine.observed, observed)
        for refusal in row:
            assert isinstance(refusal, Refusal)
            told = f"{refusal.say} ({shown})" if refusal.say else shown
            path = f"states.{machine.name}.rows.{refusal.name}"
            self.report.add(refusal.kind, path, told, objects)
        return None

    def _once(self, run: Callable[[list[Any]], Any], path: str) -> Any:
        """Runs a function of the whole reading; None where it was refused."""
        try:
            return run(self.S)
        except CAUGHT as error:
            self.report.trouble(error, path)
            return None

    def _edge_cases(self) -> None:
        for edge in self.contract.edges.values():
            if edge.spec.violation == "config" or edge.uses & self.found.failed:
                continue
            path, say = f"edge_cases.{edge.name}", edge.spec.say or edge.name.replace("_", " ")
            run = self.bound.functions[f"edge_{edge.name}"]
            if edge.spec.each is None:
                if self._once(run, path):
                    self.report.add(edge.spec.violation, path, say)
                continue
            element = self.contract.elements[edge.spec.each]
            for instance in self.found.each_instance(run, element, path) or ():
                about = self.found.behind(element, [instance])
                self.report.add(edge.spec.violation, path, say, about)

    # -------------------------------------------------------------------------------------- output

    def _given(self, node: Node, path: str) -> Any:
        if isinstance(node, Leaf):
            return self._once(self.bound.functions[node.function], path)
        if isinstance(node, Map):
            return {name: self._given(each, f"{path}.{name}") for name, each in node.items.items()}
        element = self.contract.elements[node.element]
        rows = self.found.each_instance(self.bound.functions[node.function], element, path) or []
        if isinstance(node, One):
            return rows[0][2] if rows else None
        return _listed(node, rows)

    def _tracks(self) -> tuple[Track, ...] | None:
        try:
            return tuple(chain.from_iterable(map(self._follow, self.contract.machines.values())))
        except CAUGHT as error:
            self.untracked = str(error)
            return None

    def _follow(self, machine: MachineCode) -> Iterator[Track]:
        epoch = self.bound.functions.get(f"epoch_{machine.name}")
        if machine.element is None:
            state = self.S[self.contract.places[f"s_{machine.name}"]][0]
            yield Track(machine.name, (), state, epoch(self.S) if epoch else None)
            return
        element = self.contract.elements[machine.element]
        made, keys = self.found.instances[element.name], self.found.keys[element.name]
        epochs = epoch(made, self.S) if epoch else [None] * len(made)
        states = [instance[element.row][0] for instance in made]
        yield from map(
            Track._make, zip(repeat(machine.name, len(made)), keys, states, epochs, strict=True)
        )


def _listed(node: Many, rows: list[tuple[Any, Any, dict[str, Any]]]) -> Any:
    """The given objects in order; ties are ordered by what is given."""
    rows.sort(key=lambda row: row[0])
    if any(a[0] == b[0] for a, b in pairwise(rows)):
        rows.sort(key=lambda row: (row[0], _rank(row[2])))
    if not node.split:
        return [given for _, _, given in rows]
    lists: dict[str, list[Any]] = {name: [] for name in node.split}
    for _, name, given in rows:
        lists[name].append(given)
    return lists


def _rank(value: Any) -> tuple[Any, ...]:
    """A place in an order of all JSON values."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, value)
    if isinstance(value, int | float):
        return (2, value)
    if isinstance(value, str):
        return (3, value)
    return (4, [_rank(each) for each in value.values()])
