"""The middleware before every route: request ids and logs, hosts, identity, limits, bodies."""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from functools import lru_cache
from typing import cast

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chartpact.problem import Failure
from chartpact.server import logs
from chartpact.server.allowance import Allowance, Ledger, LoanMeter, TooMuch
from chartpact.server.asgi import (
    RequestHeaders,
    make_private,
    replay,
    split,
    while_connected,
    with_defaults,
)
from chartpact.server.bodies import SMALL_BYTES, LeanBody, check_escapes
from chartpact.server.identity import Caller, Identify
from chartpact.server.mcp_http import McpOverHttp
from chartpact.server.metrics import Metrics
from chartpact.server.refusals import (
    DATABASE_FAILED,
    NO_DATABASE,
    UNEXPECTED,
    Refusal,
    name_cause,
    status_of,
)
from chartpact.server.settings import UserLimits

log = logging.getLogger("chartpact.access")

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
ANY_HOST = ("*",)
WATCHED = ("/healthz", "/readyz", "/metrics")  # by monitoring, under any host name
OPEN = (*WATCHED, "/", "/connect", "/docs", "/openapi.json", "/sample.svg", "/favicon.ico")
OPEN_FOLDERS = ("/static/", "/docs/")  # the files of the page, and the documentation
READ_BY_POST = (
    "/api/v1/bars/after",
    "/api/v1/charts",
    "/api/v1/charts/image",
    "/api/v1/charts/series",
    "/api/v1/check",
    "/api/v1/prove",
    "/api/v1/contracts/check",
    "/api/v1/contracts/draft",
    "/api/v1/contracts/match",
    "/api/v1/strategies/check",
    "/api/v1/strategies/state",
    "/api/v1/state",
    "/api/v1/study",
)  # every other POST changes something
LONGEST_USER = 255
NOBODYS_BYTES = 1024  # of a body on a path that is open to all, where none is needed
NOBODYS_SECONDS = 5  # for a body of who is not signed in
FORM_BYTES = 16_384  # of a form or a registration, on a path of identity
HELD = ("chartpact.body", "chartpact.bars")  # what of a scope may be large
NOTED_BYTES = 16_384  # bodies up to here do not count against the allowance
SCRIPTS = "/api/v1/my/indicators"  # which are tried when they are put
FILES = "/api/v1/my/bars/"  # where bodies are files, and not JSON
LARGE = (FILES, "/api/v1/my/library")  # where files and whole libraries are put

ReadBody = Callable[[str, bytes, bool], Awaitable[LeanBody]]  # user, body, whether it is MCP
Challenge = Callable[[Headers, str | None], str]  # headers and an error of RFC 6750


