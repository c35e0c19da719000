"""Each user's own contracts: register, delete, list, and the way back to earlier versions."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from chartpact import pacts
from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError
from chartpact.library.schema import contract_versions, user_contracts
from chartpact.library.versions import count_bytes, forget_long_deleted
from chartpact.problem import Problem, did_you_mean

MOST_CONTRACTS = 100
MOST_BYTES = 2 * 1024 * 1024  # of the present versions
MOST_VERSIONS = 20  # of one contract

_COLUMNS, _VERSIONS = user_contracts.c, contract_versions.c


@dataclass(frozen=True)
class UserContract:
    """A contract of a user's, whose proofs held when it was registered."""

    user: str
    name: str
    source: str
    version: str
    title: str
    source_hash: str
    created_at: int
    updated_at: int


@dataclass(frozen=True)
class ContractVersion:
    """An earlier (or the present) text of a contract."""

    number: int
    version: str
    source: str
    created_at: int


class UserContracts:
    """The contracts of all users in one database; no method looks beyond the user it is given."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, user: str, name: str, version: str, title: str, source: str) -> UserContract:
        """Stores a contract that has been checked, in place of what was there."""
        if name in pacts.names():
            message = f"{name!r} is a contract that comes with chartpact"
            raise LibraryError(Problem("name", message, "give yours another name"))
        now, digest = now_ms(), hashlib.sha256(source.encode()).hexdigest()
        with self._database.write(user) as connection:
            query = sa.select(_COLUMNS.created_at).where(*_key(user, name))
            created = connection.execute(query).scalar()
            values = {
                "source": source,
                "version": version,
                "title": title,
                "source_hash": digest,
                "updated_at": now,
            }
            if created is None:
                own = {"user_id": user, "name": name, "created_at": now}
                connection.execute(sa.insert(user_contracts).values({**own, **values}))
            else:
                connection.execute(
                    sa.update(user_contracts).where(*_key(user, name)).values(values)
                )
            _add_version(connection, user, name, version, source, digest, now)
            _check_quota(connection, user)
        return UserContract(user, name, source, version, title, digest, created or now, now)

    def of(self, user: str) -> Sequence[UserContract]:
        query = sa.select(user_contracts).where(_COLUMNS.user_id == user).order_by(_COLUMNS.name)
        with self._database.read() as connection:
            return [UserContract(*row) for row in connection.execute(query)]

    def named(self, user: str, names: Iterable[str]) -> dict[str, UserContract]:
        """Those contracts of the user that have one of the names."""
        query = sa.select(user_contracts).where(
            _COLUMNS.user_id == user, _is_any(_COLUMNS.name, names)
        )
        with self._database.read() as connection:
            return {row.name: UserContract(*row) for row in connection.execute(query)}

    def get(self, user: str, name: str) -> UserContract:
        found = self.named(user, [name])
        if name not in found:
            raise self._unknown(user, name)
        return found[name]

    def delete(self, user: str, name: str) -> None:
        """Deletes a contract; its versions can still be restored."""
        with self._database.write(user) as connection:
            deleted = connection.execute(sa.delete(user_contracts).where(*_key(user, name)))
        if deleted.rowcount == 0:
            raise self._unknown(user, name)

    def history(self, user: str, name: str) -> Sequence[ContractVersion]:
        """The kept versions, newest first; a deleted contract still has them."""
        columns = (_VERSIONS.number, _VERSIONS.version, _VERSIONS.source, _VERSIONS.created_at)
        query = sa.select(*columns).where(
            _VERSIONS.user_id == user, _is_any(_VERSIONS.name, [name])
        )
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(_VERSIONS.number.desc())).all()
        if not rows:
            raise self._unknown(user, name)
        return [ContractVersion(*row) for row in rows]

    def _unknown(self, user: str, name: str) -> LibraryError:
        hint = did_you_mean(name, [own.name for own in self.of(user)], 3, 0.4)
        hint = hint or "list_contracts lists them"
        return LibraryError(Problem("name", f"you have no contract {name!r:.80}", hint))


def _key(user: str, name: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return _COLUMNS.user_id == user, _is_any(_COLUMNS.name, [name])


def _is_any(column: sa.Column[str], names: Iterable[str]) -> sa.ColumnElement[bool]:
    # No contract has a NUL in its name, and PostgreSQL would not take one.
    return column.in_([name for name in names if "\0" not in name])


def _add_version(
    connection: sa.Connection,
    user: str,
    name: str,
    version: str,
    source: str,
    digest: str,
    now: int,
) -> None:
    """Adds a text as the newest version, unless it is the newest already."""
    mine = (_VERSIONS.user_id == user, _VERSIONS.name == name)
    query = sa.select(_VERSIONS.number, _VERSIONS.source_hash).where(*mine)
    latest = connection.execute(query.order_by(_VERSIONS.number.desc())).first()
    if latest is not None and latest.source_hash == digest:
        return
    number = 1 if latest is None else latest.number + 1
    values = {
        "user_id": user,
        "name": name,
        "number": number,
        "source": source,
        "version": version,
        "source_hash": digest,
        "created_at": now,
    }
    connection.execute(sa.insert(contract_versions).values(values))
    old = _VERSIONS.number <= number - MOST_VERSIONS
    connection.execute(sa.delete(contract_versions).where(*mine, old))
    forget_long_deleted(connection, user, user_contracts, contract_versions, MOST_CONTRACTS)


def _check_quota(connection: sa.Connection, user: str) -> None:
    size = sa.func.coalesce(sa.func.sum(count_bytes(connection, _COLUMNS.source)), 0)
    query = sa.select(sa.func.count(), size).where(_COLUMNS.user_id == user)
    count, used = connection.execute(query).one()
    message = ""
    if count > MOST_CONTRACTS:
        message = f"you keep {count - 1} contracts and may keep {MOST_CONTRACTS}"
    elif used > MOST_BYTES:
        message = f"your contracts would take {used} bytes of {MOST_BYTES}"
    if message:
        raise LibraryError(Problem("size", message, "delete one you no longer use"))
