"""Tokens: how long they last, what they allow, and whose one is.

A token is looked up by its digest, at every call.
"""

import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.clock.timeframe import DAY, SECOND
from chartpact.library.database import Database
from chartpact.server.auth.secret import digest

CODE_MS = 60 * SECOND
ACCESS_MS = 3600 * SECOND
REFRESH_MS = 30 * DAY
MOST_PERSONAL_DAYS = 366
PERSONAL = "personal"  # the client of personal tokens

SCOPES = {
    "read": "draw charts, and read your scripts and bars",
    "write": "change and delete your scripts and bars",
}
ALL_SCOPES = frozenset(SCOPES)


@dataclass(frozen=True, slots=True)
class Bearer:
    """The claims of a valid token."""

    user: str
    client: str
    scopes: frozenset[str]
    resource: str | None
    expires_at: int


_BEARER = (
    "SELECT user_id, client_id, scope, resource, expires_at FROM tokens "
    "WHERE token_hash = :hash AND kind IN ('access', 'personal')"
)
_SESSION = "SELECT user_id, expires_at FROM web_sessions WHERE session_hash = :hash"


@lru_cache(maxsize=1024)
def _read_bearer(
    user: str, client: str, scope: str, resource: str | None, expires_at: int
) -> Bearer:
    return Bearer(user, client, frozenset(scope.split()), resource, expires_at)


class Lookup:
    """Finds who a token or a session belongs to, on connections that stay open.

    Every request asks, so a transaction and a connection from the pool would cost too much.
    Nothing is cached: what was revoked is refused at once, by every process on the database.
    There are as many connections as threads have asked at once.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._idle: list[sa.Connection] = []

    def bearer(self, token: str) -> Bearer | None:
        row = self._first(_BEARER, digest(token))
        if row is None:
            return None
        bearer = _read_bearer(*row)
        return None if bearer.expires_at <= now_ms() else bearer

    def session(self, session: str) -> str | None:
        """The user who is signed in with that session id."""
        row = self._first(_SESSION, digest(session))
        return None if row is None or row[1] <= now_ms() else str(row[0])

    def _first(self, query: str, hashed: str) -> Any:
        try:
            connection = self._idle.pop()
        except IndexError:
            return self._ask(self._database.detach(), query, hashed)
        try:
            return self._ask(connection, query, hashed)
        except sa.exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise
        # The database was restarted since the connection was last used.
        self.close()
        return self._ask(self._database.detach(), query, hashed)

    def _ask(self, connection: sa.Connection, query: str, hashed: str) -> Any:
        try:
            if self._database.embedded:
                driver = connection.connection.dbapi_connection
                row = cast(Any, driver).execute(query, {"hash": hashed}).fetchone()
            else:
                row = connection.execute(sa.text(query), {"hash": hashed}).first()
        except BaseException as error:
            connection.close()
            if isinstance(error, sqlite3.Error):  # told as by every other question
                raise sa.exc.DatabaseError(query, None, error) from error
            raise
        self._idle.append(connection)
        return row

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
