"""The OAuth 2.1 authorization server: metadata, authorize, token, register, revoke.

Clients are public and use PKCE with S256. Nothing is approved without the user's own click.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from chartpact.server.allowance import TooMuch
from chartpact.server.auth import pages
from chartpact.server.auth.authority import Authority
from chartpact.server.auth.clients import Client, is_loopback
from chartpact.server.auth.grants import Consent, Denied, Issued
from chartpact.server.auth.realm import Realm
from chartpact.server.auth.requests import (
    Visitor,
    address_of,
    check_form,
    parse_fields,
    read_form,
    realm_of,
    visitor_of,
)
from chartpact.server.auth.tokens import ACCESS_MS, SCOPES

NO_STORE = {"Cache-Control": "no-store"}
CACHED = {"Cache-Control": "public, max-age=300"}
MOST_METADATA_BYTES = 8192
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Asked:
    """An authorization request that is in order."""

    client: Client
    redirect_uri: str
    state: str | None
    scope: str
    resource: str
    challenge: str


class _RedirectError(Exception):
    """An error that is reported to the client by redirect."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error
        self.description = description


def routes(authority: Authority) -> list[Route]:
    """Every route of the authorization server, and the metadata of the resource."""
    server = _Server(authority)
    resource_routes = [
        Route(f"/.well-known/oauth-protected-resource{path}", server.resource_metadata)
        for path in ("", "/mcp")
    ]
    if authority.settings.issuer is not None:
        return resource_routes  # the provider is the authorization server
    return [
        *resource_routes,
        Route("/.well-known/oauth-authorization-server", server.metadata),
        Route("/authorize", server.authorize, methods=["GET"]),
        Route("/authorize", server.decide, methods=["POST"]),
        Route("/token", _answer(server.token), methods=["POST"]),
        Route("/register", _answer(server.register), methods=["POST"]),
        Route("/revoke", _answer(server.revoke), methods=["POST"]),
    ]


