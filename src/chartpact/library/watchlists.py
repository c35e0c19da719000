"""Lists of symbols that a user watches, in the user's order."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError
from chartpact.library.schema import key, watchlists
from chartpact.problem import Problem

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")  # as of a script
SYMBOL = re.compile(r"[^\s\x00-\x1f\x7f]{1,128}")
MOST_LISTS = 20
MOST_SYMBOLS = 200


@dataclass(frozen=True)
class Watchlist:
    """A named list of symbols; the time of its last change is UTC ms."""

    name: str
    symbols: tuple[str, ...]
    updated_at: int


class Watchlists:
    """The watchlists of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, user: str) -> tuple[Watchlist, ...]:
        """All of a user's lists, by name."""
        query = (
            sa.select(watchlists).where(watchlists.c.user_id == user).order_by(watchlists.c.name)
        )
        with self._database.read() as connection:
            return tuple(_read(row) for row in connection.execute(query))

    def get(self, user: str, name: str) -> Watchlist:
        """One list; a name that is not there is refused."""
        with self._database.read() as connection:
            query = sa.select(watchlists).where(*key(watchlists, user, name))
            row = connection.execute(query).first()
        if row is None:
            raise LibraryError(Problem("name", f"there is no watchlist {name!r:.80}"))
        return _read(row)

    def put(self, user: str, name: str, symbols: Sequence[str]) -> Watchlist:
        """Keeps a list under a name, in place of what was there; a symbol counts once."""
        if not NAME.fullmatch(name):
            message = f"{name!r:.80} is no name of a watchlist"
            raise LibraryError(Problem("name", message, "use small letters, digits and _"))
        kept = tuple(dict.fromkeys(symbols))
        if len(kept) > MOST_SYMBOLS:
            raise LibraryError(Problem("size", f"a watchlist has at most {MOST_SYMBOLS} symbols"))
        for symbol in kept:
            if not SYMBOL.fullmatch(symbol):
                raise LibraryError(Problem("value", f"{symbol!r:.80} is no symbol"))
        watchlist = Watchlist(name, kept, now_ms())
        text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        values = {"symbols_json": text, "updated_at": watchlist.updated_at}
        with self._database.write(user) as connection:
            connection.execute(sa.delete(watchlists).where(*key(watchlists, user, name)))
            count = sa.select(sa.func.count()).where(watchlists.c.user_id == user)
            if connection.execute(count).scalar_one() >= MOST_LISTS:
                message = f"you have {MOST_LISTS} watchlists, which is the most"
                raise LibraryError(Problem("size", message, "remove one of them"))
            connection.execute(
                sa.insert(watchlists).values({"user_id": user, "name": name, **values})
            )
        return watchlist

    def remove(self, user: str, name: str) -> None:
        """Removes a list; a name that is not there is refused."""
        with self._database.write(user) as connection:
            gone = sa.delete(watchlists).where(*key(watchlists, user, name))
            removed = connection.execute(gone)
            if not removed.rowcount:
                raise LibraryError(Problem("name", f"there is no watchlist {name!r:.80}"))


def _read(row: sa.Row[tuple[str, str, str, int]]) -> Watchlist:
    return Watchlist(row.name, tuple(json.loads(row.symbols_json)), row.updated_at)
