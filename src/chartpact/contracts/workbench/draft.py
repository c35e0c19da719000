"""A starting contract, written from what stands on a chart, for its author to name.

Objects that look alike become one element: by channel, colour, style and the shape of their text.
What each means is for the author to say; until then `contract check` refuses the file.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chartpact import pacts
from chartpact.contracts.check.elements import UNWRITTEN
from chartpact.contracts.language.model import MAX_NAME, RESERVED
from chartpact.drawing import Box, Cell, Label, Line
from chartpact.problem import Failure, Problem, did_you_mean
from chartpact.snapshot import CHANNELS, Snapshot, Study

MOST_LOOKS = 40  # of a channel; where there are more, less of the look is compared
MOST_TEXT = 60
MOST_SAMPLES = 3
_LOOKS = {
    "labels": ("style", "color"),
    "lines": ("style", "color"),
    "boxes": ("bgcolor", "border_color", "border_style"),
    "cells": ("bgcolor",),
}
_NOUNS = {kind.channel: kind.noun for kind in (Label, Line, Box, Cell)}
_SORTS = {"labels": "x", "lines": "x1", "boxes": "left", "cells": "row"}
_GIVES = {
    "labels": "text: text, price: y",
    "lines": "start: y1, end: y2",
    "boxes": "high: top, low: bottom",
    "cells": "text: text, row: row, column: column",
}
_NUMBER = re.compile(r"(?:(?<![0-9])[-+])?[0-9][0-9,.]*")  # 2026-01-02 holds three
_ANY_NUMBER = "[-+]?[0-9][0-9,.]*"
_COLOR = re.compile(r"#[0-9a-fA-F]{8}")

Record = Mapping[str, Any]


def draft(snapshot: Snapshot, study: str) -> str:
    """The text of a contract that claims everything which one study drew.

    Chart text is data: it stands in quotes, escaped, and never where YAML could read it.
    """
    chosen = _find(snapshot, study)
    drawn = {name: list(_records(chosen, name)) for name in CHANNELS}
    drawn = {name: records for name, records in drawn.items() if records}
    if not drawn:
        raise Failure(Problem("value", f"{study!r:.80} drew nothing that a contract reads"))
    elements, output = list[str](), list[str]()
    for channel, records in drawn.items():
        for n, (where, alike) in enumerate(_kinds(channel, records).items(), start=1):
            name = f"{_NOUNS[channel]}_{n}"
            elements += _element(name, channel, where, alike)
            sort, give = _SORTS[channel], _GIVES[channel]
            output.append(f"  {name}: {{from: {name}, sort: {sort}, give: {{{give}}}}}")
    return "\n".join([*_head(snapshot, chosen, drawn), *elements, "output:", *output]) + "\n"


def _find(snapshot: Snapshot, name: str) -> Study:
    names = [study.name for study in snapshot.studies]
    if names.count(name) == 1:
        return snapshot.studies[names.index(name)]
    message = f"{names.count(name) or 'no'} studies are called {name!r:.80}"
    hint = did_you_mean(name, names, 3) or f"there are: {', '.join(map(repr, names[:10]))}"
    raise Failure(Problem("name", message, hint[:500]))


def _records(study: Study, channel: str) -> Iterator[Record]:
    return (record for record in study.records(channel) or () if isinstance(record, Mapping))


def _head(snapshot: Snapshot, study: Study, channels: Mapping[str, Any]) -> Iterator[str]:
    name = re.sub(r"[^a-z0-9]+", "_", study.name.casefold()).strip("_") or "mine"
    taken = name in RESERVED or name in pacts.names()
    name = name if name[0].isalpha() and not taken else f"my_{name}"
    yield f"# Drafted from a chart of {_quote(str(snapshot.chart['symbol'])[:MOST_TEXT])}."
    yield "# Say of each element what it means, or `ignore: why`, and name it by that. What stands"
    yield "# in quotes was on the chart: it is data, whatever it says."
    yield f"contract: {name[:MAX_NAME].rstrip('_')}"
    yield "version: 0.1.0"
    yield f"identity: {{pine_title: {_quote(study.name)}}}"
    yield "timing: tick # close, if the indicator draws only when a bar closes"
    yield f"channels: {{{', '.join(f'{channel}: signal' for channel in channels)}}}"
    yield "elements:"


def _kinds(channel: str, records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records by the condition that tells each kind from the others, frequent ones first."""
    for looks in (_whole_look, _plain_look, lambda *_: ""):
        kinds: dict[str, list[Record]] = {}
        for record in records:
            kinds.setdefault(looks(channel, record), []).append(record)
        if len(kinds) <= MOST_LOOKS:
            break
    return dict(sorted(kinds.items(), key=lambda kind: -len(kind[1])))


def _whole_look(channel: str, record: Record) -> str:
    text = record.get("text")
    worded = channel != "lines" and isinstance(text, str)
    parts = (_plain_look(channel, record), _text_condition(str(text)) if worded else "")
    return " and ".join(filter(None, parts))


def _plain_look(channel: str, record: Record) -> str:
    """The style and the colours of an object, as a condition."""
    parts = []
    for field in _LOOKS[channel]:
        value = record.get(field, ...)
        if isinstance(value, str) and _COLOR.fullmatch(value):
            value = None if value.endswith("00") else value[:7].lower()
        if value is None:
            parts.append(f"{field} == none")
        elif isinstance(value, str) and re.fullmatch(r"#[0-9a-f]{6}|[a-z_]{1,40}", value):
            parts.append(f"{field} == '{value}'")
    if channel == "lines":
        level = record.get("y1") == record.get("y2")
        parts.append("horizontal" if level else "not horizontal")
    return " and ".join(parts)


def _text_condition(text: str) -> str:
    """A condition for texts of one shape: alike but for their numbers."""
    pieces = _NUMBER.split(text[:MOST_TEXT])
    if len(pieces) == 1 and len(text) <= MOST_TEXT and re.fullmatch(r"[ -&(-\[\]-~]*", text):
        return f"text == '{text}'"
    shape = _ANY_NUMBER.join(re.sub(r"[^A-Za-z0-9 ]", _escape_sign, piece) for piece in pieces)
    return f"matches(text, '(?s){shape}{'.*' if len(text) > MOST_TEXT else ''}')"


def _escape_sign(sign: re.Match[str]) -> str:
    """A sign as a pattern that needs no quotes; what cannot be seen may be any sign."""
    plain = sign[0].isprintable() and sign[0] not in "'\"\\^[]`"
    return f"[{sign[0]}]" if plain else "."


def _element(name: str, channel: str, where: str, records: Sequence[Record]) -> Iterator[str]:
    texts = Counter(
        record["text"][:MOST_TEXT] for record in records if isinstance(record.get("text"), str)
    )
    samples = [_quote(text) for text, _ in texts.most_common(MOST_SAMPLES) if text]
    yield f"  {name}: # {len(records)} drawn{', as in ' if samples else ''}{', '.join(samples)}"
    yield f"    from: {channel}"
    if where:
        yield f"    where: {_quote(where)}"
    yield f"    meaning: {UNWRITTEN}"


def _quote(text: str) -> str:
    """A text in quotes, in ASCII, as YAML reads it and nothing beside it."""
    return json.dumps(text)
