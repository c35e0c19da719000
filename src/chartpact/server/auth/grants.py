"""Grants and their tokens: codes, access and refresh tokens, personal tokens.

A grant is one consent of a user to a client. Its tokens are one family: when a code or a refresh
token comes twice, somebody else has it too, and the whole family is revoked.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.clock.timeframe import DAY
from chartpact.library.database import Database, serialise
from chartpact.library.schema import (
    audit_events,
    oauth_clients,
    oauth_codes,
    oauth_grants,
    tokens,
    users,
    web_sessions,
)
from chartpact.server.auth import audit
from chartpact.server.auth.secret import digest, equal, new_id, new_secret
from chartpact.server.auth.tokens import (
    ACCESS_MS,
    ALL_SCOPES,
    CODE_MS,
    MOST_PERSONAL_DAYS,
    PERSONAL,
    REFRESH_MS,
    SCOPES,
)

CLIENT_MS = 90 * DAY  # a registration that is in use
MOST_PERSONAL = 50  # tokens of one user
MOST_GRANTS = 100  # of one user; the oldest is revoked for a new one


class Denied(Exception):
    """A request of a client is refused, with an error code of OAuth and a sentence."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


@dataclass(frozen=True)
class Consent:
    """What a user agreed to."""

    user: str
    client_id: str
    client_name: str
    scope: str
    resource: str
    redirect_uri: str
    challenge: str


@dataclass(frozen=True)
class Issued:
    """The answer of the token endpoint."""

    access_token: str
    refresh_token: str
    scope: str


@dataclass(frozen=True)
class Connected:
    """A client that has access, as the user's page lists it."""

    grant_id: str
    client_id: str
    client_name: str
    scope: str
    created_at: int
    used_at: int


