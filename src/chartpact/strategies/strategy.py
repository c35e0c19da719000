"""From the text of a strategy to something that decides, with every proof made.

Problems are collected over the whole file, each with its line; a strategy with one is refused.
"""

import ast
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from chartpact import contracts, pacts
from chartpact.cache import Cache
from chartpact.clock.errors import ClockError
from chartpact.clock.sessions import Session
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.zones import zone
from chartpact.contracts import Contract, ContractError, load_file
from chartpact.contracts.check import config
from chartpact.contracts.check.elements import Checking
from chartpact.contracts.check.generate import Module, ReadingProgram, evaluate
from chartpact.contracts.check.outputs import Attached, AttachedList, Leaf, Many, Map, Node, One
from chartpact.contracts.check.totality import OTHERWISE, TotalityProof
from chartpact.contracts.language import document
from chartpact.contracts.language.document import ContractPath, suggestion
from chartpact.contracts.language.expressions import parse
from chartpact.contracts.language.model import RESERVED, ConfigKey
from chartpact.contracts.language.nodes import Expression
from chartpact.contracts.language.values import (
    BOOL,
    NUMBER,
    OWNER,
    TEXT,
    TIME,
    FieldNames,
    Item,
    Kind,
    NameScope,
    Slot,
    Vocabulary,
    enum,
)
from chartpact.contracts.language.values import Value as Named
from chartpact.problem import Failure
from chartpact.strategies import model
from chartpact.strategies.logic import (
    BLOCKED,
    GRADE,
    SCORE,
    LatchRule,
    Logic,
    TableRule,
    Value,
    finite_fault,
    mentioned,
)
from chartpact.strategies.model import UNKNOWN, StrategyFile, Window
from chartpact.strategies.proofs import idle, prove

NOW = Slot("moment", "now")
MAX_FACTS = 60  # facts and windows together
MAX_LATCHES = 8
_CONFIG_TYPES = ("number", "bool", "text", "choice")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

Find = Callable[[str], Contract]


@dataclass(frozen=True)
class Strategy:
    """A strategy whose proofs hold: what was written, and what a decision does about it."""

    file: StrategyFile
    digest: str
    text: str = field(repr=False)
    contracts: Mapping[str, Contract]  # by the name of the input
    facts: Mapping[str, Expression]  # in the order of their dependence
    logic: Logic
    epoch: Expression | None
    given: Mapping[tuple[str, ...], Expression]  # what tables give, and the output
    program: ReadingProgram = field(repr=False)

    @property
    def name(self) -> str:
        return self.file.strategy

    @property
    def version(self) -> str:
        return self.file.version

    @property
    def keys(self) -> Mapping[str, ConfigKey]:
        return self.file.config

    @property
    def remembers(self) -> bool:
        """Whether a decision depends on earlier bars besides the picture."""
        return bool(self.file.latches)

    @cached_property
    def windows(self) -> dict[str, tuple[str, Session]]:
        """The zone and the hours of each window."""
        return {name: (spec.zone, _hours(spec)) for name, spec in self.file.windows.items()}

    @cached_property
    def weight(self) -> int:
        tables = sum(len(rule.table) for rule in self.logic.tables.values())
        return 64 * len(self.text) + 400 * tables


_strategies: Cache[str, Strategy] = Cache(
    most=128, weight=64 << 20, weigh=lambda strategy: strategy.weight
)


def shipped(name: str) -> Contract:
    """A contract that comes with the package; a text of a user names no file of this host."""
    if name not in pacts.names():
        hint = suggestion(name, pacts.names())
        raise document.refusal(None, f"there is no contract {name!r:.80}", hint)
    return contracts.find(name)


def beside(folder: Path) -> Find:
    """Finds contracts that come with the package, and those whose folder or file stands beside."""

    def find(name: str) -> Contract:
        for path in (folder / name / "contract.yaml", folder / f"{name}.yaml"):
            if name not in pacts.names() and path.is_file():
                return load_file(path)
        return shipped(name)

    return find


