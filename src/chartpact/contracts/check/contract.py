"""From the text of a contract to something that can be bound and run, with every proof made.

Problems are collected over the whole file, each with its line; a contract with one is refused.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from chartpact.cache import Cache
from chartpact.contracts.check import config
from chartpact.contracts.check.elements import SIGNAL, Context, ElementPlan, check_element
from chartpact.contracts.check.generate import ReadingProgram, generate
from chartpact.contracts.check.machines import EdgePlan, MachineChecker, MachinePlan, check_edge
from chartpact.contracts.check.outputs import (
    Attached,
    AttachedList,
    Instances,
    Leaf,
    Map,
    Node,
    OutputChecker,
    check_events,
    expressions,
    parts,
)
from chartpact.contracts.language import document, model
from chartpact.contracts.language.document import ContractError, ContractPath, suggestion
from chartpact.contracts.language.expressions import FUNCTIONS
from chartpact.contracts.language.model import (
    MAX_ELEMENTS,
    MAX_VIEWS,
    ConfigKey,
    ContractFile,
    Element,
)
from chartpact.contracts.language.nodes import TICK_SIZE, Expression, Literal, Mention
from chartpact.contracts.language.values import (
    NOTHING,
    PATTERN,
    Column,
    Constant,
    EncodedLook,
    Needs,
    Tables,
    Vocabulary,
    field_names,
)
from chartpact.snapshot import CHANNELS

Columns = tuple[Column, ...]
Ids = set[tuple[str, ...]]


@dataclass(frozen=True)
class Contract:
    """A contract whose proofs hold: what was written, and what a reading does about it."""

    file: ContractFile
    digest: str
    text: str  # the file
    keys: Mapping[str, ConfigKey]
    tables: Tables
    expressions: Mapping[ContractPath, Expression]
    elements: Mapping[str, ElementPlan]
    machines: Mapping[str, MachinePlan]
    edges: Mapping[str, EdgePlan]
    output: Map

    @property
    def name(self) -> str:
        return self.file.contract

    @property
    def version(self) -> str:
        return self.file.version

    @property
    def title(self) -> str:
        return self.file.identity.pine_title

    @cached_property
    def program(self) -> ReadingProgram:
        """The code that carries it out."""
        return generate(self.elements, self.machines, self.edges, self.output)

    @cached_property
    def deciding(self) -> tuple[Expression, ...]:
        """The expressions that decide, refuse or give out, outside the element dictionary."""
        observed = (rule for plan in self.machines.values() for rule in plan.observed.values())
        cases = (edge.when for edge in self.edges.values())
        return (*observed, *cases, *expressions(self.output))

    @cached_property
    def uses(self) -> frozenset[str]:
        """The elements that something reads."""
        kinds = Instances | Attached | AttachedList
        lists = [part for part in parts(self.output) if isinstance(part, kinds)]
        return frozenset(part.element for part in lists if part.element is not None).union(
            *(plan.uses for plan in self.elements.values()),
            *(plan.uses for plan in self.machines.values()),
            *(plan.uses for plan in self.edges.values()),
            *(rule.elements for rule in self.deciding),
        )

    @cached_property
    def needs(self) -> dict[str, Columns]:
        """For each channel, the columns that a reading needs."""
        elements = (plan.needs for plan in self.elements.values())
        return _by_channel(NOTHING.union(*elements, *(rule.needs for rule in self.deciding)))

    @cached_property
    def tracking(self) -> dict[str, Columns]:
        """For each channel, the columns that following it through time needs besides."""
        keys = (plan.tracking for plan in self.elements.values())
        epochs = (plan.epoch.needs for plan in self.machines.values() if plan.epoch is not None)
        needs = {column for columns in self.needs.values() for column in columns}
        return _by_channel(NOTHING.union(*keys, *epochs) - needs)

    @cached_property
    def optional(self) -> dict[str, Columns]:
        """For each channel, the columns that only tell how old something is."""
        elements = (plan.optional for plan in self.elements.values())
        epochs = (plan.epoch.optional for plan in self.machines.values() if plan.epoch is not None)
        rules = (rule.optional for rule in self.deciding)
        needs = {column for columns in self.needs.values() for column in columns}
        return _by_channel(NOTHING.union(*elements, *epochs, *rules) - needs)

    @cached_property
    def element_needs(self) -> dict[str, Columns]:
        """For each element, the columns of its channel that it and its output need."""
        outputs = _given_out(self.output)
        return {
            name: _by_channel(plan.needs | outputs.get(name, NOTHING))[plan.channel]
            for name, plan in self.elements.items()
        }

    @cached_property
    def _runs(self) -> list[tuple[frozenset[str], Expression]]:
        """Every expression, with the elements for each of whose instances it runs."""
        machines, edges = self.machines.values(), self.edges.values()
        owned: list[tuple[str | None, Expression]] = [(None, rule) for rule in self.deciding]
        for name, plan in self.elements.items():
            owned += [(name, rule) for rule in (*plan.rules, *(plan.key or ()))]
        owned += [(plan.element, rule) for plan in machines for rule in plan.expressions()]
        owned += [(edge.spec.each, edge.when) for edge in edges]
        for part in parts(self.output):
            if isinstance(part, Instances):
                owned += [(part.element, rule) for rule in expressions(part)]
        return [(rule.lists | ({own} if own is not None else set()), rule) for own, rule in owned]

    @cached_property
    def _sizes(self) -> Counter[str]:
        """For each element, the nodes that run for every one of its instances."""
        sizes = Counter(dict.fromkeys(self.elements, 1))
        for names, rule in self._runs:
            sizes.update(dict.fromkeys(names, rule.size))
        return sizes

    @cached_property
    def costs(self) -> dict[str, int]:
        """For each channel that is read, the nodes that run for every one of its objects."""
        channels: Counter[str] = Counter()
        for name, plan in self.elements.items():
            channels[plan.channel] += self._sizes[name]
        return dict(channels)

    @cached_property
    def entry_costs(self) -> Counter[str]:
        """For each channel, the nodes that run for each two characters of its texts: so many
        entries may a decoded list have."""
        costs, expanded = Counter[str](), set[str]()
        for name, plan in self.elements.items():
            if plan.each is not None or plan.base in expanded:
                expanded.add(name)
                costs[plan.channel] += self._sizes[name]
        return costs

    @cached_property
    def patterns(self) -> list[tuple[str, Literal | Constant]]:
        """The patterns, each with a channel whose texts it is matched with."""
        used: list[tuple[str, Literal | Constant]] = []
        for names, rule in self._runs:
            for node in rule.patterns:
                at = node.value.at if isinstance(node, Mention) else node
                assert isinstance(at, Literal | Constant)
                channels = {
                    self.elements[n].channel for n in names | rule.elements & self.elements.keys()
                }
                used += [(channel, at) for channel in sorted(channels)]
        for plan in self.elements.values():
            if plan.decode is not None and plan.decode.codec.form == "pattern":
                codec = plan.decode.codec
                key = Constant("config", codec.pattern_key) if codec.pattern_key else None
                used.append((plan.channel, key or Literal(PATTERN, codec.pattern)))
        return used

    @property
    def weight(self) -> int:
        """The bytes that it takes in memory, about."""
        tables = sum(len(plan.table) for plan in self.machines.values())
        return 64 * len(self.text) + 400 * tables


def _by_channel(needs: Needs) -> dict[str, Columns]:
    channels: dict[str, list[Column]] = {channel: [] for channel in CHANNELS}
    for column in sorted(needs):
        channels[column.channel].append(column)
    return {channel: tuple(columns) for channel, columns in channels.items()}


def _given_out(node: Node) -> dict[str, Needs]:
    """For each element, the columns that are needed to give it out."""
    needed: dict[str, Needs] = {}
    match node:
        case Leaf():
            needed = dict.fromkeys(node.rule.elements, node.rule.needs)
        case Instances():
            needed[node.element] = NOTHING.union(*(rule.needs for rule in expressions(node)))
        case Map():
            for inner in node.items.values():
                for name, needs in _given_out(inner).items():
                    needed[name] = needed.get(name, NOTHING) | needs
    return needed


_contracts: Cache[str, Contract] = Cache(
    most=128, weight=64 << 20, weigh=lambda contract: contract.weight
)


def load(text: str | bytes) -> Contract:
    """The contract in a text, or a `ContractError` with every problem; cached by content."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    digest = hashlib.sha256(data).hexdigest()
    return _contracts.get_or_make(digest, lambda: _check(data, digest))


