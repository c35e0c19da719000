"""Examples beside a contract: what must be read from them, and the mutation test.

An example is a snapshot and what must be read from it, or why it is refused. In the mutation test
no change that matters goes unnoticed. For every object of a good example that is not ignored and
not history, each field that reaches a state, an edge case or the output is changed. The reading
must then be refused or say something else. Three changes need not be noticed:

- one within a stated tolerance,
- one of opacity, where the contract does not ask for `alpha`,
- one between two looks that a state table lists in one row.

Objects are also taken away, one at a time and two at a time. A field that another part of a
condition overrules is changed together with that part. What is `outdated` is history, and may
change or go.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.elements import Attachment, ElementPlan
from chartpact.contracts.check.outputs import Attached, Instances, parts
from chartpact.contracts.language.codecs import PayloadError, encode
from chartpact.contracts.language.document import ContractError, refusal
from chartpact.contracts.language.model import PayloadField
from chartpact.contracts.language.nodes import Call, Literal, Mention
from chartpact.contracts.language.values import Column, Constant, Names
from chartpact.contracts.reading import Reading
from chartpact.contracts.reading.bind import day_of
from chartpact.contracts.reading.engine import Run, read
from chartpact.contracts.workbench.targets import Target, targets
from chartpact.palette import TEXT_SIZES
from chartpact.snapshot import CHANNELS, FIELDS, Snapshot, SnapshotError, parse_json

FRESH_COLOR = "#1b2c3d"
FAR = 1_000_000
DAYS = 4 * 86_400_000  # far in time: beyond a weekend
MAX_OBJECTS = 6  # of one element in one example
MAX_OVERRULED = 12  # fields of one example that are tried together with others
MAX_TURNS = 6  # ways to change those others
MAX_PAIRS = 45  # of objects of one example that are taken away together

_KEYS = {"about", "snapshot", "config", "profile", "expect"}

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """A snapshot, how it is read, and what is expected."""

    name: str
    snapshot: Snapshot
    expect: Mapping[str, Any]
    config: Mapping[str, Any] | None = None
    profile: str | None = None
    about: str = ""

    @property
    def conforming(self) -> bool:
        return "state" in self.expect

    def read(self, contract: Contract) -> Reading:
        return read(contract, self.snapshot, self.config, self.profile)


def load(path: Path) -> Example:
    """The example in a file: `{about?, snapshot, config?, profile?, expect}`."""
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or not {"snapshot", "expect"} <= set(data) <= _KEYS:
            raise _refusal(path, f"an example has snapshot and expect, beside {_KEYS}")
        expect = data["expect"]
        if not isinstance(expect, dict) or len(expect.keys() & {"state", "violations"}) != 1:
            raise _refusal(path, "expect holds either a state or violations")
        snapshot, about = Snapshot(data["snapshot"]), str(data.get("about", ""))
        config, profile = data.get("config"), data.get("profile")
        return Example(path.stem, snapshot, expect, config, profile, about)
    except (SnapshotError, OSError, UnicodeDecodeError) as error:
        raise _refusal(path, str(error)) from None


def _refusal(path: Path, message: str) -> ContractError:
    """The error of a file that is no example."""
    return refusal(None, f"{path.name}: {message}", "")


def load_all(folder: Path) -> list[Example]:
    """Every example in a folder, by name."""
    return [load(path) for path in sorted(folder.glob("*.json"))]


def difference(example: Example, reading: Reading) -> str | None:
    """How a reading differs from what is expected, or nothing."""
    if example.conforming:
        if not reading.ok:
            return "refused: " + "; ".join(map(str, reading.violations[:3]))
        if reading.state != example.expect["state"]:
            return f"read {json.dumps(reading.state)}, not {json.dumps(example.expect['state'])}"
        return None
    wanted = Counter((v["kind"], v["path"]) for v in example.expect["violations"])
    actual = Counter((v.kind, v.path) for v in reading.violations)
    if wanted == actual:
        return None
    if reading.ok:
        return f"read {json.dumps(reading.state)}, though it should be refused"
    lacking = [f"{kind} at {path}" for kind, path in (wanted - actual).elements()]
    extra = [f"{kind} at {path}" for kind, path in (actual - wanted).elements()]
    return f"not found: {', '.join(lacking) or 'none'}; found besides: {', '.join(extra) or 'none'}"


# ----------------------------------------------------------------------------------- mutation test


@dataclass(frozen=True)
class MutationVerdict:
    """A change of an example, and whether its reading changed with it."""

    example: str
    target: str
    change: str
    noticed: bool
    unsure: bool = False  # another part of a condition may overrule the field

    def __str__(self) -> str:
        return f"{self.example}: {self.target} {self.change}"


@dataclass(frozen=True)
class MutationResult:
    """How many changes were made, in which fields, and which of them went unnoticed."""

    targets: tuple[str, ...]
    changes: int
    unnoticed: tuple[MutationVerdict, ...]
    unshown: tuple[str, ...] = ()  # fields of which no example shows that they matter

    def to_json(self) -> dict[str, Any]:
        return {
            "targets": list(self.targets),
            "changes": self.changes,
            "unnoticed": list(map(str, self.unnoticed)),
            "unshown": list(self.unshown),
        }


def mutate(contract: Contract, examples: Iterable[Example]) -> MutationResult:
    """Changes what the good examples show, one field after the other."""
    shown: set[str] = set()
    trials = [_Trial(contract, example, shown) for example in examples if example.conforming]
    verdicts = [verdict for trial in trials for verdict in trial.run()]
    noticed = {verdict.target for verdict in verdicts if verdict.noticed}
    names = tuple(dict.fromkeys(verdict.target for verdict in verdicts))
    sure = [verdict for verdict in verdicts if not verdict.unsure]
    unnoticed = tuple(verdict for verdict in sure if not verdict.noticed)
    unshown = tuple(name for name in names if name not in noticed)
    return MutationResult(names, len(sure), unnoticed, unshown)


class _Trial:
    """One example, and what becomes of its reading when something is changed."""

    def __init__(self, contract: Contract, example: Example, shown: set[str]) -> None:
        self.contract, self.example = contract, example
        self._shown = shown  # fields of payloads of which some example shows that they matter
        self.base = Run(contract, example.snapshot)
        self.reading = self._read(self.base)
        values = self.base.bound.values
        self._tick = values.get("tick_size") or 1
        types = {name: key.type for name, key in contract.keys.items()}
        colors = [values[name] for name, type_ in types.items() if type_ == "color"]
        self._colors = [color for color in colors if color is not None]

    def _read(self, run: Run) -> Any:
        return run.reading(self.example.config or {}, self.example.profile)

    def _verdict(
        self, target: Target | str, change: str, noticed: bool, unsure: bool = False
    ) -> MutationVerdict:
        return MutationVerdict(self.example.name, str(target), change, noticed, unsure)

    def run(self) -> Iterator[MutationVerdict]:
        seen: set[tuple[int, Column, bool]] = set()
        overruled: list[tuple[Target, Record]] = []
        fields = targets(self.contract, self.base.bound.values)
        for target in sorted(fields, key=lambda target: (target.unsure, not target.every)):
            for record in self._records(target)[:MAX_OBJECTS]:
                field = (id(record), target.need, target.alpha)
                if field in seen:  # the strictest demand on a field includes the others
                    continue
                seen.add(field)
                asked = target
                if self._is_outdated(record):  # history, of which only the age need matter
                    asked = replace(target, every=False, unsure=True)
                for verdict in self._change(asked, record):
                    yield verdict
                    if verdict.unsure and not verdict.noticed:
                        overruled.append((target, record))
        yield from self._change_overruled(overruled)
        yield from self._change_payloads()
        needed = list(self._needed_records())
        for (one, first, _), (other, second, _) in islice(combinations(needed, 2), MAX_PAIRS):
            noticed = self._is_noticed(self._with({id(first): None, id(second): None}))
            names = one.name if one is other else f"{one.name} and {other.name}"
            yield self._verdict(f"two of {names}", "removed", noticed is not False)
        for element, record, damaged in needed:
            after = self._with({id(record): None})
            # A group that lost a member is damaged: it must be refused, not read as another.
            if damaged:
                noticed = not self._read(Run(self.contract, after)).ok
            else:
                noticed = self._is_noticed(after) is not False
            yield self._verdict(f"{element.name} as a whole", "removed", noticed)

    # ------------------------------------------------------------------------------------ objects

    def _records(self, target: Target) -> list[Record]:
        """The objects in which a field reaches, in this example."""
        element = self.contract.elements[target.element]
        instances = self._contributing(target.element)
        if target.referrer is not None and not self._contributing(target.referrer):
            return []
        if target.attachment is not None:
            instances = self._follow(target, element, instances)
        if target.beside is not None:
            instances = _having(instances, element.parts[target.beside].slot)
        if target.grouped:  # what stands alone is a group anywhere
            instances = [instance for instance in instances if len(instance[0]) > 1]
        matching = self.base.matching
        if target.part is not None and element.base is None:
            slot = element.parts[target.part].slot
            rows = [instance[slot] for instance in _having(instances, slot)]
            return [matching.drawn[element.channel].records[row[0]] for row in rows]
        return matching.behind(element, instances)

    def _follow(self, target: Target, element: ElementPlan, instances: list[Any]) -> list[Any]:
        """Owners that have the attachment, or what is attached to them."""
        owner = self.contract.elements[target.referrer or target.element]
        attachment = next(a for a in owner.attachments if a.name == target.attachment)
        if owner is element and target.referrer is None:
            return [
                instance for instance in instances if _attached_instances([instance], attachment)
            ]
        return _attached_instances(self._contributing(owner.name), attachment)

    def _contributing(self, name: str, each_counts: bool = False) -> list[Any]:
        """The instances of an element on which the reading depends.

        With `each_counts`, without instances that only enter an aggregate.
        """
        instances = self.base.matching.instances[name]
        if name in self._named_elements or (name in self._listed_elements and not each_counts):
            return instances
        used: dict[int, Any] = {}
        for other in self.contract.elements.values():
            if name not in other.uses or other.ignored:
                continue
            others = self._contributing(other.name, each_counts)
            if other.base == name and other.group is None:
                used |= {id(view[0]): view[0] for view in others}
            attachments = [a for a in other.attachments if a.candidates == name]
            if any(attachment.exclusive for attachment in attachments):
                return instances
            for attachment in attachments:
                used |= {id(one): one for one in _attached_instances(others, attachment)}
            if other.base != name and not attachments and others:
                return instances
        return list(used.values())

    @cached_property
    def _named_elements(self) -> set[str]:
        """The elements that machines, edge cases and the output speak of, not only in lists."""
        contract = self.contract
        machines, edges = contract.machines.values(), contract.edges.values()
        named = {plan.element for plan in machines} | {edge.spec.each for edge in edges}
        for part in parts(contract.output):
            if isinstance(part, Instances) or (isinstance(part, Attached) and part.named):
                named.add(part.element)
        epochs = [plan.epoch for plan in machines if plan.epoch is not None]
        rules = (*contract.deciding, *epochs)
        return {name for name in named if name is not None}.union(*(rule.named for rule in rules))

    @cached_property
    def _listed_elements(self) -> set[str]:
        return set().union(*(rule.lists for rule in self.contract.deciding))

    @cached_property
    def _rolls(self) -> list[str]:
        """The day rolls by which the contract asks whether something is outdated."""
        nodes = (node for rule in self.contract.expressions.values() for node in rule.nodes)
        calls = [node for node in nodes if isinstance(node, Call) and node.function == "outdated"]
        values = self.base.bound.values
        rolls: list[str] = []
        for roll in (call.arguments[2] for call in calls):
            if isinstance(roll, Literal):
                rolls.append(str(roll.value))
            elif isinstance(roll, Mention) and isinstance(roll.value.at, Constant):
                rolls.append(values[roll.value.at.name])
        return rolls

    def _is_outdated(self, record: Record) -> bool:
        """Whether an object begins on an earlier trading day than the chart's last bar."""
        last = self.example.snapshot.chart.get("last_time")
        begin = record.get("left") or record.get("x1") or record.get("x") or {}
        time = begin.get("time")
        if last is None or time is None:
            return False
        return any(day_of(roll)(time) < day_of(roll)(last) for roll in self._rolls)

    def _needed_records(self) -> Iterator[tuple[ElementPlan, Record, bool]]:
        """Objects whose removal must be noticed, each with a flag: does removal damage a group?"""
        for element in self.contract.elements.values():
            if element.ignored or element.base is not None:
                continue
            records = self.base.matching.drawn[element.channel].records
            optional = [part.slot for part in element.parts.values() if part.optional]
            for instance in self._contributing(element.name, each_counts=True)[:MAX_OBJECTS]:
                rows = instance[0] if element.group is not None else [instance[0]]
                for row in rows:
                    spare = any(instance[slot] is row for slot in optional)
                    if not spare and not self._is_outdated(records[row[0]]):
                        yield element, records[row[0]], bool(element.parts) and len(rows) > 1

    # ------------------------------------------------------------------------------------ changes

    def _change(self, target: Target, record: Record) -> Iterator[MutationVerdict]:
        verdicts = []
        for change, changed in self._mutants(target, record):
            noticed = self._is_noticed(self._with({id(record): changed}))
            if noticed is not None:
                verdicts.append(self._verdict(target, change, noticed))
            if noticed and not target.every:  # one change is enough
                break
        if target.every:
            yield from verdicts
        elif verdicts:
            changes = " or ".join(verdict.change for verdict in verdicts)
            noticed = any(verdict.noticed for verdict in verdicts)
            yield self._verdict(target, changes, noticed, target.unsure)

    def _change_overruled(self, fields: list[tuple[Target, Record]]) -> Iterator[MutationVerdict]:
        """Fields that matter once the other parts of a condition no longer hold.

        Where `a or b` holds by both, neither is noticed alone. First the other parts of the
        condition are changed so that the reading stays the same. Then the field alone decides, and
        is changed.
        """
        for target, record in fields[:MAX_OVERRULED]:
            others = [field for field in fields[:MAX_OVERRULED] if field != (target, record)]
            for turn in range(MAX_TURNS if others else 0):
                around = self._quiet(others, turn)
                now = around.get(id(record), record)
                for change, changed in self._mutants(target, now):
                    if self._is_noticed(self._with({**around, id(record): changed})):
                        yield self._verdict(target, change, True, unsure=True)
                        break
                else:
                    continue
                break

    def _change_payloads(self) -> Iterator[MutationVerdict]:
        """Payloads that are as well-formed as before, with one field changed."""
        for plan in self.contract.elements.values():
            field = plan.spec.decode.of if plan.spec.decode is not None else ""
            if plan.decode is None or plan.group is not None or field not in FIELDS[plan.channel]:
                continue
            codec = plan.decode.codec
            pattern = self.base.bound.values[codec.pattern_key] if codec.pattern_key else None
            for instance in self._contributing(plan.name)[:MAX_OBJECTS]:
                (record,) = self.base.matching.behind(plan, [instance])
                values = dict(zip(codec.fields, instance[plan.decode.slot], strict=True))
                for names, changed in _payload_mutants(codec.fields, values):
                    target = ".".join((plan.name, *names))
                    if (plan.name, *names) not in self._payload_fields or target in self._shown:
                        continue
                    try:
                        text = encode(codec, changed, codec.versions[0], pattern)
                    except PayloadError:  # it would not be read
                        continue
                    noticed = self._is_noticed(self._with({id(record): {**record, field: text}}))
                    if noticed is not None:
                        yield self._verdict(target, f"became {text!r:.60}", noticed, unsure=True)
                    if noticed:
                        self._shown.add(target)

    @cached_property
    def _payload_fields(self) -> set[Names | None]:
        """The decoded fields that expressions of the contract mention."""
        rules = self.contract.expressions.values()
        return {mention.value.payload for rule in rules for mention in rule.mentions}

    def _quiet(self, fields: list[tuple[Target, Record]], turn: int) -> dict[int, Record]:
        """Changes of these fields, all at once, that leave the reading as it was."""
        around: dict[int, Record] = {}
        for target, record in fields:
            now = around.get(id(record), record)
            quiet = [
                changed
                for _, changed in self._mutants(target, now)
                if self._is_noticed(self._with({**around, id(record): changed})) is False
            ]
            if quiet:
                around[id(record)] = quiet[turn % len(quiet)]
        return around

    def _is_noticed(self, snapshot: Snapshot) -> bool | None:
        """Whether the reading changed; None where a state table lists both looks side by side."""
        run = Run(self.contract, snapshot)
        reading = self._read(run)
        if not reading.ok or reading.state != self.reading.state:
            return True
        return None if run.observed != self.base.observed else False

    def _with(self, changed: Mapping[int, Record | None]) -> Snapshot:
        """The picture with some objects changed or, where None, removed; by their identity."""
        data, study = self.example.snapshot.data, self.base.study
        channels = {}
        for name in CHANNELS:
            if (records := study.records(name)) is not None:
                now = (changed.get(id(record), record) for record in records)
                channels[name] = [record for record in now if record is not None]
        studies = [{**old, **channels} if old is study.data else old for old in data["studies"]]
        return Snapshot({**data, "studies": studies})

    def _mutants(self, target: Target, record: Record) -> Iterator[tuple[str, Record]]:
        """The object with that field changed, in several ways, each told in words."""
        name = _side_of(record, target.need.field)
        field, value = FIELDS[target.need.channel][name], record[name]
        if field.kind == "anchor":
            at = target.need.part or "n"
            if value[at] is not None:
                far = (FAR, DAYS) if at == "time" else (FAR,)
                for moved in (value[at] + sign * step for step in far for sign in (-1, 1)):
                    yield f"{at} moved to {moved}", {**record, name: {**value, at: moved}}
            return
        for changed in self._values(target, field.kind, field.names, value):
            if changed != value:
                yield f"changed from {value!r:.40} to {changed!r:.40}", {**record, name: changed}

    def _values(self, target: Target, kind: str, names: Sequence[str], value: Any) -> Iterator[Any]:
        match kind:
            case "number":
                far = 97 * self._tick
                yield from () if value is None else (value + far, value - far)
            case "whole":
                yield from (value + 1, value + 7)
            case "flag":
                yield not value
            case "text":
                yield from (f"{value}~", "~", "")
            case "name":
                yield from names
            case "size":
                yield from TEXT_SIZES
            case "color" if target.alpha:
                if value is not None:
                    yield from (f"{value[:7]}01", f"{value[:7]}fe", f"{value[:7]}ff")
            case "color":
                yield from (f"{FRESH_COLOR}ff", None)
                for setting in self._colors:
                    if value is None or setting[:7] != value[:7].lower():
                        yield f"{setting[:7]}{(value or '#ffffffff')[7:] or 'ff'}"


