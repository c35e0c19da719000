"""Which element of a contract each drawn object matched, for people who write contracts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.elements import ElementPlan
from chartpact.contracts.reading import Reading, jsonable
from chartpact.contracts.reading.engine import Run
from chartpact.snapshot import CHANNELS, Snapshot, Study

Json = Any


@dataclass
class Match:
    """A drawn object, the elements that it is part of, and what they read from it."""

    channel: str
    number: int  # among the objects of its channel, from 1
    record: Json
    elements: list[str] = field(default_factory=list)
    used: bool = False  # whether an element made something of it
    part: str | None = None  # which part of a group it is
    fields: dict[str, Json] = field(default_factory=dict)
    violations: list[int] = field(default_factory=list)  # which violations of the reading name it

    def to_json(self) -> dict[str, Json]:
        return {
            "channel": self.channel,
            "number": self.number,
            "object": jsonable(self.record),
            "elements": self.elements,
            "used": self.used,
            "part": self.part,
            "fields": self.fields,
            "violations": self.violations,
        }


def match(
    contract: Contract,
    snapshot: Snapshot,
    config: Mapping[str, Any] | None = None,
    profile: str | None = None,
) -> tuple[Reading, list[Match]]:
    """What a contract reads from a snapshot, and what it made of every object of its study.

    An object that nothing claimed has no elements. A refused reading has matches too, as far as it
    came.
    """
    run = Run(contract, snapshot)
    reading = run.reading(config or {}, profile)
    studies = [study for study in snapshot.studies if study.name == contract.title]
    if len(studies) != 1:
        return reading, []
    matches = list(_list_objects(studies[0]))
    by_record = {id(match.record): match for match in matches}
    if hasattr(run, "matching"):  # else the reading was refused before
        for element in contract.elements.values():
            _note_element(run, element, by_record)
    for number, violation in enumerate(reading.violations):
        for record in violation.objects:
            if (match := by_record.get(id(record))) is not None:
                match.violations.append(number)
    return reading, matches


def _list_objects(study: Study) -> Iterator[Match]:
    for channel in CHANNELS:
        for number, record in enumerate(study.records(channel) or (), start=1):
            yield Match(channel, number, record)


def _note_element(run: Run, element: ElementPlan, by_record: Mapping[int, Match]) -> None:
    """Notes an element in the matches of its objects, and what its instances hold."""
    matching = run.matching
    for record in matching.claimed(element):
        by_record[id(record)].elements.append(element.name)
    for instance in matching.instances.get(element.name, ()):
        fields = _read_fields(element, instance)
        for record in matching.behind(element, [instance]):
            match = by_record[id(record)]
            if element.name not in match.elements:
                match.elements.append(element.name)
            match.fields |= fields
            match.used = True
        for name, part in element.parts.items():
            if instance[part.slot] is not None:
                (record,) = matching.records(element, [instance[part.slot]])
                by_record[id(record)].part = name


def _read_fields(element: ElementPlan, instance: list[Any]) -> dict[str, Json]:
    """The values of an instance, by their names in the contract."""
    fields: dict[str, Json] = {}
    if element.decode is not None:
        fields |= zip(element.decode.codec.fields, instance[element.decode.slot], strict=True)
    for name, read in element.reads.items():
        fields[name] = instance[read.slots[0][0]]
    for attachment in element.attachments:
        attached = instance[attachment.slot]
        count = f"{len(attached)} " if attachment.several and attached else ""
        fields[attachment.name] = f"{count}{attachment.candidates}" if attached else None
    row = instance[element.row]
    if row is not None and isinstance(row[0], str):
        fields["state"] = row[0]
    return {name: jsonable(value) for name, value in fields.items()}
