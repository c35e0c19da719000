"""From the text of a contract to something that can be bound and run, with every proof made.

Problems are collected over the whole file, each with its line; a contract with one is refused.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Any

from chartpact.contracts import config, document, model
from chartpact.contracts.context import Context, path_of
from chartpact.contracts.document import Node, Place
from chartpact.contracts.elements import INFORMATIONAL, SIGNAL, ElementCode, ElementCompiler
from chartpact.contracts.errors import ContractError, Problem, suggestion
from chartpact.contracts.expressions import FUNCTIONS, Compiled, Vocabulary
from chartpact.contracts.machines import MachineCode, MachineCompiler
from chartpact.contracts.model import ConfigKey, ContractFile, EdgeCase
from chartpact.contracts.outputs import Leaf, Map, OutputCode, OutputCompiler
from chartpact.contracts.outputs import Node as OutputNode
from chartpact.contracts.scope import NOTHING, Needs, Scope, Side, Value, field_names
from chartpact.snapshot import CHANNELS

_CACHED = 128


@dataclass(frozen=True)
class EdgeCode:
    """An edge case as the engine runs it."""

    name: str
    spec: EdgeCase
    uses: frozenset[str]


@dataclass(frozen=True)
class Contract:
    """A contract whose proofs hold: what was written, and the code that carries it out."""

    file: ContractFile
    digest: str
    keys: Mapping[str, ConfigKey]
    elements: Mapping[str, ElementCode]
    machines: Mapping[str, MachineCode]
    edges: Mapping[str, EdgeCode]
    output: OutputCode
    code: CodeType
    source: str
    paths: Mapping[int, str]
    columns: Mapping[str, tuple[str, ...]]  # channel → what its rows hold
    places: Mapping[str, int]
    needs: Mapping[str, Needs]  # channel → what a reading needs
    tracking: Mapping[str, Needs]  # channel → what following it needs besides
    encodings: frozenset[tuple[str, str]]
    patterns: frozenset[str]
    expressions: Mapping[str, Compiled]

    @property
    def name(self) -> str:
        return self.file.contract

    @property
    def version(self) -> str:
        return self.file.version

    @property
    def title(self) -> str:
        return self.file.identity.pine_title

    def role(self, channel: str) -> str | None:
        return self.file.channels.get(channel)  # type: ignore[call-overload, no-any-return]


_cache: OrderedDict[str, Contract] = OrderedDict()
_lock = Lock()


def load(text: str | bytes) -> Contract:
    """The contract in a text, or a `ContractError` with every problem; cached by content."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    digest = hashlib.sha256(data).hexdigest()
    with _lock:
        if digest in _cache:
            _cache.move_to_end(digest)
            return _cache[digest]
    contract = _load(data, digest)
    with _lock:
        _cache[digest] = contract
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)
    return contract


def load_file(path: str | Path) -> Contract:
    """The contract in a file."""
    try:
        with open(path, "rb") as file:
            data = file.read(document.MAX_BYTES + 1)
    except OSError as error:
        raise ContractError(
            [Problem(None, "", f"{path}: {error.strerror or error}", "name a readable file")]
        ) from None
    try:
        return load(data)
    except ContractError as error:
        if error.problems[0].line is not None:
            raise
        told = [replace(each, message=f"{path}: {each.message}") for each in error.problems]
        raise ContractError(told) from None


def _load(data: bytes, digest: str) -> Contract:
    root = document.parse(data)
    file = model.validate(root)
    return _Compiler(file, root, digest).compile()