def load(text: str | bytes, find: Find = shipped) -> Strategy:
    """The strategy in a text, or a `ContractError` with every problem; cached by content.

    `find` gives the contracts that it names.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return load_document(document.parse(data), data, find)


def load_document(root: document.YamlNode, data: bytes, find: Find) -> Strategy:
    """The strategy in a document that has been parsed from a text."""
    file = model.validate(root)
    checker = _Checker(file, Checking(root, Vocabulary(strict=True)), find)
    digests = [contract.digest for contract in checker.contracts.values()]
    digest = hashlib.sha256(b"\0".join([data, *map(str.encode, digests)])).hexdigest()
    if checker.context.problems:
        raise ContractError(checker.context.problems)
    return _strategies.get_or_make(digest, lambda: checker.check(digest, data.decode("utf-8-sig")))


def _hours(spec: Window) -> Session:
    days = "".join(str(_DAYS.index(day) + 1) for day in spec.days or _DAYS)
    return Session.parse(f"{spec.from_}-{spec.to}:{days}")


class _Checker:
    """Checks the sections of one file, in the order in which they refer to each other."""

    def __init__(self, file: StrategyFile, context: Checking, find: Find) -> None:
        self.file, self.context, self.problem = file, context, context.problem
        self.contracts: dict[str, Contract] = {}
        for name, spec in file.inputs.items():
            place = ("inputs", name, "contract")
            try:
                contract = find(spec.contract)
            except ContractError as error:
                problem = error.problems[0]
                self.problem(place, problem.message, problem.hint)
                continue
            major = int(contract.version.partition(".")[0])
            if major != spec.major:
                message = f"{spec.contract} is at {contract.version}, and this was written for "
                hint = "look at what changed, then write the new number"
                self.problem(("inputs", name, "major"), f"{message}{spec.major}", hint)
            self.contracts[name] = contract

    def check(self, digest: str, text: str) -> Strategy:
        file = self.file
        self._check_config()
        self._check_names()
        self._check_inputs()
        scope = self._scope()
        logic = Logic({})
        facts = self._facts(scope, logic)
        if self.context.problems:  # what follows would only repeat them
            raise ContractError(self.context.problems)
        epoch = None
        scope = scope.with_names(_values(logic.atoms))
        if file.epoch is not None:
            epoch = self.context.check(file.epoch, ("epoch",), scope)
            kinds = ("time", "number", "text", "enum")
            self.context.want(epoch, ("epoch",), *kinds, nullable=True)
        self._rules(logic)
        given = self._given(scope, logic)
        self._check_reserved()
        if not self.context.problems:
            prove(logic, file, self.problem)
            self._check_idle(logic, facts, epoch, given)
        if self.context.problems:
            raise ContractError(self.context.problems)
        program = _generate(facts, epoch, given)
        return Strategy(file, digest, text, self.contracts, facts, logic, epoch, given, program)

    # ------------------------------------------------------------------------------- declarations

    def _check_config(self) -> None:
        for name, key in self.file.config.items():
            place = ("config", name)
            for word, message, hint in config.declaration_faults(name, key):
                self.problem((*place, word), message, hint)
            if key.type not in _CONFIG_TYPES:
                hint = f"use {', '.join(_CONFIG_TYPES)}"
                self.problem((*place, "type"), f"a strategy has no {key.type}", hint)
            if key.type == "number" and (key.min is None or key.max is None):
                message = "a threshold that may be changed has bounds"
                self.problem(place, message, "add min and max")
        for profile, values in self.file.profiles.items():
            for name, value in values.items():
                at = ("profiles", profile, name)
                if name not in self.file.config:
                    hint = suggestion(name, list(self.file.config))
                    self.problem(at, f"there is no config key {name!r:.60}", hint)
                elif (wrong := config.check(name, self.file.config[name], value)[1]) is not None:
                    hint = f"write {config.describe(self.file.config[name])}"
                    self.problem(at, wrong, hint)

    def _check_names(self) -> None:
        file, meanings = self.file, dict.fromkeys(("now", BLOCKED, GRADE, SCORE), "a word")
        sections: Mapping[str, tuple[Iterable[str], str]] = {
            "config": (file.config, "a config key"),
            "inputs": (file.inputs, "an input"),
            "windows": (file.windows, "a window"),
            "facts": (file.facts, "a fact"),
            "latches": (file.latches, "a latch"),
            "tables": (file.tables, "a table"),
        }
        for section, (names, what) in sections.items():
            for name in names:
                if name in meanings:
                    message = f"{name!r} is {meanings[name]} already"
                    self.problem((section, name), message, "a name has one meaning")
                meanings[name] = what
        for grade in file.grades:
            if grade in RESERVED:
                self.problem(("grades", grade), f"{grade!r} is a word", "choose another name")
        for section, count, most in (
            ("facts", len(file.facts) + len(file.windows), MAX_FACTS),
            ("latches", len(file.latches), MAX_LATCHES),
        ):
            if count > most:
                self.problem((section,), f"{count} are too many", f"at most {most} are allowed")
        if not file.tables:
            self.problem(("tables",), "there is no table", "say what is decided")

    def _check_inputs(self) -> None:
        file = self.file
        for name, spec in file.inputs.items():
            contract, place = self.contracts[name], ("inputs", name)
            if spec.profile is not None and spec.profile not in contract.file.profiles:
                hint = suggestion(spec.profile, list(contract.file.profiles))
                message = f"{contract.name} has no profile {spec.profile!r:.60}"
                self.problem((*place, "profile"), message, hint)
            for key, value in spec.config.items():
                at = (*place, "config", key)
                if key not in contract.keys:
                    hint = suggestion(key, list(contract.keys))
                    self.problem(at, f"{contract.name} has no config key {key!r:.60}", hint)
                elif (wrong := config.check(key, contract.keys[key], value)[1]) is not None:
                    self.problem(at, wrong, f"write {config.describe(contract.keys[key])}")
            if spec.timeframe is not None:
                try:
                    Timeframe.parse(spec.timeframe)
                except ClockError as error:
                    self.problem((*place, "timeframe"), str(error), "write 1h, 4h or 1D")
        for name, window in file.windows.items():
            place = ("windows", name)
            try:
                zone(window.zone)
            except ClockError as error:
                self.problem((*place, "zone"), str(error), "write America/New_York")
            if window.from_ in (window.to, "2400") or window.days == []:
                self.problem(place, "this window is never open", "write from before to")

    def _scope(self) -> NameScope:
        """Config, the moment, the inputs and the windows."""
        self.context.vocabulary.config = {
            name: config.kind_of(key) for name, key in self.file.config.items()
        }
        names = self.context.config_names()
        names["now"] = Named(TIME, NOW)
        for name, contract in self.contracts.items():
            shapes = partial(_put_shape, self.context.vocabulary.shapes, name)
            kind = Kind("element", shape=shapes(contract.output))
            names[name] = Named(kind, Slot("input", name))
        names |= {name: Named(BOOL, Slot("fact", name)) for name in self.file.windows}
        return NameScope(names, attached=True)

    # -------------------------------------------------------------------------------------- facts

    def _facts(self, scope: NameScope, logic: Logic) -> dict[str, Expression]:
        windows: dict[str, tuple[Value, ...]] = dict.fromkeys(self.file.windows, (True, False))
        asked = {name: _names_in(spec.is_) for name, spec in self.file.facts.items()}
        facts, atoms = dict[str, Expression](), dict[str, tuple[Value, ...]]()
        for name in self._in_order("facts", asked):
            spec, place = self.file.facts[name], ("facts", name)
            rule = self.context.check(spec.is_, (*place, "is"), scope)
            facts[name], kind = rule, rule.kind
            if not kind.known:
                continue
            domain = kind.there().domain
            if domain is None:
                message = f"this is {kind}: it has no closed list of values"
                self.problem(place, message, "compare it, or choose between texts")
                continue
            if kind.nullable and not spec.speaks_of_none:
                hint = f"add none: {UNKNOWN}, or the value that it stands for"
                self.problem(place, f"{name} may be none, and nothing is said of that", hint)
            elif spec.speaks_of_none and not kind.nullable:
                self.problem((*place, "none"), f"{name} is never none", "remove none")
            elif spec.speaks_of_none and spec.none != UNKNOWN:
                if type(spec.none) is not type(domain[0]):
                    message = f"{spec.none!r:.60} is not like the other values of {name}"
                    hint = f"write {UNKNOWN}, or one of {', '.join(map(str, domain))}"
                    self.problem((*place, "none"), message, hint)
                    continue
                domain = tuple(dict.fromkeys((*domain, spec.none)))
            if len(domain) < 2:
                self.problem(place, f"{name} is always {domain[0]}", "remove it")
            if UNKNOWN in domain:
                self.problem(place, f"{UNKNOWN!r} is no value", "choose another text")
            atoms[name] = domain
            scope = scope.with_names(_values({name: domain}))
        logic.atoms = {name: atoms[name] for name in self.file.facts if name in atoms} | windows
        return facts

    def _in_order(self, section: str, asked: Mapping[str, Iterable[str]]) -> list[str]:
        """Names so that each comes after those it refers to."""
        inner = {name: {*others} & {*asked} for name, others in asked.items()}
        try:
            return list(TopologicalSorter(inner).static_order())
        except CycleError as error:
            circle = error.args[1]
            message = f"{' → '.join(circle)}: they refer to each other"
            self.problem((section, circle[0]), message, "say one without the other")
            return []

    # -------------------------------------------------------------------------------------- rules

    def _rules(self, logic: Logic) -> None:
        file, atoms = self.file, NameScope(_values(logic.atoms))
        for name, block in file.blocks.items():
            logic.blocks[name] = self._condition(block.when, ("blocks", name, "when"), atoms)
        for name, factor in file.factors.items():
            node = self._condition(factor.when, ("factors", name, "when"), atoms)
            logic.factors[name] = (node, factor.weight)
        logic.grades = dict(file.grades)
        summed = {BLOCKED: Named(BOOL, Slot("logic", BLOCKED))}
        if file.grades:
            summed[GRADE] = Named(enum(file.grades), Slot("logic", GRADE))
        scope = atoms.with_names(summed)
        for name, latch in file.latches.items():
            node = self._condition(latch.set, ("latches", name, "set"), scope)
            for word, others in (("after", latch.after), ("unless", latch.unless)):
                for other in others:
                    if other not in file.latches or other == name:
                        known = [one for one in file.latches if one != name]
                        message = f"{other!r} is no other latch"
                        self.problem(("latches", name, word), message, suggestion(other, known))
            logic.latches[name] = LatchRule(node, tuple(latch.after), tuple(latch.unless))
        self._tables(logic)

    def _condition(self, text: str, place: ContractPath, scope: NameScope) -> Any:
        rule = self.context.check(text, place, scope, condition=True)
        if rule.kind.known and (fault := finite_fault(rule.node)) is not None:
            self.problem(place, f"{fault}, and looks at facts only", "calculate it in a fact")
        return rule.node

    def _tables(self, logic: Logic) -> None:
        proofs = TotalityProof(self.problem)
        known = {*logic.names}
        asked = {name: table.observe for name, table in self.file.tables.items()}
        for name in self._in_order("tables", asked):
            table, place = self.file.tables[name], ("tables", name)
            if not table.observe or len({*table.observe}) < len(table.observe):
                self.problem((*place, "observe"), "a table observes names, each once", "[a, b]")
            unknown = [one for one in table.observe if one not in known]
            for one in unknown:
                hint = suggestion(one, sorted(known))
                self.problem((*place, "observe"), f"{one!r} is not known here", hint)
            for row in table.rows:
                if row in RESERVED:
                    self.problem((*place, "rows", row), f"{row!r} is a word", "choose another")
            known.add(name)
            rows = {row: ("", when) for row, when in table.rows.items()}
            if len(rows) < 2:
                self.problem((*place, "rows"), "a table decides between rows", "add a row")
            proved: Mapping[Any, list[str]] = {}
            if not unknown:
                domains = {one: logic.domain(one) for one in table.observe}
                proved = proofs.prove(place, domains, rows, list(rows))
            decided = {values: names[0] for values, names in proved.items()}
            logic.tables[name] = TableRule(tuple(table.observe), tuple(rows), decided)
            if table.transitions is None and table.initial:
                self.problem((*place, "initial"), "there are no transitions", "add them")

    def _given(self, scope: NameScope, logic: Logic) -> dict[tuple[str, ...], Expression]:
        """What tables give and what is put out: any value, of inputs, facts, tables and score."""
        kinds = {name: enum(rule.rows).or_none() for name, rule in logic.tables.items()}
        kinds |= {name: BOOL.or_none() for name in (*logic.latches, BLOCKED)}
        kinds |= {SCORE: NUMBER.or_none(), GRADE: TEXT.or_none()}
        scope = scope.with_names(
            {name: Named(kind, Slot("logic", name)) for name, kind in kinds.items()}
        )
        written: dict[tuple[str, ...], str] = {
            ("tables", table, "give", name): text
            for table, spec in self.file.tables.items()
            for name, text in spec.give.items()
        }
        written |= {("output", name): text for name, text in self.file.output.items()}
        given = dict[tuple[str, ...], Expression]()
        for place, text in written.items():
            rule = given[place] = self.context.check(text, place, scope)
            if rule.kind.known and rule.kind.name in ("list", "element", "anchor", "pattern"):
                self.problem(place, f"{rule.kind} is not a JSON value", "give one of its fields")
        return given

    # ------------------------------------------------------------------------------------- proofs

    def _check_idle(
        self,
        logic: Logic,
        facts: Mapping[str, Expression],
        epoch: Expression | None,
        given: Mapping[tuple[str, ...], Expression],
    ) -> None:
        rules = [*facts.values(), *filter(None, [epoch]), *given.values()]
        used = {name for rule in rules for name in (*rule.named, *rule.config)}
        conditions = [*logic.blocks.values(), *(node for node, _ in logic.factors.values())]
        conditions += [latch.set for latch in logic.latches.values()]
        used = used.union(*map(mentioned, conditions))
        used |= {name for rule in logic.tables.values() for name in rule.observe}
        used |= {name for latch in logic.latches.values() for name in (*latch.after, *latch.unless)}
        for section, names, who in (
            ("inputs", self.file.inputs, "no fact looks at it"),
            ("config", self.file.config, "no fact looks at it"),
            ("windows", self.file.windows, "nothing looks at it"),
            ("facts", self.file.facts, "nothing looks at it"),
            ("latches", self.file.latches, "nothing looks at it"),
        ):
            for name in idle(names, used):
                self.problem((section, name), who, "use it, or remove it")

    def _check_reserved(self) -> None:
        used = identifiers(self.file)
        for section, ids in self.file.reserved.model_dump().items():
            for n, name in enumerate(ids):
                if tuple(name.split(".")) in used[section]:
                    place = ("reserved", section, n)
                    self.problem(place, f"{name!r} is reserved, yet used", "rename one")


def identifiers(file: StrategyFile) -> dict[str, set[tuple[str, ...]]]:
    """Every id of a strategy by section, as the steps that lead to it."""
    tables: set[tuple[str, ...]] = {(name,) for name in file.tables}
    tables |= {(name, row) for name, table in file.tables.items() for row in table.rows}
    sections = ("facts", "blocks", "factors", "latches", "config", "output")
    return {"tables": tables} | {
        section: {(name,) for name in getattr(file, section)} for section in sections
    }


def otherwise_takes(strategy: Strategy, table: str) -> tuple[str, list[tuple[Value, ...]]] | None:
    """The row of a table that is for everything else, and the combinations that it takes."""
    names = [name for name, when in strategy.file.tables[table].rows.items() if when == OTHERWISE]
    rule = strategy.logic.tables[table]
    taken = [values for values, row in rule.table.items() if row in names]
    return (names[0], taken) if names else None


def _names_in(text: str) -> set[str]:
    try:
        tree, _ = parse(text)
    except Failure:  # told where it is checked
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _values(domains: Mapping[str, Sequence[Value]]) -> dict[str, Named]:
    """Facts as names in expressions."""
    made = {}
    for name, domain in domains.items():
        texts = [value for value in domain if isinstance(value, str)]
        made[name] = Named(enum(texts) if texts else BOOL, Slot("fact", name))
    return made


def _put_shape(shapes: dict[str, FieldNames], path: str, output: Map) -> str:
    """Gives the fields of a contract's state a shape; its name is where they stand."""
    shape = shapes[path] = FieldNames()
    for name, node in output.items.items():
        inner = _field(shapes, f"{path}.{name}", name, node)
        if inner is not None:
            shape.put(name, inner)
    return path