def _side_of(record: Record, name: str) -> str:
    """The field that is a side of a box: of one drawn right to left, the other one."""
    if name not in ("left", "right"):
        return name
    left, right = record["left"]["n"], record["right"]["n"]
    backwards = left is not None and (right is None or left > right)
    return {"left": "right", "right": "left"}[name] if backwards else name


def _having(instances: list[Any], slot: int) -> list[Any]:
    """The instances that hold something in a slot."""
    return [instance for instance in instances if instance[slot] is not None]


def _attached_instances(owners: list[Any], attachment: Attachment) -> list[Any]:
    """All instances that are attached to owners."""
    attached = [owner[attachment.slot] for owner in _having(owners, attachment.slot)]
    return [one for several in attached for one in several] if attachment.several else attached


def _payload_mutants(
    fields: Mapping[str, PayloadField], values: Mapping[str, Any]
) -> Iterator[tuple[Names, dict[str, Any]]]:
    """The values of a payload with one field changed; of a list, its first entry."""
    for name, field in fields.items():
        value = values[name]
        if field.type == "list" and value:
            inner = field.fields or {}
            first = dict(zip(inner, value[0], strict=True))
            for names, changed in _payload_mutants(inner, first):
                entries = (tuple(changed.values()), *value[1:])
                yield (name, *names), {**values, name: entries}
        elif value is not None:
            for changed in _other_values(field, value):
                yield (name,), {**values, name: changed}


def _other_values(field: PayloadField, value: Any) -> Iterator[Any]:
    match field.type:
        case "bool":
            yield not value
        case "choice":
            yield from (option for option in field.options or () if option != value)
        case "number":
            yield from (value + 1, value - 1, value / 2)
        case "time":
            yield from (value + DAYS, value - DAYS)
        case "text":
            yield f"{value}x"