class _Compiler:
    def __init__(self, file: ContractFile, root: Node, digest: str) -> None:
        self.file, self.digest = file, digest
        self.keys = dict(file.config)
        if config.TICK_SIZE not in self.keys:
            uses_it = any(
                word in text for text in _texts(root) for word in ("near(", "round_to_tick(")
            )
            implied = config.IMPLIED_TICK_SIZE if uses_it else config.UNREAD_TICK_SIZE
            self.keys[config.TICK_SIZE] = implied
        kinds = {name: config.kind_of(key) for name, key in self.keys.items()}
        encodings = {name: dict(table) for name, table in file.encodings.items()}
        self.context = Context(file, root, Vocabulary(encodings, kinds))

    def compile(self) -> Contract:
        context, file = self.context, self.file
        self._check_config()
        self._check_encodings()
        self._check_names()
        base = self._base_scope()
        elements = ElementCompiler(context, base)
        if not file.elements:
            context.problem(("elements",), "there is no element", "say what is drawn")
        for name, spec in file.elements.items():
            elements.compile(name, spec)
        done = elements.done
        scope = replace(
            elements.scope(),
            sets={name: each.items() for name, each in done.items() if not each.ignored},
        )
        machines = MachineCompiler(context, done)
        for name, machine in file.states.items():
            machines.compile(name, machine, scope)
        whole = scope.with_names(machines.values())
        edges = {
            name: self._edge(name, edge, done, whole) for name, edge in file.edge_cases.items()
        }
        output = OutputCompiler(context, done, whole).compile(file.output)
        self._check_idle(done, machines.done, edges, output)
        self._check_reserved(output)
        if context.problems:
            raise ContractError(context.problems)
        return self._contract(done, machines.done, edges, output)

    def _contract(
        self,
        elements: Mapping[str, ElementCode],
        machines: Mapping[str, MachineCode],
        edges: Mapping[str, EdgeCode],
        output: OutputCode,
    ) -> Contract:
        context, module = self.context, self.context.module
        tracked = {("elements", name, "key") for name in elements}
        tracked |= {("states", name, "epoch") for name in machines}
        needs: dict[str, set[Any]] = {channel: set() for channel in CHANNELS}
        tracking: dict[str, set[Any]] = {channel: set() for channel in CHANNELS}
        for element in elements.values():
            asked = element.needs | output.asked.get(element.name, NOTHING)
            element.asked = frozenset(need for need in asked if need.channel == element.channel)
            for need in element.needs:
                needs[need.channel].add(need)
            for need in element.tracking:
                tracking[need.channel].add(need)
        for path, found in context.expressions.items():
            section, name, *rest = path.split(".")
            only_tracks = (section, name, *rest[:1]) in tracked
            for need in found.needs:
                (tracking if only_tracks else needs)[need.channel].add(need)
        self._weigh(elements, edges, output)
        encodings = frozenset().union(*(each.encodings for each in context.expressions.values()))
        patterns = frozenset().union(*(each.patterns for each in context.expressions.values()))
        for name in [*(f"e_{n}" for n in elements), *(f"L_{n}" for n in elements),
                     *(f"s_{n}" for n in machines)]:  # fmt: skip
            module.place(name)
        return Contract(
            file=self.file,
            digest=self.digest,
            keys=self.keys,
            elements=elements,
            machines=machines,
            edges=edges,
            output=output,
            code=module.compile(),
            source=module.source,
            paths=dict(module.paths),
            columns={channel: tuple(order) for channel, order in module.columns.items()},
            places=dict(module.places),
            needs={channel: frozenset(found) for channel, found in needs.items()},
            tracking={
                channel: frozenset(found - needs[channel]) for channel, found in tracking.items()
            },
            encodings=encodings,
            patterns=patterns,
            expressions=dict(context.expressions),
        )

    def _weigh(
        self,
        elements: Mapping[str, ElementCode],
        edges: Mapping[str, EdgeCode],
        output: OutputCode,
    ) -> None:
        """Adds to each element the nodes that run for every instance of it elsewhere."""
        for name, nodes in output.nodes.items():
            elements[name].nodes += nodes
        for path, found in self.context.expressions.items():
            section, name, *_ = path.split(".")
            edge = edges.get(name) if section == "edge_cases" else None
            owner = edge.spec.each if edge is not None else name if section == "states" else None
            if owner is not None and owner in elements:
                elements[owner].nodes += found.nodes
            for listed in found.free:
                if listed.startswith("L_"):
                    elements[listed.removeprefix("L_")].nodes += found.nodes

    def _base_scope(self) -> Scope:
        names = {}
        for name, kind in self.context.vocabulary.config.items():
            alpha = Side(f"ca_{name}", NOTHING) if kind.name == "color" else None
            names[name] = Value(kind, f"c_{name}", alpha=alpha)
        return Scope(names)

    # ------------------------------------------------------------------------------- declarations

    def _check_config(self) -> None:
        for name, key in self.file.config.items():
            for word, message, hint in config.faults(name, key):
                self.context.problem(("config", name, word), message, hint)
        for profile, values in self.file.profiles.items():
            for name, value in values.items():
                place = ("profiles", profile, name)
                if name not in self.keys:
                    hint = suggestion(name, list(self.keys))
                    self.context.problem(place, f"there is no config key {name!r:.60}", hint)
                elif (fault := config.check(name, self.keys[name], value)[1]) is not None:
                    self.context.problem(place, fault, f"write {config.wanted(self.keys[name])}")
        versions = self.file.identity.script_versions
        if versions is not None and not versions:
            self.context.problem(
                ("identity", "script_versions"), "no version could be right", "list one, or none"
            )

    def _check_encodings(self) -> None:
        for table, names in self.file.encodings.items():
            seen: dict[Any, str] = {}
            if table in FUNCTIONS:
                self.context.problem(
                    ("encodings", table), f"{table!r} is a function already", "choose another name"
                )
            for name, values in names.items():
                place = ("encodings", table, name)
                if not values:
                    self.context.problem(place, "a meaning needs a value", "write what is drawn")
                for value in values:
                    known = (type(value) is bool, _look(value))
                    if known in seen:
                        self.context.problem(
                            place,
                            f"{value!r} means {seen[known]!r} already",
                            "each look has one meaning",
                        )
                    seen[known] = name
            if not names:
                self.context.problem(("encodings", table), "the table is empty", "add a meaning")

    def _check_names(self) -> None:
        file, context = self.file, self.context
        meanings: dict[str, str] = {name: "a config key" for name in self.keys}
        channels = {each.from_ for each in file.elements.values() if each.from_ in CHANNELS}
        sections: list[tuple[str, Mapping[str, Any], str]] = [
            ("elements", file.elements, "an element"),
            ("states", file.states, "a machine"),
        ]
        for section, names, what in sections:
            for name in names:
                known = meanings.get(name)
                if known is not None and not (what == "a machine" and known == "an element"):
                    context.problem(
                        (section, name), f"{name!r} is {known} already", "a name has one meaning"
                    )
                meanings[name] = what
        for name in meanings:
            for channel in sorted(channels):
                if name in (*field_names(channel), "id") or name in CHANNELS:
                    place: Place = ("config", name) if name in self.keys else ("elements", name)
                    if name in file.states and name not in file.elements:
                        place = ("states", name)
                    context.problem(
                        place, f"{name!r} is a field of {channel} already", "choose another name"
                    )
                    break
        own: dict[str, dict[str, str]] = {}
        for name in file.elements:
            own[name] = self._check_own_names(name, meanings, own)

    def _check_own_names(
        self, name: str, meanings: Mapping[str, str], others: Mapping[str, Mapping[str, str]]
    ) -> dict[str, str]:
        spec, place = self.file.elements[name], ("elements", name)
        taken: dict[str, str] = {}
        channel: str = spec.from_
        base: str | None = None
        while channel in others:
            base = base or channel
            taken |= dict.fromkeys(others[channel], f"a name of {channel}")
            channel = self.file.elements[channel].from_
        if channel in CHANNELS:
            taken |= dict.fromkeys([*field_names(channel), "id"], f"a field of {channel}")
        words: list[tuple[str, Mapping[str, Any]]] = [
            ("parts", spec.parts or {}),
            ("decode.fields", spec.decode.fields if spec.decode else {}),
            ("reads", spec.reads),
            ("attach", spec.attach),
        ]
        mine: dict[str, str] = {}
        for word, names in words:
            for each in names:
                at = (*place, *word.split("."), each)
                self._check_own(each, at, meanings, taken, mine)
                mine[each] = word
        machine = self.file.states.get(name)
        if machine is not None:
            columns = [c for row in machine.rows.values() for c in (row.give or {})]
            for each in dict.fromkeys(["state", *columns]):
                self._check_own(each, ("states", name), meanings, taken, mine)
                mine[each] = "states"
        return {**mine}

    def _check_own(
        self,
        name: str,
        place: Place,
        meanings: Mapping[str, str],
        taken: Mapping[str, str],
        mine: Mapping[str, str],
    ) -> None:
        known = meanings.get(name) or taken.get(name)
        if known is None and name in mine:
            known = f"in {mine[name]}"
        if known is not None:
            self.context.problem(place, f"{name!r} is {known} already", "a name has one meaning")

    # --------------------------------------------------------------------------------- edge cases

    def _edge(
        self, name: str, spec: EdgeCase, elements: Mapping[str, ElementCode], scope: Scope
    ) -> EdgeCode:
        context, place = self.context, ("edge_cases", name)
        each = elements.get(spec.each) if spec.each is not None else None
        at = (*place, "when")
        if spec.each is not None:
            if each is None or each.ignored:
                known = [n for n, e in elements.items() if not e.ignored]
                context.problem(
                    (*place, "each"),
                    f"{spec.each!r} is not an element",
                    suggestion(spec.each, known),
                )
                return EdgeCode(name, spec, frozenset())
            scope = Scope(scope.names).owned_by(each.shape, "i")
        found = context.condition(spec.when, at, scope)
        uses = found.elements | ({each.name} if each is not None else frozenset())
        for used in sorted(uses):
            element = elements.get(used)
            if element is not None and element.role == INFORMATIONAL:
                context.problem(
                    at, f"{used!r} is informational and cannot decide", "look at a signal"
                )
        if spec.violation == "config" and (
            uses or found.needs or any(free.startswith("ch_") for free in found.free)
        ):
            context.problem(
                at, "a case of kind config looks at the config only", "choose another kind"
            )
        module = context.module
        if spec.violation == "config":
            module.function(f"edge_{name}", "", ())
            module.line(f"return {found.code}", path_of(at))
        elif each is not None:
            module.function(f"edge_{name}", "items, S", found.free)
            module.line(f"return [i for i in items if {found.code}]", path_of(at))
        else:
            module.function(f"edge_{name}", "S", found.free)
            module.line(f"return {found.code}", path_of(at))
        return EdgeCode(name, spec, uses)

    # ------------------------------------------------------------------------------------- proofs

    def _check_idle(
        self,
        elements: Mapping[str, ElementCode],
        machines: Mapping[str, MachineCode],
        edges: Mapping[str, EdgeCode],
        output: OutputCode,
    ) -> None:
        used = set(output.uses)
        for each in elements.values():
            used |= each.uses
        for machine in machines.values():
            used |= machine.uses | ({machine.element} if machine.element else set())
        for edge in edges.values():
            used |= edge.uses
        for name, element in elements.items():
            if name not in used and not element.ignored:
                self.context.problem(
                    ("elements", name),
                    "nothing reads this element",
                    "read it, or say `ignore: why`",
                )
        for channel, role in self.file.channels.items():
            if role == SIGNAL and not any(e.channel == channel for e in elements.values()):
                self.context.problem(
                    ("channels", channel),
                    f"no element says what {channel} mean",
                    "add an element, or leave the channel out",
                )

    def _check_reserved(self, output: OutputCode) -> None:
        used = identifiers(self.file, output.root)
        for section in ("states", "encodings"):  # reserved by its own name, an id is so everywhere
            used[section] |= {each.rpartition(".")[2] for each in used[section]}
        for section, ids in self.file.reserved.model_dump().items():
            for i, each in enumerate(ids):
                if each in used[section]:
                    self.context.problem(
                        ("reserved", section, i), f"{each!r} is reserved, yet used", "rename one"
                    )


