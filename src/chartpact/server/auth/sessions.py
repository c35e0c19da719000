"""Browsers that are signed in, and the cookies that say so."""

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.schema import users, web_sessions
from chartpact.server.auth import audit
from chartpact.server.auth.grants import Denied
from chartpact.server.auth.secret import digest, new_secret

SESSION_S = 14 * 86_400
FORM_S = 3600


class Sessions:
    """The web sessions of one database. Their ids are secrets, and stored as digests."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(
        self, user: str, how: str, address: str | None, password_hash: str | None = None
    ) -> str:
        """A new session id: who signs in never keeps an id from before.

        Raises Denied where the account is gone, or has another password than the checked one.
        """
        session, now = new_secret(), now_ms()
        query = sa.select(users.c.password_hash).where(users.c.user_id == user)
        with self._database.write(user, removed=True) as connection:
            account = connection.execute(query).first()
            if account is None or password_hash not in (None, account.password_hash):
                raise Denied("access_denied", "the account has changed: sign in again")
            connection.execute(
                sa.insert(web_sessions).values(
                    session_hash=digest(session),
                    user_id=user,
                    created_at=now,
                    expires_at=now + SESSION_S * 1000,
                )
            )
            audit.record(connection, f"signed in by {how}", user=user, address=address)
        return session

    def end(self, session: str, address: str | None) -> None:
        with self._database.write(None) as connection:
            ended = connection.execute(
                sa.delete(web_sessions)
                .where(web_sessions.c.session_hash == digest(session))
                .returning(web_sessions.c.user_id)
            ).first()
            if ended is not None:
                audit.record(connection, "signed out", user=ended.user_id, address=address)


def cookie_name(kind: str, *, secure: bool) -> str:
    """`__Host-` binds a cookie to this host over TLS; on loopback there is no TLS."""
    return f"__Host-chartpact-{kind}" if secure else f"chartpact-{kind}"


def read_cookie(header: str, kind: str, *, secure: bool) -> str | None:
    """A cookie's value; a cookie that comes twice counts for nothing."""
    name = cookie_name(kind, secure=secure)
    values = [
        value
        for key, _, value in (part.strip().partition("=") for part in header.split(";"))
        if key == name
    ]
    return values[0] if len(values) == 1 and values[0] else None


def set_cookie(kind: str, value: str, lasts_s: int, *, secure: bool) -> str:
    """A Set-Cookie header. Lax: a client's link to the consent page finds the user signed in."""
    same_site = "Lax" if kind == "session" else "Strict"
    parts = [
        f"{cookie_name(kind, secure=secure)}={value}",
        "Path=/",
        f"Max-Age={lasts_s}",
        "HttpOnly",
        f"SameSite={same_site}",
        *(["Secure"] if secure else []),
    ]
    return "; ".join(parts)
