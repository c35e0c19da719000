"""Accounts: who may sign in, and everything that belongs to them.

An operator's user has their name as database id. `ann` therefore keeps her data from before
accounts existed. Whoever signs up gets a random id, which no earlier rows can bear. External
identities are `issuer|sub`, and no name has a `|`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import GONE, Database
from chartpact.library.local import LOCAL_USER
from chartpact.library.schema import audit_events, metadata, users, web_sessions
from chartpact.problem import Failure, Problem, did_you_mean
from chartpact.server.auth import audit
from chartpact.server.auth.secret import new_id

SIGN_UP_NAME = re.compile(r"[a-z][a-z0-9._-]{2,31}")  # ASCII: no two names look alike
LONGEST_NAME = 255
OPERATOR, SIGN_UP = "operator", "sign-up"


class AccountError(Failure):
    """There is no such account, or there cannot be one."""


@dataclass(frozen=True)
class Account:
    """One user, without the password."""

    user_id: str
    name: str
    origin: str
    created_at: int
    has_password: bool


def _refuse(kind: str, message: str, hint: str = "") -> AccountError:
    return AccountError(Problem(kind, message, hint))


class Accounts:
    """The accounts of one database. Passwords come hashed: hashing is slow."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, password_hash: str | None) -> None:
        """Adds a user for the operator; what is stored under that name is theirs from now on."""
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
            raise _refuse("value", f"{name!r:.80} cannot be a user's name")
        if "|" in name:
            message = f"{name!r:.80}: names with | are those of an identity provider's users"
            raise _refuse("value", message)
        self._insert(name, name, OPERATOR, password_hash)

    def sign_up(self, name: str, password_hash: str, address: str | None = None) -> str:
        """Adds a user who came by themselves, under a new id; returns it."""
        if not SIGN_UP_NAME.fullmatch(name):
            message = "a name has 3 to 32 lower-case letters, digits or . _ - and begins with one"
            raise _refuse("value", message)
        if name == LOCAL_USER or self._owns_rows(name):
            # Somebody is called so already, though without an account.
            raise _refuse("name", f"the name {name!r} is taken")
        user = f"u-{new_id()}"
        self._insert(user, name, SIGN_UP, password_hash, address)
        return user

    def _insert(
        self, user: str, name: str, origin: str, password: str | None, address: str | None = None
    ) -> None:
        try:
            with self._database.write(user, removed=True) as connection:
                connection.execute(
                    sa.insert(users).values(
                        user_id=user,
                        name=name,
                        password_hash=password,
                        origin=origin,
                        created_at=now_ms(),
                    )
                )
                audit.record(connection, f"account added by {origin}", user=user, address=address)
        except sa.exc.IntegrityError:
            raise _refuse("name", f"the name {name!r:.80} is taken") from None

    def _owns_rows(self, user: str) -> bool:
        with self._database.read() as connection:
            return any(
                connection.execute(sa.select(1).where(table.c.user_id == user).limit(1)).first()
                for table in _tables_of_users()
            )

    def list(self) -> Sequence[Account]:
        with self._database.read() as connection:
            accounts = map(_account, connection.execute(_ACCOUNTS))
            return sorted(accounts, key=lambda account: account.name)

    def by_id(self, user: str) -> Account | None:
        with self._database.read() as connection:
            row = connection.execute(_ACCOUNTS.where(users.c.user_id == user)).first()
        return None if row is None else _account(row)

    def find(self, name: str) -> Account:
        """The account of that name; raises AccountError."""
        accounts = {account.name: account for account in self.list()}
        if name not in accounts:
            raise _refuse(
                "name", f"there is no user {name!r:.80}{did_you_mean(name, accounts, before='; ')}"
            )
        return accounts[name]

    def credentials(self, name: str) -> tuple[str | None, str | None]:
        """The id and the password hash that belong to a name; (None, None) for a stranger."""
        query = sa.select(users.c.user_id, users.c.password_hash).where(users.c.name == name)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        return (None, None) if row is None else (row.user_id, row.password_hash)

    def set_password(
        self,
        user: str,
        password_hash: str,
        *,
        keep_session: str | None = None,
        address: str | None = None,
    ) -> None:
        """Changes a password, and signs out every browser but the one that changed it."""
        with self._database.write(user, removed=True) as connection:
            changed = connection.execute(
                sa.update(users).where(users.c.user_id == user).values(password_hash=password_hash)
            )
            if not changed.rowcount:
                raise _refuse("name", "there is no such user")
            connection.execute(
                sa.delete(web_sessions).where(
                    web_sessions.c.user_id == user, web_sessions.c.session_hash != keep_session
                )
                if keep_session
                else sa.delete(web_sessions).where(web_sessions.c.user_id == user)
            )
            audit.record(connection, "password changed", user=user, address=address)

    def remove(self, user: str, address: str | None = None) -> None:
        """Deletes an account and every row of it; only the log says that there was one."""
        with self._database.write(user, removed=True) as connection:
            for table in _tables_of_users():
                connection.execute(sa.delete(table).where(table.c.user_id == user))
            audit.record(connection, GONE, user=user, address=address)

    def purge(self) -> None:
        """Deletes what an earlier version left of accounts that were removed."""
        with self._database.read() as connection:
            event = audit_events.c.event
            gone = connection.execute(sa.select(audit_events.c.user_id).where(event == GONE))
            removed = {*gone.scalars()} - {
                *connection.execute(sa.select(users.c.user_id)).scalars()
            }
        for user in removed:
            with self._database.write(user, removed=True) as connection:
                known = sa.select(users.c.user_id).where(users.c.user_id == user)
                for table in _tables_of_users():
                    left = sa.delete(table).where(table.c.user_id == user, ~known.exists())
                    if table is not audit_events:
                        connection.execute(left)


def _tables_of_users() -> Sequence[sa.Table]:
    """Every table whose rows belong to a user, those of later versions too."""
    return [table for table in metadata.sorted_tables if "user_id" in table.c]


_ACCOUNTS = sa.select(
    users.c.user_id,
    users.c.name,
    users.c.origin,
    users.c.created_at,
    users.c.password_hash.is_not(None).label("has_password"),
)


def _account(row: sa.Row[tuple[str, str, str, int, bool]]) -> Account:
    return Account(row.user_id, row.name, row.origin, row.created_at, bool(row.has_password))