def load_file(path: str | Path) -> Contract:
    """The contract in a file."""
    return document.load_file(path, load)


def _check(data: bytes, digest: str) -> Contract:
    root = document.parse(data)
    file = model.validate(root)
    keys = {**file.config, TICK_SIZE: file.config.get(TICK_SIZE, config.IMPLIED_TICK_SIZE)}
    kinds = {name: config.kind_of(key) for name, key in keys.items()}

    def look(written: Any) -> EncodedLook:
        if isinstance(written, str) and written in keys:
            return EncodedLook(key=written)
        return EncodedLook(None if written == "none" else written)

    tables = {
        name: {meaning: tuple(map(look, values)) for meaning, values in table.items()}
        for name, table in file.encodings.items()
    }
    return _Checker(Context(root, Vocabulary(tables, kinds), file=file), keys).check(digest, data)


class _Checker:
    """Checks the sections of one file, in the order in which they refer to each other."""

    def __init__(self, context: Context, keys: dict[str, ConfigKey]) -> None:
        self.context, self.file, self.problem = context, context.file, context.problem
        self.keys = keys

    def check(self, digest: str, data: bytes) -> Contract:
        context, file = self.context, self.file
        self._check_size()
        self._check_encodings()
        self._check_names()
        if not file.elements:
            self.problem(("elements",), "there is no element", "say what is drawn")
        for name, element in file.elements.items():
            check_element(context, name, element)
        elements = context.elements
        lists = frozenset(name for name, plan in elements.items() if not plan.ignored)
        scope = replace(context.scope(), lists=lists)
        machines = MachineChecker(context)
        for name, machine in file.states.items():
            machines.check(name, machine, scope)
        scope = scope.with_names(machines.values())
        cases = file.edge_cases.items()
        edges = {name: check_edge(context, name, edge, scope) for name, edge in cases}
        output = OutputChecker(context, scope).check(file.output)
        check_events(context, file.events, output)
        if not any(TICK_SIZE in rule.config for rule in context.expressions.values()):
            self.keys[TICK_SIZE] = file.config.get(TICK_SIZE, config.UNREAD_TICK_SIZE)
        self._check_config()
        contract = Contract(
            file, digest, data.decode(), self.keys, context.vocabulary.tables, context.expressions,
            elements, machines.done, edges, output,
        )  # fmt: skip
        self._check_idle(contract)
        self._check_reserved(output)
        if context.problems:
            raise ContractError(context.problems)
        return contract

    # ------------------------------------------------------------------------------- declarations

    def _check_size(self) -> None:
        """Refuses more elements, and longer chains of views, than anybody writes."""
        depths: dict[str, int] = {}
        for name, spec in self.file.elements.items():
            depths[name] = depths.get(spec.from_, 0) + 1
            place, most = ("elements", name), MAX_ELEMENTS
            if len(depths) > MAX_ELEMENTS:
                message = f"{len(self.file.elements)} elements are too many"
            elif depths[name] > MAX_VIEWS:
                message, most = "too many views look at each other", MAX_VIEWS
            else:
                continue
            self.problem(place, message, f"at most {most} are allowed")
            raise ContractError(self.context.problems)

    def _check_config(self) -> None:
        for name, key in self.file.config.items():
            for word, message, hint in config.declaration_faults(name, key):
                self.problem(("config", name, word), message, hint)
        for profile, values in self.file.profiles.items():
            for name, value in values.items():
                at = ("profiles", profile, name)
                if name not in self.keys:
                    hint = suggestion(name, list(self.keys))
                    self.problem(at, f"there is no config key {name!r:.60}", hint)
                elif (wrong := config.check(name, self.keys[name], value)[1]) is not None:
                    self.problem(at, wrong, f"write {config.describe(self.keys[name])}")
        if self.file.identity.script_versions == []:
            place = ("identity", "script_versions")
            self.problem(place, "no version could be right", "list one, or none")

    def _check_encodings(self) -> None:
        for table, meanings in self.context.vocabulary.tables.items():
            seen: dict[Any, str] = {}
            if table in FUNCTIONS:
                message = f"{table!r} is a function already"
                self.problem(("encodings", table), message, "choose another name")
            for meaning, looks in meanings.items():
                place = ("encodings", table, meaning)
                if not looks:
                    self.problem(place, "a meaning needs a value", "write what is drawn")
                for look in looks:
                    value = look.value
                    if isinstance(value, str) and value.startswith("#"):  # perhaps a colour
                        value = value.lower()[:7]
                    known = (look.key, type(value) is bool, value)
                    if known in seen:
                        message = f"{look} means {seen[known]!r} already"
                        self.problem(place, message, "each look has one meaning")
                    seen[known] = meaning
            if not meanings:
                self.problem(("encodings", table), "the table is empty", "add a meaning")

    def _check_names(self) -> None:
        file, meanings = self.file, dict.fromkeys(self.keys, "a config key")
        for section, names, what in (
            ("elements", list(file.elements), "an element"),
            ("states", list(file.states), "a machine"),
        ):
            for name in names:
                known = meanings.get(name)
                if known is not None and (known, what) != ("an element", "a machine"):
                    message = f"{name!r} is {known} already"
                    self.problem((section, name), message, "a name has one meaning")
                meanings[name] = what
        channels = {spec.from_ for spec in file.elements.values()}.intersection(CHANNELS)
        for name in meanings:
            section = "config" if name in self.keys else "elements"
            if name in file.states and name not in file.elements:
                section = "states"
            for channel in sorted(channels):
                if name in (*field_names(channel), "id", *CHANNELS):
                    message = f"{name!r} is a field of {channel} already"
                    self.problem((section, name), message, "choose another name")
                    break
        own: dict[str, dict[str, str]] = {}
        for name in file.elements:
            own[name] = self._check_own_names(name, meanings, own)

    def _check_own_names(
        self, name: str, meanings: Mapping[str, str], others: Mapping[str, Mapping[str, str]]
    ) -> dict[str, str]:
        """The names that an element brings; none may have a meaning where it is known."""
        spec, place = self.file.elements[name], ("elements", name)
        taken: dict[str, str] = {}
        channel: str = spec.from_
        seen = {name}
        while channel in others and channel not in seen:
            seen.add(channel)  # each once: what refers to itself is told elsewhere
            taken |= dict.fromkeys(others[channel], f"a name of {channel}")
            channel = self.file.elements[channel].from_
        if channel in CHANNELS:
            taken |= dict.fromkeys([*field_names(channel), "id"], f"a field of {channel}")
        taken |= meanings
        words: dict[ContractPath, Iterable[str]] = {
            ("parts",): spec.parts or (),
            ("decode", "fields"): spec.decode.fields if spec.decode else (),
            ("each",): self._entry_names(spec),
            ("reads",): spec.reads,
            ("attach",): spec.attach,
        }
        brought = [((*place, *word, own), own) for word, names in words.items() for own in names]
        machine = self.file.states.get(name)
        if machine is not None:
            columns = [column for row in machine.rows.values() for column in row.give or ()]
            brought += [(("states", name), own) for own in dict.fromkeys(["state", *columns])]
        sections: dict[str, str] = {}
        for at, own in brought:
            known = taken.get(own) or sections.get(own)
            if known is not None:
                self.problem(at, f"{own!r} is {known} already", "a name has one meaning")
            sections[own] = f"in {'.'.join(map(str, at[2:-1])) or 'states'}"
        return sections

    def _entry_names(self, spec: Element) -> Iterable[str]:
        """The names that the entries of a decoded list bring to a view."""
        name, at, elements = spec.each, spec.from_, dict(self.file.elements)
        while name is not None and at in elements:
            base = elements.pop(at)  # each once: what refers to itself is told elsewhere
            if base.decode is not None and name in base.decode.fields:
                return base.decode.fields[name].fields or ()
            at = base.from_
        return ()

    # ------------------------------------------------------------------------------------- proofs

    def _check_idle(self, contract: Contract) -> None:
        for name, plan in contract.elements.items():
            if name not in contract.uses and not plan.ignored:
                hint = "read it, or say `ignore: why`"
                self.problem(("elements", name), "nothing reads this element", hint)
        read = {plan.channel for plan in contract.elements.values()}
        for channel, role in self.file.channels.items():
            if role == SIGNAL and channel not in read:
                message = f"no element says what {channel} mean"
                hint = "add an element, or leave the channel out"
                self.problem(("channels", channel), message, hint)

    def _check_reserved(self, output: Map) -> None:
        used = identifiers(self.file, output)
        for section in ("states", "encodings"):  # reserved by its own name, an id is so everywhere
            used[section] |= {steps[-1:] for steps in used[section]}
        for section, ids in reserved_ids(self.file).items():
            for i, steps in enumerate(ids):
                if steps in used[section]:
                    message = f"{'.'.join(steps)!r} is reserved, yet used"
                    self.problem(("reserved", section, i), message, "rename one")


