"""The gate: who is calling, from a request's headers."""

from typing import TYPE_CHECKING

from chartpact.server.auth.authority import Authority
from chartpact.server.auth.realm import Realm
from chartpact.server.auth.sessions import read_cookie
from chartpact.server.auth.tokens import ALL_SCOPES
from chartpact.server.identity import Caller

if TYPE_CHECKING:
    from starlette.datastructures import Headers

LONGEST_TOKEN = 8192
READ_ONLY = frozenset({"read"})


class Gate:
    """Identifies callers by bearer token or web session."""

    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    async def __call__(self, headers: "Headers") -> Caller | None:
        realm = self._authority.realms.of(headers.get("host", ""))
        if realm is None:
            return None
        authorization = headers.get("authorization")
        if authorization is None:
            return await self._by_session(headers, realm)
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not 0 < len(token) <= LONGEST_TOKEN:
            return None
        issuer = self._authority.settings.issuer
        if issuer is not None and token.count(".") == 2:
            bearer = issuer.bearer(token)
        else:
            bearer = await self._authority.find_bearer(token)
        if bearer is None or bearer.resource not in (None, realm.resource):
            return None
        return Caller(bearer.user, bearer.scopes, bearer)

    async def _by_session(self, headers: "Headers", realm: Realm) -> Caller | None:
        session = read_cookie(headers.get("cookie", ""), "session", secure=realm.secure)
        user = None if session is None else await self._authority.find_session(session)
        if user is None:
            return None
        # A page of another site can send the cookie, but not these headers: it changes nothing.
        own = headers.get("origin") == realm.base or headers.get("sec-fetch-site") == "same-origin"
        return Caller(user, ALL_SCOPES if own else READ_ONLY, by_cookie=True)

    def challenge(self, headers: "Headers", error: str | None = None) -> str:
        """The WWW-Authenticate header: where to learn how to get a token, and which scopes."""
        parts = [f'error="{error}"'] if error else []
        realm = self._authority.realms.of(headers.get("host", ""))
        if realm is not None:
            parts.append(f'resource_metadata="{realm.resource_metadata}"')
        parts.append('scope="read write"')
        return f"Bearer {', '.join(parts)}"