def _field(shapes: dict[str, FieldNames], path: str, name: str, node: Node) -> Named | None:
    at = Item(OWNER, name)
    match node:
        case Leaf():
            kind = node.kind
            plain = Kind(kind.name, kind.nullable or kind.loose, kind.names)
            return Named(plain, at)
        case Many() if node.split is not None:
            lists = shapes[path] = FieldNames()
            for side in node.lists:
                inner = _put_shape(shapes, f"{path}.{side}", node.give)
                each = Kind("element", shape=inner)
                lists.put(side, Named(Kind("list", of=each), Item(OWNER, side), element=inner))
            return Named(Kind("element", shape=path), at)
        case Many() | AttachedList():
            inner = _put_shape(shapes, path, node.give)
            return Named(Kind("list", of=Kind("element", shape=inner)), at, element=inner)
        case One() | Attached():
            shape = _put_shape(shapes, path, node.give)
            return Named(Kind("element", node.nullable, shape=shape), at)
        case Map():
            return Named(Kind("element", shape=_put_shape(shapes, path, node)), at)
    return None


def _generate(
    facts: Mapping[str, Expression],
    epoch: Expression | None,
    given: Mapping[tuple[str, ...], Expression],
) -> ReadingProgram:
    """The program of a strategy: a function for each fact, the epoch, and what is given."""
    module = Module()
    for name, rule in facts.items():
        evaluate(module, ("fact", name), ("facts", name), rule)
    if epoch is not None:
        evaluate(module, ("epoch",), ("epoch",), epoch)
    for place, rule in given.items():
        evaluate(module, place, place, rule)
    return module.program()