def identifiers(file: ContractFile, output: Map) -> dict[str, set[str]]:
    """Every id of a contract, by section, as `reserved` names them."""
    states, encodings = set(file.states), set(file.encodings)
    for name, machine in file.states.items():
        states |= {f"{name}.{row}" for row, each in machine.rows.items() if each.violation is None}
    for name, table in file.encodings.items():
        encodings |= {f"{name}.{each}" for each in table}
    return {
        "elements": set(file.elements),
        "states": states,
        "output": set(output_ids(output)),
        "config": set(file.config),
        "encodings": encodings,
    }


def output_ids(node: OutputNode, above: str = "") -> dict[str, OutputNode]:
    """Every key of the output with its dotted path."""
    found: dict[str, OutputNode] = {}
    inside = node if isinstance(node, Map) else None if isinstance(node, Leaf) else node.give
    for name, each in (inside.items if inside is not None else {}).items():
        path = f"{above}.{name}" if above else name
        found[path] = each
        found |= output_ids(each, path)
    return found


def _look(value: Any) -> Any:
    """How a value of an encoding looks, before the configuration is known."""
    if isinstance(value, str) and value.startswith("#"):
        return value.lower()[:7]
    return "none" if value is None else value


def _texts(node: Node) -> list[str]:
    if isinstance(node.value, dict):
        return [text for each in node.value.values() for text in _texts(each)]
    if isinstance(node.value, list):
        return [text for each in node.value for text in _texts(each)]
    return [node.value] if isinstance(node.value, str) else []