@dataclass(frozen=True)
class PersonalToken:
    """A personal token, without the token."""

    token_id: str
    name: str
    scope: str
    created_at: int
    expires_at: int


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a PKCE verifier (RFC 7636)."""
    hashed = hashlib.sha256(verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()


# As text: a compiled statement of SQLAlchemy costs ten times the query itself.
class Grants:
    """Issues, exchanges and revokes. Only digests of secrets are stored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def issue_code(self, consent: Consent, address: str | None) -> str:
        """A code for what the user agreed to, good once within a minute; raises Denied."""
        code, grant, now = new_secret("cpc_"), new_id(), now_ms()
        with self._database.write(consent.user, removed=True) as connection:
            _require_account(connection, consent.user)
            self._make_room(connection, consent.user)
            connection.execute(
                sa.insert(oauth_grants).values(
                    grant_id=grant,
                    user_id=consent.user,
                    client_id=consent.client_id,
                    client_name=consent.client_name,
                    scope=consent.scope,
                    resource=consent.resource,
                    created_at=now,
                    used_at=now,
                )
            )
            connection.execute(
                sa.insert(oauth_codes).values(
                    code_hash=digest(code),
                    grant_id=grant,
                    user_id=consent.user,
                    client_id=consent.client_id,
                    redirect_uri=consent.redirect_uri,
                    challenge=consent.challenge,
                    expires_at=now + CODE_MS,
                )
            )
            audit.record(
                connection,
                "consent given",
                user=consent.user,
                client=consent.client_id,
                address=address,
            )
        return code

    def _make_room(self, connection: sa.Connection, user: str) -> None:
        grant = oauth_grants.c
        oldest = (
            sa.select(grant.grant_id)
            .where(grant.user_id == user)
            .order_by(grant.used_at.desc())
            .offset(MOST_GRANTS - 1)
        )
        for grant_id in connection.execute(oldest).scalars().all():
            _drop_grant(connection, grant_id)

    def redeem(
        self, code: str, client: str, redirect_uri: str, verifier: str, resource: str | None
    ) -> Issued:
        """Exchanges a code for tokens; raises Denied."""
        condition = oauth_codes.c.code_hash == digest(code)
        with self._database.write(None) as connection:
            _serialise(connection, oauth_codes, condition)
            spent = connection.execute(
                sa.update(oauth_codes)
                .where(condition, oauth_codes.c.spent_at.is_(None))
                .values(spent_at=now_ms())
                .returning(*oauth_codes.c)
            ).first()
            if spent is None:
                self._notice_replay(connection, code)
                outcome: Issued | Denied = _invalid_grant("the code")
            else:
                outcome = self._redeem(connection, spent, client, redirect_uri, verifier, resource)
        # Raised after the transaction: that the code is spent must be kept.
        if isinstance(outcome, Denied):
            raise outcome
        return outcome

    def _redeem(
        self,
        connection: sa.Connection,
        code: sa.Row[tuple[str, ...]],
        client: str,
        redirect_uri: str,
        verifier: str,
        resource: str | None,
    ) -> Issued | Denied:
        if (
            code.expires_at <= now_ms()
            or code.client_id != client
            or code.redirect_uri != redirect_uri
            or not equal(challenge_of(verifier), code.challenge)
        ):
            _drop_grant(connection, code.grant_id)
            return _invalid_grant("the code")
        grant = _read_grant(connection, code.grant_id)
        if grant is None:
            return _invalid_grant("the code")
        if resource not in (None, grant.resource):
            _drop_grant(connection, code.grant_id)
            return Denied("invalid_target", "the code was given for another resource")
        return self._issue(connection, grant, grant.scope)

    def _notice_replay(self, connection: sa.Connection, code: str) -> None:
        query = sa.select(oauth_codes).where(oauth_codes.c.code_hash == digest(code))
        replayed = connection.execute(query).first()
        if replayed is not None:
            _drop_grant(connection, replayed.grant_id)
            audit.record(
                connection, "code replayed", user=replayed.user_id, client=replayed.client_id
            )

    def refresh(self, token: str, client: str, scope: str | None, resource: str | None) -> Issued:
        """Exchanges a refresh token for a new pair; raises Denied."""
        token_row = tokens.c
        condition = (
            token_row.token_hash == digest(token),
            token_row.kind == "refresh",
            token_row.client_id == client,
        )
        with self._database.write(None) as connection:
            _serialise(connection, tokens, *condition)
            spent = connection.execute(
                sa.update(tokens)
                .where(*condition, token_row.spent_at.is_(None), token_row.expires_at > now_ms())
                .values(spent_at=now_ms())
                .returning(token_row.grant_id)
            ).first()
            if spent is None:
                self._notice_reuse(connection, condition)
            elif (grant := _read_grant(connection, spent.grant_id)) is not None:
                return self._refresh(connection, grant, scope, resource)
        raise _invalid_grant("the refresh token")

    def _refresh(
        self,
        connection: sa.Connection,
        grant: sa.Row[tuple[str, ...]],
        scope: str | None,
        resource: str | None,
    ) -> Issued:
        """Issues a new pair; raises Denied, which leaves the refresh token unspent."""
        if resource not in (None, grant.resource):
            raise Denied("invalid_target", "the grant is for another resource")
        granted = grant.scope.split()
        wanted = granted if scope is None else scope.split()
        if not wanted or not set(wanted) <= set(granted):
            raise Denied("invalid_scope", "the user did not consent to that scope")
        return self._issue(connection, grant, " ".join(name for name in granted if name in wanted))

    def _notice_reuse(
        self, connection: sa.Connection, condition: tuple[sa.ColumnElement[bool], ...]
    ) -> None:
        query = sa.select(tokens).where(*condition, tokens.c.spent_at.is_not(None))
        reused = connection.execute(query).first()
        if reused is not None:
            _drop_grant(connection, reused.grant_id)
            audit.record(
                connection, "refresh token reused", user=reused.user_id, client=reused.client_id
            )

    def _issue(
        self, connection: sa.Connection, grant: sa.Row[tuple[str, ...]], scope: str
    ) -> Issued:
        access, refresh, now = new_secret("cpa_"), new_secret("cpr_"), now_ms()
        for kind, token, lasts_ms in (
            ("access", access, ACCESS_MS),
            ("refresh", refresh, REFRESH_MS),
        ):
            connection.execute(
                sa.insert(tokens).values(
                    token_hash=digest(token),
                    token_id=new_id(),
                    kind=kind,
                    user_id=grant.user_id,
                    grant_id=grant.grant_id,
                    client_id=grant.client_id,
                    name="",
                    scope=scope,
                    resource=grant.resource,
                    created_at=now,
                    expires_at=now + lasts_ms,
                )
            )
        connection.execute(
            sa.update(oauth_grants)
            .where(oauth_grants.c.grant_id == grant.grant_id)
            .values(used_at=now)
        )
        connection.execute(
            sa.update(oauth_clients)
            .where(oauth_clients.c.client_id == grant.client_id)
            .values(expires_at=now + CLIENT_MS)
        )
        audit.record(connection, "tokens issued", user=grant.user_id, client=grant.client_id)
        return Issued(access, refresh, scope)

    def revoke_token(self, token: str, client: str | None, address: str | None) -> None:
        """Revokes a token with its whole family; a token of another client is left alone."""
        condition = tokens.c.token_hash == digest(token)
        with self._database.write(None) as connection:
            _serialise(connection, tokens, condition)
            row = connection.execute(sa.select(tokens).where(condition)).first()
            if row is None or (row.kind != "personal" and row.client_id != client):
                return
            if row.grant_id is None:
                connection.execute(sa.delete(tokens).where(condition))
            else:
                _drop_grant(connection, row.grant_id)
            audit.record(
                connection,
                "token revoked",
                user=row.user_id,
                client=row.client_id,
                address=address,
            )

    def list_connected(self, user: str) -> Sequence[Connected]:
        """The clients that have access now, the last used first."""
        grant = oauth_grants.c
        live = sa.select(tokens.c.grant_id).where(
            tokens.c.user_id == user,
            tokens.c.spent_at.is_(None),
            tokens.c.expires_at > now_ms(),
        )
        query = (
            sa.select(
                grant.grant_id,
                grant.client_id,
                grant.client_name,
                grant.scope,
                grant.created_at,
                grant.used_at,
            )
            .where(grant.user_id == user, grant.grant_id.in_(live))
            .order_by(grant.used_at.desc())
        )
        with self._database.read() as connection:
            return [Connected(*row) for row in connection.execute(query)]

    def disconnect(self, user: str, grant_id: str, address: str | None) -> None:
        """Revokes one grant of the user; another user's is left alone."""
        with self._database.write(user, removed=True) as connection:
            grant = _read_grant(connection, grant_id)
            if grant is not None and grant.user_id == user:
                _drop_grant(connection, grant_id)
                audit.record(
                    connection,
                    "client disconnected",
                    user=user,
                    client=grant.client_id,
                    address=address,
                )

    def make_personal(
        self, user: str, name: str, scope: str, days: int, address: str | None = None
    ) -> str:
        """A new personal token, which is shown this once; raises Denied."""
        scopes = frozenset(scope.split())
        if not scopes or not scopes <= ALL_SCOPES:
            raise Denied("invalid_scope", f"the scopes are {', '.join(SCOPES)}")
        if not 1 <= days <= MOST_PERSONAL_DAYS:
            raise Denied("invalid_request", f"a token lasts 1 to {MOST_PERSONAL_DAYS} days")
        if not 0 < len(name) <= 80 or not name.isprintable():
            raise Denied("invalid_request", "a token's name has 1 to 80 letters")
        token, now = new_secret("cpp_"), now_ms()
        personal = (tokens.c.user_id == user, tokens.c.kind == "personal")
        with self._database.write(user, removed=True) as connection:
            _require_account(connection, user)
            connection.execute(sa.delete(tokens).where(*personal, tokens.c.expires_at <= now))
            count = sa.select(sa.func.count()).select_from(tokens).where(*personal)
            if connection.execute(count).scalar_one() >= MOST_PERSONAL:
                raise Denied("invalid_request", f"{MOST_PERSONAL} tokens are enough: revoke one")
            connection.execute(
                sa.insert(tokens).values(
                    token_hash=digest(token),
                    token_id=new_id(),
                    kind="personal",
                    user_id=user,
                    client_id=PERSONAL,
                    name=name,
                    scope=" ".join(known for known in SCOPES if known in scopes),
                    created_at=now,
                    expires_at=now + days * DAY,
                )
            )
            audit.record(connection, "personal token made", user=user, address=address)
        return token

    def list_personal(self, user: str) -> Sequence[PersonalToken]:
        token = tokens.c
        query = (
            sa.select(token.token_id, token.name, token.scope, token.created_at, token.expires_at)
            .where(token.user_id == user, token.kind == "personal", token.expires_at > now_ms())
            .order_by(token.created_at.desc())
        )
        with self._database.read() as connection:
            return [PersonalToken(*row) for row in connection.execute(query)]

    def drop_personal(self, user: str, token_id: str, address: str | None) -> None:
        with self._database.write(user, removed=True) as connection:
            dropped = connection.execute(
                sa.delete(tokens).where(
                    tokens.c.user_id == user,
                    tokens.c.token_id == token_id,
                    tokens.c.kind == "personal",
                )
            )
            if dropped.rowcount:
                audit.record(connection, "personal token revoked", user=user, address=address)

    def purge(self) -> None:
        """Deletes what has expired. Spent refresh tokens stay as long as they would have lived."""
        now = now_ms()
        with self._database.write("purge") as connection:
            # A spent code stays for an hour, so that its replay is noticed.
            _purge(connection, oauth_codes, oauth_codes.c.expires_at <= now - ACCESS_MS)
            _purge(connection, tokens, tokens.c.expires_at <= now)
            _purge(connection, web_sessions, web_sessions.c.expires_at <= now)
            _purge(connection, oauth_clients, oauth_clients.c.expires_at <= now)
            _purge(connection, audit_events, audit_events.c.at <= now - audit.KEPT_DAYS * DAY)
            in_use = sa.union(
                sa.select(tokens.c.grant_id).where(tokens.c.grant_id.is_not(None)),
                sa.select(oauth_codes.c.grant_id),
            )
            _purge(connection, oauth_grants, oauth_grants.c.grant_id.not_in(in_use))


