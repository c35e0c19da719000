"""A user's own files as a source of bars: `NAME@mine`, for that user alone."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from chartpact.bars import Bars, BarsError
from chartpact.bars.load import of_content
from chartpact.bars.options import Options
from chartpact.library.uploads import Upload, Uploads
from chartpact.sources import parsed
from chartpact.sources.catalog import Listing
from chartpact.sources.errors import UnknownSymbol, near

MINE = "mine"
LARGEST = 64 * 2**20  # bytes of a file, unpacked

_KNOWN = tuple(field.name for field in fields(Options))


def bars_of(upload: Upload, timeframe: str | None = None) -> Bars:
    """The bars of an upload; takes processor time, and needs no database."""
    unknown = sorted(set(upload.given) - set(_KNOWN))
    if unknown:
        raise BarsError(f"{unknown[0]!r:.80} is nothing to say of bars: {', '.join(_KNOWN)} are")
    bars = of_content(upload.content, upload.name, Options(**upload.given), LARGEST)
    bars = replace(bars, source=MINE)
    return bars if timeframe is None else bars.resample(timeframe)


def read_bars(user: str, upload: Upload, timeframe: str | None = None) -> Bars:
    """The same, of a file that this user has stored: read once, as long as it stays what it is."""
    content = hashlib.sha256(upload.content).digest()
    given = json.dumps(dict(upload.given), sort_keys=True)
    key = (Mine, user, upload.name, given, content)
    bars = parsed.shared.get(key, lambda: bars_of(upload))
    return bars if timeframe is None else bars.resample(timeframe)


def facts_of(upload: Upload) -> dict[str, Any]:
    """What the lists tell of an upload; raises BarsError on one that holds no bars."""
    bars = bars_of(upload)
    return {
        "symbol": bars.symbol,
        "timeframe": bars.timeframe,
        "bars": len(bars),
        "first": int(bars.time[0]),
        "last": int(bars.time[-1]),
    }


class Mine:
    """The uploads of one user, as a source."""

    name = MINE
    about = f"Your own uploads, asked for as NAME@{MINE}."
    remote = False

    def __init__(self, uploads: Uploads, user: str) -> None:
        self._uploads = uploads
        self._user = user

    def listings(self) -> Iterable[Listing]:
        return [
            Listing(f"{each.name}@{MINE}", each.facts.get("timeframe"), MINE)
            for each in self._uploads.of(self._user)
        ]

    def upload(self, symbol: str) -> Upload:
        """The file of that name, for whoever has the time to read it."""
        found = self._uploads.get(self._user, symbol)
        if found is None:
            names = (each.name for each in self._uploads.of(self._user))
            raise UnknownSymbol(f"you have no bars called {symbol!r:.80}{near(symbol, names)}")
        return found

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        return read_bars(self._user, self.upload(symbol), timeframe)
