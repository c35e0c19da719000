"""Each user's own bars: files put in store once, and drawn by name as often as one likes."""

import gzip
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from chartpact.library.database import write
from chartpact.library.schema import user_bars

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class UploadError(ValueError):
    """The file was not taken, or there is none of that name; nothing was changed."""


@dataclass(frozen=True)
class Upload:
    """A file with its content, and what its user knows of it better than the file does."""

    name: str
    content: bytes
    given: Mapping[str, Any] = field(default_factory=dict)  # options of `bars.load`, such as tz


@dataclass(frozen=True)
class Stored:
    """A file in store, without its content."""

    name: str
    size: int
    facts: Mapping[str, Any]
    created_at: int


class Uploads:
    """The bars of all users; no method looks beyond the user it is given.

    `read` makes sense of a user's file, or raises ValueError with a sentence for the user.
    """

    def __init__(
        self,
        engine: sa.Engine,
        read: Callable[[str, Upload], Mapping[str, Any]],
        most_bytes: int,
        most_files: int = 50,
    ) -> None:
        self._engine = engine
        self._read = read
        self._most_bytes = most_bytes
        self._most_files = most_files

    def put(
        self, user: str, name: str, content: bytes, given: Mapping[str, Any] | None = None
    ) -> Stored:
        """Checks the file and keeps it, in place of an earlier one of that name."""
        if not NAME.fullmatch(name):
            raise UploadError(
                f"{name!r:.80} is not a name for bars: use up to 64 letters, digits, _ . or -"
            )
        if len(content) > self._most_bytes:
            raise UploadError(
                f"the file has {len(content)} bytes; all your files may have {self._most_bytes}"
            )
        upload = Upload(name, content, dict(given or {}))
        try:
            facts = {**self._read(user, upload), "given": upload.given}
        except ValueError as error:
            raise UploadError(str(error)) from None
        stored = Stored(name, len(content), facts, time.time_ns() // 1_000_000)
        packed = gzip.compress(content, 6)  # before anybody has to wait for it
        with write(self._engine) as connection:
            connection.execute(sa.delete(user_bars).where(*_key(user, name)))
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
            used = sa.select(sa.func.count(), sa.func.sum(user_bars.c.size))
            count, size = connection.execute(used.where(user_bars.c.user_id == user)).one()
            if count > self._most_files or size > self._most_bytes:
                raise UploadError(
                    f"you would keep {count} files of {size} bytes; you may keep "
                    f"{self._most_files} files of {self._most_bytes} bytes: delete one first"
                )
        return stored

    def get(self, user: str, name: str) -> Upload | None:
        """The file as it was put in, or None."""
        asked = sa.select(user_bars.c.content, user_bars.c.facts_json).where(*_key(user, name))
        with self._engine.connect() as connection:
            found = connection.execute(asked).first()
        if found is None:
            return None
        given = json.loads(found.facts_json).get("given", {})
        return Upload(name, gzip.decompress(found.content), given)

    def of(self, user: str) -> list[Stored]:
        """Every file of the user, by name."""
        columns = user_bars.c
        asked = (
            sa.select(columns.name, columns.size, columns.facts_json, columns.created_at)
            .where(columns.user_id == user)
            .order_by(columns.name)
        )
        with self._engine.connect() as connection:
            return [
                Stored(name, size, json.loads(facts), created)
                for name, size, facts, created in connection.execute(asked)
            ]

    def delete(self, user: str, name: str) -> None:
        """Removes a file."""
        with write(self._engine) as connection:
            if connection.execute(sa.delete(user_bars).where(*_key(user, name))).rowcount == 0:
                raise UploadError(f"you have no bars called {name!r:.80}")


def _key(user: str, name: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return (user_bars.c.user_id == user, user_bars.c.name == name)