def _purge(connection: sa.Connection, table: sa.Table, over: sa.ColumnElement[bool]) -> None:
    """Deletes rows that nobody is changing: it waits for no row, so no deadlock comes of it."""
    [key] = table.primary_key
    free = sa.select(key).where(over).with_for_update(skip_locked=True)
    connection.execute(sa.delete(table).where(key.in_(free)))


def _serialise(
    connection: sa.Connection, table: sa.Table, *condition: sa.ColumnElement[bool]
) -> None:
    """Comes after other changes of the user whose row that is.

    Else a family that is being revoked could be issued one more pair of tokens.
    """
    user = connection.execute(sa.select(table.c.user_id).where(*condition)).scalar()
    if user is not None:
        serialise(connection, user)


def _require_account(connection: sa.Connection, user: str) -> None:
    """Raises Denied where the account was removed meanwhile: nothing may be left for its name."""
    query = sa.select(sa.literal(1)).where(users.c.user_id == user)
    if connection.execute(query).first() is None:
        raise Denied("access_denied", "there is no such account")


def _invalid_grant(what: str) -> Denied:
    return Denied("invalid_grant", f"{what} is unknown, expired, spent or not yours")


def _read_grant(connection: sa.Connection, grant_id: str) -> sa.Row[tuple[str, ...]] | None:
    query = sa.select(oauth_grants).where(oauth_grants.c.grant_id == grant_id)
    return connection.execute(query).first()


def _drop_grant(connection: sa.Connection, grant_id: str) -> None:
    """Deletes a grant and every token of it; a spent code stays, to be noticed again."""
    connection.execute(sa.delete(tokens).where(tokens.c.grant_id == grant_id))
    connection.execute(sa.delete(oauth_grants).where(oauth_grants.c.grant_id == grant_id))