# -------------------------------------------------------------------------------------- identifiers


def identifiers(file: ContractFile, output: Map) -> dict[str, Ids]:
    """Every id of a contract, by section, as the steps that lead to it."""
    states: Ids = {(name,) for name in file.states}
    for name, machine in file.states.items():
        states |= {(name, row) for row, spec in machine.rows.items() if spec.violation is None}
    encodings: Ids = {(name,) for name in file.encodings}
    for name, table in file.encodings.items():
        encodings |= {(name, meaning) for meaning in table}
    return {
        "elements": {(name,) for name in file.elements},
        "states": states,
        "output": set(output_ids(output)),
        "config": {(name,) for name in file.config},
        "encodings": encodings,
    }


def reserved_ids(file: ContractFile) -> dict[str, list[tuple[str, ...]]]:
    """The reserved ids of a contract, by section."""
    sections = file.reserved.model_dump()
    return {name: [tuple(id.split(".")) for id in ids] for name, ids in sections.items()}


def output_ids(node: Node, above: tuple[str, ...] = ()) -> dict[tuple[str, ...], Node]:
    """Every key of the output with the steps that lead to it."""
    ids: dict[tuple[str, ...], Node] = {}
    if isinstance(node, Leaf):
        return ids
    for name, inner in (node if isinstance(node, Map) else node.give).items.items():
        ids[(*above, name)] = inner
        ids |= output_ids(inner, (*above, name))
    return ids
