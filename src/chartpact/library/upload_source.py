"""A user's own files as a source of bars and calendars: `NAME@mine`, for that user alone."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from chartpact.bars import Bars
from chartpact.bars.loading import of_content
from chartpact.bars.options import check_options
from chartpact.library.uploads import Upload, Uploads
from chartpact.needs import Events
from chartpact.sources import calendars
from chartpact.sources.directory import Symbol
from chartpact.sources.errors import UnknownSymbol, near
from chartpact.sources.folder import PARSED

MINE = "mine"
LARGEST = 64 * 2**20  # bytes of a file, unpacked


def parse_upload(upload: Upload) -> Bars:
    """The bars of an upload; takes processor time, and needs no database."""
    options = check_options(upload.given)
    bars = of_content(upload.content, upload.name, options, LARGEST)
    return replace(bars, source=MINE)


def load_upload(user: str, upload: Upload, timeframe: str | None = None) -> Bars:
    """The bars of an upload, parsed once as long as the file stays what it is."""
    content = hashlib.sha256(upload.content).digest()
    given = json.dumps(dict(upload.given), sort_keys=True)
    key = ("upload", user, upload.name, given, content)
    bars = PARSED.get_or_make(key, lambda: parse_upload(upload))
    return bars if timeframe is None else bars.resample(timeframe)


def parse_calendar(upload: Upload) -> Events:
    """The events of an uploaded calendar; raises BarsError on a file that holds none."""
    return calendars.parse(upload.content.decode("utf-8-sig", "replace"), upload.name)


def describe_upload(upload: Upload) -> dict[str, Any]:
    """The facts that lists show of an upload; raises BarsError on one without bars or events.

    A calendar is told from bars by the key that every event has: no column of bars is called so.
    """
    if upload.content.lstrip()[:1] == b"[" and b'"time_utc"' in upload.content:
        events = parse_calendar(upload)
        ends = {"first": events[0]["time_utc"], "last": events[-1]["time_utc"]}
        return {"symbol": "", "timeframe": "", "bars": 0, "events": len(events), **ends}
    bars = parse_upload(upload)
    return {
        "symbol": bars.symbol,
        "timeframe": bars.timeframe,
        "bars": len(bars),
        "first": int(bars.time[0]),
        "last": int(bars.time[-1]),
        "notes": list(bars.notes),
    }


class UploadSource:
    """The uploads of one user, as a source."""

    name = MINE
    about = f"Your own uploads, asked for as NAME@{MINE}."
    remote = False

    def __init__(self, uploads: Uploads, user: str) -> None:
        self._uploads = uploads
        self._user = user

    def symbols(self) -> Iterable[Symbol]:
        return [
            Symbol(f"{stored.name}@{MINE}", stored.facts.get("timeframe"), MINE)
            for stored in self._uploads.of(self._user)
            if not stored.facts.get("events")
        ]

    def may_have(self, symbol: str) -> bool:  # noqa: ARG002  (all its symbols are listed)
        return False

    def get(self, symbol: str) -> Upload:
        """The file of that name, not parsed yet."""
        upload = self._uploads.get(self._user, symbol)
        if upload is None:
            names = (stored.name for stored in self._uploads.of(self._user))
            raise UnknownSymbol(f"you have no bars called {symbol!r:.80}{near(symbol, names)}")
        return upload

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        return load_upload(self._user, self.get(symbol), timeframe)