def _answer(endpoint: Endpoint) -> Endpoint:
    """Answers errors as OAuth does, in JSON."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Denied as error:
            status = 401 if error.error == "invalid_client" else 400
            data = {"error": error.error, "error_description": error.description}
            return JSONResponse(data, status, NO_STORE)
        except TooMuch as error:
            wait = {"Retry-After": str(int(error.retry_after_s) + 1)}
            data = {"error": "temporarily_unavailable", "error_description": error.message}
            return JSONResponse(data, 429, NO_STORE | wait)

    return answer


class _Server:
    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    async def resource_metadata(self, request: Request) -> Response:
        """RFC 9728: who issues tokens for this server."""
        try:
            realm = realm_of(self._authority, request)
        except Denied as error:
            return JSONResponse({"error": error.error}, 404)
        issuer = self._authority.settings.issuer
        data = {
            "resource": realm.resource,
            "authorization_servers": [issuer.provider.issuer if issuer else realm.base],
            "scopes_supported": list(SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_name": "chartpact",
        }
        return JSONResponse(data, headers=CACHED)

    async def metadata(self, request: Request) -> Response:
        """RFC 8414: what this authorization server can do."""
        try:
            realm = realm_of(self._authority, request)
        except Denied as error:
            return JSONResponse({"error": error.error}, 404)
        clients = self._authority.clients
        data: dict[str, Any] = {
            "issuer": realm.base,
            "authorization_endpoint": f"{realm.base}/authorize",
            "token_endpoint": f"{realm.base}/token",
            "revocation_endpoint": f"{realm.base}/revoke",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": list(SCOPES),
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": clients.documents,
        }
        if clients.registration:
            data["registration_endpoint"] = f"{realm.base}/register"
        return JSONResponse(data, headers=CACHED)

    async def authorize(self, request: Request) -> Response:
        """Asks the user for consent, after they have signed in."""
        return await self._guard(request, request.url.query, self._show_consent)

    async def decide(self, request: Request) -> Response:
        """Carries out what the user decided on the consent page."""
        try:
            fields = await read_form(request)
        except Denied as error:
            return pages.problem(error.description)
        return await self._guard(
            request, fields.get("request", ""), lambda *asked: self._decide(fields, *asked)
        )

    async def _guard(
        self,
        request: Request,
        query: str,
        go_on: Callable[[Request, Realm, str], Awaitable[Response]],
    ) -> Response:
        """Turns what goes wrong into a page; nothing of it is sent to another site."""
        try:
            realm = realm_of(self._authority, request)
            await self._authority.throttle.spend("authorize", address_of(request))
            if await visitor_of(self._authority, request) is None:
                # Signed in first: a stranger makes the server neither fetch nor redirect.
                then = urlencode({"next": f"/authorize?{query}"})
                return RedirectResponse(f"/sign-in?{then}", 303, NO_STORE)
            return await go_on(request, realm, query)
        except Denied as error:
            return pages.problem(error.description)
        except TooMuch as error:
            return pages.problem(error.message, 429)

    async def _show_consent(self, request: Request, realm: Realm, query: str) -> Response:
        visitor = await visitor_of(self._authority, request)
        if visitor is None:
            raise Denied("access_denied", "you are not signed in")
        await self._authority.throttle.spend_by_account("authorize", visitor.user)
        account = await self._authority.run(self._authority.accounts.by_id, visitor.user)
        if account is None:
            raise Denied("access_denied", "you are not signed in")
        fields = parse_fields(query)
        client, redirect_uri = await self._find_client(fields, request, visitor)
        try:
            asked = self._check(fields, client, redirect_uri, realm)
        except _RedirectError as error:
            if not is_loopback(redirect_uri):
                # Anybody registers a client: for a link with a mistake in it, this server would
                # send whoever is signed in to any site (RFC 9700, 4.11.2).
                raise Denied(error.error, error.description) from None
            return self._redirect(realm, redirect_uri, fields, error=error.error,
                                  error_description=error.description)  # fmt: skip
        token = visitor.form_token(f"consent {query}")
        return pages.consent(client, account, redirect_uri, asked.scope, query, token)

    async def _decide(
        self, form: dict[str, str], request: Request, realm: Realm, query: str
    ) -> Response:
        visitor = await visitor_of(self._authority, request)
        # The token is bound to the session and to every letter of the request.
        if visitor is None or not check_form(request, form, visitor.form_token(f"consent {query}")):
            return pages.problem("this form is not from here, or too old: start again", 403)
        fields = parse_fields(query)
        client, redirect_uri = await self._find_client(fields, request, visitor)
        try:
            asked = self._check(fields, client, redirect_uri, realm)
        except _RedirectError as error:
            raise Denied(error.error, error.description) from None
        if form.get("decision") != "allow":
            return self._redirect(realm, redirect_uri, fields, error="access_denied")
        consent = Consent(
            visitor.user,
            client.client_id,
            client.name,
            asked.scope,
            asked.resource,
            redirect_uri,
            asked.challenge,
        )
        code = await self._authority.run(
            self._authority.grants.issue_code, consent, address_of(request)
        )
        return self._redirect(realm, redirect_uri, fields, code=code)

    async def _find_client(
        self, fields: dict[str, str], request: Request, visitor: Visitor
    ) -> tuple[Client, str]:
        """The client and its redirect URI. Where these are wrong, nothing is redirected."""
        spend = self._authority.throttle.spend
        client = await self._authority.clients.find(
            fields.get("client_id", ""),
            lambda: spend("document", address_of(request), visitor.user),
        )
        redirect_uri = fields.get("redirect_uri", "")
        if not client.accepts(redirect_uri):
            raise Denied("invalid_request", "the client did not register this redirect URI")
        return client, redirect_uri

    def _check(
        self, fields: dict[str, str], client: Client, redirect_uri: str, realm: Realm
    ) -> Asked:
        if fields.get("response_type") != "code":
            raise _RedirectError("unsupported_response_type", "only code is served")
        if fields.get("response_mode", "query") != "query":
            raise _RedirectError("invalid_request", "only the response mode query is served")
        if fields.get("code_challenge_method") != "S256":
            raise _RedirectError("invalid_request", "PKCE with S256 is required")
        challenge = fields.get("code_challenge", "")
        if not _CHALLENGE.fullmatch(challenge):
            raise _RedirectError("invalid_request", "PKCE with S256 is required")
        scopes = frozenset(fields.get("scope", "read").split())
        if not scopes or not scopes <= SCOPES.keys():
            raise _RedirectError("invalid_scope", f"the scopes are {' '.join(SCOPES)}")
        resource = realm.canonical(fields.get("resource"))
        if resource is None:
            raise _RedirectError("invalid_target", f"the resource here is {realm.resource}")
        scope = " ".join(name for name in SCOPES if name in scopes)
        return Asked(client, redirect_uri, fields.get("state"), scope, resource, challenge)

    def _redirect(
        self, realm: Realm, redirect_uri: str, fields: dict[str, str], **answer: str
    ) -> Response:
        """Back to the client, with `state` as it came and `iss` (RFC 9207), errors too."""
        if "state" in fields:
            answer["state"] = fields["state"]
        answer["iss"] = realm.base
        sign = "&" if urlsplit(redirect_uri).query else "?"
        return RedirectResponse(f"{redirect_uri}{sign}{urlencode(answer)}", 303, NO_STORE)

    async def token(self, request: Request) -> Response:
        """Exchanges a code or a refresh token for tokens."""
        address = address_of(request)
        await self._authority.throttle.spend("token", address)
        realm = realm_of(self._authority, request)
        fields = await read_form(request)
        client = fields.get("client_id", "")
        if not client:
            raise Denied("invalid_client", "the client does not say who it is")
        await self._authority.throttle.spend_by_account("token", f"{client} {address}")
        resource = fields.get("resource")
        if resource is not None:
            resource = realm.canonical(resource)
            if resource is None:
                raise Denied("invalid_target", f"the resource here is {realm.resource}")
        grant_type = fields.get("grant_type")
        grants, run = self._authority.grants, self._authority.run
        if grant_type == "authorization_code":
            verifier = fields.get("code_verifier", "")
            if not _VERIFIER.fullmatch(verifier):
                raise Denied("invalid_grant", "the code needs its PKCE verifier")
            issued = await run(
                grants.redeem,
                fields.get("code", ""),
                client,
                fields.get("redirect_uri", ""),
                verifier,
                resource,
            )
        elif grant_type == "refresh_token":
            issued = await run(
                grants.refresh,
                fields.get("refresh_token", ""),
                client,
                fields.get("scope"),
                resource,
            )
        else:
            raise Denied(
                "unsupported_grant_type", "authorization_code and refresh_token are served"
            )
        return JSONResponse(_token_answer(issued), headers=NO_STORE)

    async def register(self, request: Request) -> Response:
        """RFC 7591: a client registers itself."""
        await self._authority.throttle.spend("register", address_of(request))
        if not self._authority.clients.registration:
            return JSONResponse({"error": "not_found"}, 404)
        body = await request.body()
        if len(body) > MOST_METADATA_BYTES:
            message = f"the metadata has more than {MOST_METADATA_BYTES} bytes"
            raise Denied("invalid_client_metadata", message)
        registered = await self._authority.run(self._authority.clients.register, body)
        return JSONResponse(registered, 201, NO_STORE)

    async def revoke(self, request: Request) -> Response:
        """RFC 7009: ends a token and all that came of the same consent."""
        address = address_of(request)
        await self._authority.throttle.spend("token", address)
        fields = await read_form(request)
        await self._authority.run(
            self._authority.grants.revoke_token,
            fields.get("token", ""),
            fields.get("client_id"),
            address,
        )
        return Response(status_code=200, headers=NO_STORE)


def _token_answer(issued: Issued) -> dict[str, Any]:
    return {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": ACCESS_MS // 1000,
        "refresh_token": issued.refresh_token,
        "scope": issued.scope,
    }
