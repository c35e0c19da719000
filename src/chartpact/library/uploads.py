"""Each user's own bars: files stored once, and drawn by name as often as one likes."""

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError
from chartpact.library.schema import key, user_bars
from chartpact.problem import Problem

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

_COLUMNS = user_bars.c


@dataclass(frozen=True)
class Upload:
    """A file with its content, and what its user knows of it better than the file does."""

    name: str
    content: bytes
    given: Mapping[str, Any] = field(default_factory=dict)  # options of `bars.load`, such as tz


@dataclass(frozen=True)
class Stored:
    """A stored file, without its content."""

    name: str
    size: int
    facts: Mapping[str, Any]
    created_at: int


class Uploads:
    """The bars of all users; no method looks beyond the user it is given.

    `describe` finds the facts of an upload, or raises ValueError with a sentence for the user.
    """

    def __init__(
        self,
        database: Database,
        describe: Callable[[Upload], Mapping[str, Any]],
        most_bytes: int,
        most_files: int = 50,
    ) -> None:
        self._database = database
        self._describe = describe
        self._most_bytes = most_bytes
        self._most_files = most_files

    def put(
        self, user: str, name: str, content: bytes, given: Mapping[str, Any] | None = None
    ) -> Stored:
        """Checks the file and stores it, in place of an earlier one of that name."""
        if not NAME.fullmatch(name):
            raise _refuse(
                "value",
                f"{name!r:.80} is not a name for bars: use up to 64 letters, digits, _ . or -",
            )
        if len(content) > self._most_bytes:
            raise _refuse(
                "value",
                f"the file has {len(content)} bytes; all your files may have {self._most_bytes}",
            )
        upload = Upload(name, content, dict(given or {}))
        try:
            facts = {**self._describe(upload), "given": upload.given}
        except ValueError as error:
            raise _refuse("value", str(error)) from None
        stored = Stored(name, len(content), facts, now_ms())
        packed = gzip.compress(content, 6)  # before the writers' lock is taken
        with self._database.write(user) as connection:
            connection.execute(sa.delete(user_bars).where(*key(user_bars, user, name)))
            connection.execute(
                sa.insert(user_bars).values(
                    user_id=user,
                    name=name,
                    content=packed,
                    size=stored.size,
                    facts_json=json.dumps(dict(facts)),
                    created_at=stored.created_at,
                )
            )
            used = sa.select(sa.func.count(), sa.func.sum(_COLUMNS.size))
            count, size = connection.execute(used.where(_COLUMNS.user_id == user)).one()
            if count > self._most_files or size > self._most_bytes:
                raise _refuse(
                    "value",
                    f"you would keep {count} files of {size} bytes; you may keep "
                    f"{self._most_files} files of {self._most_bytes} bytes: delete one first",
                )
        return stored

    def get(self, user: str, name: str) -> Upload | None:
        """The file as it was put in, or None."""
        query = sa.select(_COLUMNS.content, _COLUMNS.facts_json).where(*key(user_bars, user, name))
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        given = json.loads(row.facts_json).get("given", {})
        return Upload(name, gzip.decompress(row.content), given)

    def of(self, user: str) -> list[Stored]:
        """Every file of the user, by name."""
        columns = (_COLUMNS.name, _COLUMNS.size, _COLUMNS.facts_json, _COLUMNS.created_at)
        query = sa.select(*columns).where(_COLUMNS.user_id == user)
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [
            Stored(name, size, json.loads(facts), created)
            for name, size, facts, created in sorted(rows)
        ]

    def delete(self, user: str, name: str) -> None:
        """Removes a file."""
        with self._database.write(user) as connection:
            if (
                connection.execute(sa.delete(user_bars).where(*key(user_bars, user, name))).rowcount
                == 0
            ):
                raise _refuse("name", f"you have no bars called {name!r:.80}")


def _refuse(kind: str, message: str) -> LibraryError:
    return LibraryError(Problem(kind, message))
