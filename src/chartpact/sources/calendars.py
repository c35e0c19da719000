"""Economic calendars in files: a JSON list of events, each with a title, a time and an impact."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chartpact.bars import samples
from chartpact.bars.errors import BarsError, unreadable
from chartpact.checks import is_text, is_whole
from chartpact.needs import Events

IMPACTS = ("holiday", "low", "medium", "high")
FIELDS = (
    "id title country currency time_utc all_day tentative impact actual forecast previous revised "
    "unit period source fetched_at"
).split()
MOST_EVENTS = 20_000
MOST_BYTES = 16 * 2**20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def load(name: str) -> Events:
    """The events of `sample:calendar`, or of a JSON file, in the order of time."""
    if name.startswith(samples.PREFIX):
        return tuple(samples.calendar(name))
    path = Path(name)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BarsError(f"{name}: a calendar has at most {MOST_BYTES} bytes")
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, BarsError):
            raise
        raise BarsError(f"{name}: {unreadable(path, error)}") from None
    return parse(text, name)


def parse(text: str, name: str = "the calendar") -> Events:
    """The events in a JSON text.

    >>> parse('[{"title": "CPI", "time_utc": "2024-03-12T08:30-04:00", "impact": "high"}]')[0]["id"]
    '1710246600000 CPI'
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise BarsError(f"{name} is not JSON: a calendar is a list of events") from None
    if not isinstance(data, list) or len(data) > MOST_EVENTS:
        raise BarsError(f"{name} is not a list of at most {MOST_EVENTS} events")
    events = [_event(entry, f"{name}: event {number}") for number, entry in enumerate(data, 1)]
    return tuple(sorted(events, key=lambda event: (event["time_utc"], event["id"])))


def _event(entry: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise BarsError(f"{where} is not an object")
    unknown = sorted(entry.keys() - set(FIELDS))
    if unknown:
        raise BarsError(f"{where} has no field {unknown[0]!r:.60}; there are {', '.join(FIELDS)}")
    event = {name: entry.get(name) for name in FIELDS}
    event["time_utc"] = _time(event["time_utc"], where)
    if not is_text(event["title"]) or not str(event["title"]).strip():
        raise BarsError(f"{where} has no title")
    event["impact"] = str(event["impact"]).lower()
    if event["impact"] not in IMPACTS:
        raise BarsError(f"{where}: impact is one of {', '.join(IMPACTS)}")
    for flag in ("all_day", "tentative"):
        event[flag] = bool(event[flag])
    event["id"] = str(event["id"] or f"{event['time_utc']} {event['title']}")
    for name, value in event.items():
        if isinstance(value, dict | list) or (isinstance(value, str) and not is_text(value)):
            raise BarsError(f"{where}: {name} is neither a text nor a number")
    return event


def _time(value: Any, where: str) -> int:
    """UTC ms; a text is ISO 8601 and names its offset."""
    if is_whole(value):
        return int(value)
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
    except (TypeError, ValueError):
        message = f"{where}: time_utc is UTC ms, or ISO 8601 with an offset as in 2024-03-12T08:30Z"
        raise BarsError(message) from None
    return (moment - _EPOCH) // timedelta(milliseconds=1)
