"""The gate: who is calling, from a request's headers; and the SDK as resource server for MCP."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from pydantic import AnyHttpUrl
from starlette.authentication import AuthCredentials, BaseUser
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from chartpact.cache import Cache
from chartpact.server.auth.authority import Authority
from chartpact.server.auth.grants import ALL_SCOPES, Bearer
from chartpact.server.auth.realm import Realm
from chartpact.server.auth.sessions import read_cookie
from chartpact.server.identity import Caller
from chartpact.server.refusals import Refusal

if TYPE_CHECKING:
    from starlette.datastructures import Headers

LONGEST_TOKEN = 8192
READ_ONLY = frozenset({"read"})
MOST_ANSWERS = 1000  # of the SDK, about a token that was found
Answer = tuple[AuthCredentials, BaseUser]


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
        return Caller(user, ALL_SCOPES if own else READ_ONLY)

    def challenge(self, headers: "Headers", error: str | None = None) -> str:
        """The WWW-Authenticate header: where to learn how to get a token, and which scopes."""
        parts = [f'error="{error}"'] if error else []
        realm = self._authority.realms.of(headers.get("host", ""))
        if realm is not None:
            parts.append(f'resource_metadata="{realm.resource_metadata}"')
        parts.append('scope="read write"')
        return f"Bearer {', '.join(parts)}"


@dataclass(frozen=True)
class _Verifier:
    """Hands the SDK the token that the front has found, so that it is looked up once."""

    realm: Realm
    bearer: Bearer | None

    async def verify_token(self, token: str) -> AccessToken | None:  # noqa: ARG002
        bearer = self.bearer
        if bearer is None:
            return None
        return AccessToken.model_construct(  # of values that were checked when they were stored
            token="",  # nobody behind here needs it
            client_id=bearer.client,
            scopes=sorted(bearer.scopes),
            expires_at=bearer.expires_at // 1000,
            # A personal token is for this server, under whatever name it is reached.
            resource=self.realm.resource if bearer.resource is None else bearer.resource,
            subject=bearer.user,
            claims={"iss": self.realm.base},
        )


@dataclass(frozen=True)
class _Guard:
    """The SDK's middleware for one realm, and the audience that it asks tokens to have."""

    required: RequireAuthMiddleware
    audience: AnyHttpUrl


class ResourceServer:
    """MCP behind the SDK's own bearer middleware, with its check of the audience switched on."""

    def __init__(self, mcp: ASGIApp, authority: Authority, writes: Collection[str]) -> None:
        self._mcp = mcp
        self._authority = authority
        self._writes = frozenset(writes)
        self._guards: dict[str, _Guard] = {}
        self._answers: Cache[tuple[bytes, Bearer], tuple[_Guard, Answer]] = Cache(MOST_ANSWERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        caller: Caller = scope["chartpact.caller"]
        if "write" not in caller.scopes and self._would_write(scope["chartpact.body"]):
            metadata = self._find_realm(host).resource_metadata
            refusal = Refusal(
                403,
                "forbidden",
                "this tool needs the scope write",
                challenge=f'Bearer error="insufficient_scope", scope="read write", '
                f'resource_metadata="{metadata}"',
            )
            await refusal.answer(scope, receive, send)
            return
        bearer = caller.bearer
        # The SDK's answer follows from host and token, and the front has just looked the token up.
        known = None if bearer is None else self._answers.get((host, bearer))
        answer: Answer | None
        if known is not None:
            guard, answer = known
        else:
            realm = self._find_realm(host)
            guard = self._find_guard(realm)
            answer = await self._ask_sdk(scope, realm, guard, bearer)
            if bearer is not None and answer is not None:
                self._answers.put((host, bearer), (guard, answer))
        if answer is not None:
            scope["auth"], scope["user"] = answer
        await guard.required(scope, receive, send)  # which refuses who is not found

    def _find_realm(self, host: bytes) -> Realm:
        realm = self._authority.realms.of(host.decode("latin-1"))
        if realm is None:
            raise LookupError("an MCP call came past the front")
        return realm

    async def _ask_sdk(
        self, scope: Scope, realm: Realm, guard: _Guard, bearer: Bearer | None
    ) -> Answer | None:
        backend = BearerAuthBackend(_Verifier(realm, bearer), resource_server_url=guard.audience)
        shown = [header for header in scope["headers"] if header[0] == b"authorization"]
        answer: Answer | None = await backend.authenticate(
            HTTPConnection({"type": "http", "headers": shown})
        )
        return answer

    def _would_write(self, body: bytes | None) -> bool:
        """Whether the call is of a tool that writes; the tool itself checks the scope again."""
        try:
            message = json.loads(body or b"")
            return message["method"] == "tools/call" and message["params"]["name"] in self._writes
        except (ValueError, RecursionError, LookupError, TypeError):
            return False

    def _find_guard(self, realm: Realm) -> _Guard:
        guard = self._guards.get(realm.base)
        if guard is None:
            required = RequireAuthMiddleware(
                AuthContextMiddleware(self._mcp), ["read"], AnyHttpUrl(realm.resource_metadata)
            )
            guard = _Guard(required, AnyHttpUrl(realm.resource))
            if len(self._guards) < 64:  # names of this machine, with ports that are forwarded
                self._guards[realm.base] = guard
        return guard
