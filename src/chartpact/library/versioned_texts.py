"""Users' named texts with their earlier versions: every kind is a pair of tables under a quota.

Each new text of a name is a version. The oldest versions are forgotten.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import Database, count_bytes
from chartpact.library.errors import LibraryError
from chartpact.library.schema import key
from chartpact.problem import Problem, did_you_mean

MOST_VERSIONS = 20  # of one name

Text = TypeVar("Text")
Version = TypeVar("Version")


@dataclass(frozen=True)
class Quota:
    """What one user may keep of one kind."""

    texts: int
    bytes: int  # of the present versions
    history_bytes: int = 32 * 1024 * 1024  # of all versions


@dataclass(frozen=True)
class TextKind(Generic[Text, Version]):
    """A kind of text: its tables, the values that their rows become, and the words for it."""

    present: sa.Table
    versions: sa.Table
    number: str  # the column that numbers the versions of a name
    text: type[Text]  # made of a row of `present`
    version: type[Version]  # made of a row of `versions` after its user and name
    noun: str
    plural: str
    hint: str  # how to list them
    step: str | None = None  # of every refusal


class VersionedTexts(Generic[Text, Version]):
    """The texts of all users in one database; no method looks beyond the user it is given."""

    def __init__(self, database: Database, kind: TextKind[Text, Version], quota: Quota) -> None:
        self._database = database
        self._kind = kind
        self._quota = quota

    def of(self, user: str) -> list[Text]:
        """Every text of the user, by name."""
        with self._database.read() as connection:
            query = sa.select(self._kind.present).where(self._kind.present.c.user_id == user)
            rows = connection.execute(query).all()
        rows = sorted(rows, key=lambda row: str(row.name))  # databases sort in many ways
        return [self._kind.text(*row) for row in rows]

    def names(self, user: str) -> tuple[str, ...]:
        with self._database.read() as connection:
            return self._names(connection, user)

    def find(self, user: str, names: Iterable[str]) -> dict[str, Text]:
        """Those texts of the user that have one of the names."""
        with self._database.read() as connection:
            return self._find(connection, user, names)

    def get(self, user: str, name: str) -> Text:
        with self._database.read() as connection:
            texts = self._find(connection, user, [name])
            if name not in texts:
                raise self._unknown(connection, user, name)
        return texts[name]

    def delete(self, user: str, name: str) -> None:
        """Deletes a text; its versions can still be restored."""
        with self._database.write(user) as connection:
            query = sa.delete(self._kind.present).where(*key(self._kind.present, user, name))
            if connection.execute(query).rowcount == 0:
                raise self._unknown(connection, user, name)

    def history(self, user: str, name: str) -> Sequence[Version]:
        """The versions of a name, newest first; a deleted text still has them."""
        table, kind = self._kind.versions, self._kind
        query = sa.select(table).where(*key(table, user, name))
        query = query.order_by(table.c[kind.number].desc())
        with self._database.read() as connection:
            versions = [kind.version(*row[2:]) for row in connection.execute(query)]
            if not versions:
                raise self._unknown(connection, user, name)
        return versions

    def get_version(self, user: str, name: str, number: int) -> Version:
        versions = {getattr(old, self._kind.number): old for old in self.history(user, name)}
        if number not in versions:
            hint = f"kept versions: {', '.join(map(str, versions))}"
            raise self._refuse("value", f"{name!r} has no version {number}", hint)
        return versions[number]

    def _store(
        self, user: str, batch: Mapping[str, Mapping[str, str]], must_exist: bool = False
    ) -> list[Text]:
        """Stores every text of a batch in place of what was there, or none of them."""
        present = self._kind.present
        with self._database.write(user) as connection:
            texts = []
            for name, columns in batch.items():
                own, now = key(present, user, name), now_ms()
                created = connection.execute(sa.select(present.c.created_at).where(*own)).scalar()
                if must_exist and created is None:  # deleted since it was looked up
                    raise self._unknown(connection, user, name)
                row = {
                    **columns,
                    "user_id": user,
                    "name": name,
                    "source_hash": hashlib.sha256(columns["source"].encode()).hexdigest(),
                    "created_at": now if created is None else created,
                    "updated_at": now,
                }
                connection.execute(sa.delete(present).where(*own))
                connection.execute(sa.insert(present).values(row))
                self._add_version(connection, {**row, "created_at": now})
                texts.append(self._kind.text(*(row[column.name] for column in present.columns)))
            self._check_quota(connection, user)
            self._forget_long_deleted(connection, user)
            self._forget_oldest(connection, user)
        return texts

    def _add_version(self, connection: sa.Connection, row: Mapping[str, Any]) -> None:
        """Adds a text as the newest version, unless it is the newest already."""
        table, number = self._kind.versions, self._kind.versions.c[self._kind.number]
        own = key(table, row["user_id"], row["name"])
        query = sa.select(number, table.c.source_hash).where(*own).order_by(number.desc())
        latest, source_hash = connection.execute(query).first() or (0, "")
        if source_hash == row["source_hash"]:
            return
        version = {**row, number.name: latest + 1}
        values = {column.name: version[column.name] for column in table.columns}
        connection.execute(sa.insert(table).values(values))
        connection.execute(sa.delete(table).where(*own, number <= latest + 1 - MOST_VERSIONS))

    def _check_quota(self, connection: sa.Connection, user: str) -> None:
        columns, plural, quota = self._kind.present.c, self._kind.plural, self._quota
        size = sa.func.coalesce(sa.func.sum(count_bytes(connection, columns.source)), 0)
        query = sa.select(sa.func.count(), size).where(columns.user_id == user)
        count, used = connection.execute(query).one()
        message = ""
        if count > quota.texts:
            message = f"you keep {count - 1} {plural} and may keep {quota.texts}"
        elif used > quota.bytes:
            message = f"your {plural} would take {used} bytes of {quota.bytes}"
        if message:
            raise self._refuse("size", message, "delete one you no longer use")

    def _forget_long_deleted(self, connection: sa.Connection, user: str) -> None:
        """Keeps the history of as many deleted names as there may be present ones."""
        table, present = self._kind.versions, self._kind.present
        live = sa.select(present.c.name).where(present.c.user_id == user)
        deleted = (
            sa.select(table.c.name)
            .where(table.c.user_id == user, table.c.name.not_in(live))
            .group_by(table.c.name)
            .order_by(sa.func.max(table.c.created_at).desc())
            .offset(self._quota.texts)
            .limit(self._quota.texts)
        )
        names = connection.execute(deleted).scalars().all()
        if names:
            connection.execute(sa.delete(table).where(*key(table, user, *names)))

    def _forget_oldest(self, connection: sa.Connection, user: str) -> None:
        """Holds the history to its bytes; the present version of a name always stays.

        Versions of deleted texts go first, then the oldest.
        """
        table, number = self._kind.versions, self._kind.versions.c[self._kind.number]
        own, size = table.c.user_id == user, count_bytes(connection, table.c.source)
        used = connection.execute(sa.select(sa.func.sum(size)).where(own)).scalar() or 0
        if used <= self._quota.history_bytes:
            return
        query = sa.select(table.c.name, number, size).where(own)
        rows = connection.execute(query.order_by(table.c.created_at, number)).all()
        present = dict.fromkeys(self._names(connection, user), 0)
        present |= {name: latest for name, latest, _ in rows if name in present}
        for name, old, freed in sorted(rows, key=lambda row: row[0] in present):
            if used <= self._quota.history_bytes:
                return
            if present.get(name) != old:
                connection.execute(sa.delete(table).where(*key(table, user, name), number == old))
                used -= freed

    def _find(self, connection: sa.Connection, user: str, names: Iterable[str]) -> dict[str, Text]:
        query = sa.select(self._kind.present).where(*key(self._kind.present, user, *names))
        return {row.name: self._kind.text(*row) for row in connection.execute(query)}

    def _names(self, connection: sa.Connection, user: str) -> tuple[str, ...]:
        columns = self._kind.present.c
        query = sa.select(columns.name).where(columns.user_id == user)
        return tuple(sorted(connection.execute(query).scalars()))

    def _unknown(self, connection: sa.Connection, user: str, name: str) -> LibraryError:
        near = did_you_mean(name, self._names(connection, user), 3, 0.4)
        message = f"you have no {self._kind.noun} {name!r:.80}"
        return self._refuse("name", message, near or self._kind.hint)

    def _refuse(self, kind: str, message: str, hint: str) -> LibraryError:
        return LibraryError(Problem(kind, message, hint, step=self._kind.step))