class Front:
    """The one way in, as plain ASGI, so that streams pass through untouched."""

    def __init__(
        self,
        app: ASGIApp,
        mcp: McpOverHttp,
        *,
        identify: Identify,
        limits: UserLimits,
        hosts: tuple[str, ...],
        read_body: ReadBody,
        challenge: Challenge = lambda _headers, _error: "Bearer",
        forms: Collection[str] = (),
        ledger: Ledger | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._app = app
        self._mcp = mcp
        self._read_body = read_body
        self._identify = identify
        self._limits = limits
        self._hosts = hosts
        self._challenge = challenge
        self._forms = frozenset(forms)  # paths of identity: open to all, with forms as bodies
        self._calls = LoanMeter(Allowance("calls", limits.calls_per_minute), ledger)
        sent = Allowance("megabytes sent", limits.body_megabytes_per_minute)
        self._megabytes = LoanMeter(sent, ledger)
        self._metrics = metrics or Metrics()
        self._under_way: Counter[str] = Counter()
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # httptools keeps blanks at the end of header values, which HTTP says do not belong to them.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request_id = os.urandom(8).hex()
        logs.request.set(request_id)
        started = time.perf_counter()
        status, ended = 0, False
        user: str | None = None

        async def respond(message: Message) -> None:
            nonlocal status, ended
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = message["headers"] if user is None else make_private(message["headers"])
                headers = [*headers, (b"x-request-id", request_id.encode())]
                await send({**message, "headers": with_defaults(headers)})
                return
            ended = ended or not message.get("more_body", False)
            for piece in split(message):
                await send(piece)

        scope["chartpact.database_failed"] = self._note_database_failure
        try:
            try:
                headers = RequestHeaders(scope["headers"])
                user = await self._admit(scope, headers)
                body = await self._receive_body(scope["path"], user, headers, receive)
                if user is not None and body is not None:
                    body = await self._lean(scope, user, body)
                if scope["path"] == "/mcp":
                    caller: Caller = scope["chartpact.caller"]
                    if "write" not in caller.scopes and await self._mcp.writes(body):
                        self._check_scope("write", headers, caller)
            except DATABASE_FAILED as failure:
                self._note_database_failure(failure)
                await Refusal(503, "busy", NO_DATABASE, 5).answer(scope, receive, respond)
            except Refusal as refusal:
                await refusal.answer(scope, receive, respond)
            else:
                scope["chartpact.body"] = body
                app = self._mcp if scope["path"] == "/mcp" else self._app
                if body is not None and _computes(scope):
                    await while_connected(app, scope, body, receive, respond)
                else:
                    await app(scope, receive if body is None else replay(body, receive), respond)
        except Exception:
            # Logged with the request's id; the connection serves on where it can.
            log.exception("a request failed")
            if status == 0:
                await Refusal(500, "crash", UNEXPECTED).answer(scope, receive, respond)
            elif not ended:
                raise
        finally:
            # An idle connection keeps the scope of its last request.
            for held in HELD:
                scope.pop(held, None)
            if user is not None:
                self._metrics.add("chartpact_calls_under_way", amount=-1)
                self._under_way[user] -= 1
                if not self._under_way[user]:
                    del self._under_way[user]
            seconds = time.perf_counter() - started
            self._metrics.count_request(scope["path"], status, seconds)
            _log(scope, request_id, user, status, seconds)

    def _note_database_failure(self, failure: BaseException) -> None:
        log.error("the database failed: %s", name_cause(failure))
        self._metrics.add("chartpact_database_failures_total")

    async def _admit(self, scope: Scope, headers: Headers) -> str | None:
        """The user whose call it is, counted as under way; None on a path open to all."""
        if self.draining:
            raise Refusal(503, "busy", "the server is shutting down: try again", 5)
        path = scope["path"]
        if path not in WATCHED:
            self._check_host(headers, form=path in self._forms)
        if path in OPEN or path in self._forms or path.startswith(OPEN_FOLDERS):
            return None
        if scope["path"] == "/mcp" and scope["method"] != "POST":
            # Without sessions there is no stream to open or to end.
            raise Refusal(405, "value", "MCP is spoken by POST here: there are no sessions")
        caller = await self._identify_caller(headers)
        if caller.by_cookie and path == "/mcp":
            raise self._refuse_stranger(headers)
        user = caller.user
        self._check_scope(_find_scope(scope), headers, caller)
        await self._spend(self._calls, user)
        most = self._limits.calls_at_once
        if self._under_way[user] >= most:
            raise Refusal(429, "busy", f"{most} of your calls are under way: wait for one", 1)
        self._under_way[user] += 1
        self._metrics.add("chartpact_calls_under_way")
        scope["chartpact.user"] = user
        scope["chartpact.caller"] = caller
        if (sign_in := scope.get("chartpact.sign_in")) is not None:
            sign_in(user)
        return user

    def _check_scope(self, needed: str, headers: Headers, caller: Caller) -> None:
        """Refuses what the token does not allow."""
        if needed not in caller.scopes:
            challenge = self._challenge(headers, "insufficient_scope")
            message = f"this needs a token with the scope {needed}"
            raise Refusal(403, "forbidden", message, challenge=challenge)

    async def _identify_caller(self, headers: Headers) -> Caller:
        if sum(name == b"authorization" for name, _ in headers.raw) > 1:
            raise Refusal(400, "value", "a request has one Authorization at most")
        try:
            answer = self._identify(headers)
            caller: object = await answer if isinstance(answer, Awaitable) else answer
        except DATABASE_FAILED:
            raise
        except Exception:  # the operator's own function may raise anything
            log.exception("the identity function failed")
            raise Refusal(500, "crash", "the server could not find out who you are") from None
        if caller is None:
            raise self._refuse_stranger(headers)
        known = caller if isinstance(caller, Caller) else Caller(cast(str, caller))
        user: object = known.user
        if not isinstance(user, str) or not 0 < len(user) <= LONGEST_USER or not user.isprintable():
            log.error("the identity function returned %.80r, which is no user", user)
            raise Refusal(500, "crash", "the server could not find out who you are")
        return known

    def _refuse_stranger(self, headers: Headers) -> Refusal:
        error = "invalid_token" if "authorization" in headers else None
        message = "this needs a token: Authorization: Bearer …"
        return Refusal(401, "forbidden", message, challenge=self._challenge(headers, error))

    def _check_host(self, headers: Headers, *, form: bool) -> None:
        # A web page can reach a server on loopback under its own name (DNS rebinding).
        if self._hosts == ANY_HOST:
            return
        names = [name for name, _ in headers.raw]
        if names.count(b"host") > 1 or names.count(b"origin") > 1:
            raise Refusal(400, "value", "a request has one Host, and one Origin at most")
        host = headers["host"] if b"host" in names else ""
        if not _is_known(host, self._hosts):
            raise Refusal(421, "forbidden", f"this server is not called {host!r:.80}")
        origin = headers["origin"] if b"origin" in names else None
        if form and origin == "null":
            return  # what browsers send for pages without a referrer; forms have their own proof
        if origin is not None and not _is_known(origin.partition("://")[2], self._hosts):
            raise Refusal(403, "forbidden", f"pages of {origin!r:.80} may not call this server")

    async def _receive_body(
        self, path: str, user: str | None, headers: Headers, receive: Receive
    ) -> bytes | None:
        """The whole body, so that no route waits for a slow client; None where there is none."""
        length = headers.get("content-length")
        if length is None and "transfer-encoding" not in headers:
            return None
        limits = self._limits
        most = limits.upload_bytes if path.startswith(LARGE) else limits.body_bytes
        if user is None:
            most = FORM_BYTES if path in self._forms else NOBODYS_BYTES
        if length is not None and (not length.isdigit() or int(length) > most):
            raise Refusal(413, "size", f"the body is over {most} bytes")
        pieces, seen = [], 0
        seconds = min(limits.body_seconds, NOBODYS_SECONDS) if user is None else limits.body_seconds
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "value", "the body ended early")
                    pieces.append(message.get("body", b""))
                    seen += len(pieces[-1])
                    if seen > most:
                        raise Refusal(413, "size", f"the body is over {most} bytes")
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            late = f"the body took longer than {seconds:g} s"
            raise Refusal(408, "time", late) from None
        if user is not None and seen > NOTED_BYTES:
            await self._spend(self._megabytes, user, seen / 1e6)
        return b"".join(pieces)

    async def _lean(self, scope: Scope, user: str, body: bytes) -> bytes:
        """A body without what would take long to parse here; files are left as they are."""
        is_mcp = scope["path"] == "/mcp"  # which has its own answer to what is no JSON
        if scope["path"].startswith(FILES):
            return body
        try:
            if len(body) > SMALL_BYTES:
                lean = await self._read_body(user, body, is_mcp)
            else:
                lean = LeanBody(body)
                if not is_mcp:
                    check_escapes(body)
        except Failure as failure:
            raise Refusal(status_of(failure), failure.kind, str(failure)) from None
        scope["chartpact.bars"] = lean.bars
        return lean.body

    async def _spend(self, meter: LoanMeter, user: str, amount: float = 1) -> None:
        try:
            await meter.spend(user, amount)
        except TooMuch as failure:
            raise Refusal(429, "busy", str(failure), failure.retry_after_s) from None


@lru_cache(maxsize=256)
def _is_known(host: str, hosts: tuple[str, ...]) -> bool:
    name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not name or not port.isdigit():
        name = host
    spellings = (host.lower(), f"{name.lower()}:*")
    return any(known.lower() in spellings for known in hosts)


def _find_scope(scope: Scope) -> str:
    """What a token must allow for the request; of MCP's tools some ask for more."""
    reads = scope["method"] in ("GET", "HEAD") or scope["path"] in (*READ_BY_POST, "/mcp")
    return "read" if reads else "write"


def _computes(scope: Scope) -> bool:
    """Whether a call of REST has workers compute; MCP ends its calls itself."""
    writes = scope["method"] in ("POST", "PUT") and scope["path"].startswith(SCRIPTS)
    return writes or scope["path"] in READ_BY_POST


def _log(scope: Scope, request_id: str, user: str | None, status: int, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    # Neither the query nor any header nor a body: they may carry secrets.
    fields = {
        "id": request_id,
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": status,
        "user": user,
        "ms": round(1000 * seconds, 1),
    }
    log.info("answered", extra={"fields": fields})
