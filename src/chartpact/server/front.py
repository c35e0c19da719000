"""What stands in front of every route: request ids and logs, hosts, identity, limits, bodies."""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from typing import Any

from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chartpact.server import logs
from chartpact.server.identity import Identify
from chartpact.server.limits import Allowance, TooMuch
from chartpact.server.reading import SMALL_BYTES, Read, Unreadable
from chartpact.server.settings import Limits
from chartpact.work.failure import WorkFailed

log = logging.getLogger("chartpact.access")

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")
ANY_HOST = ("*",)
WATCHED = ("/healthz", "/readyz")  # by whoever keeps the server running, under any name
OPEN = (*WATCHED, "/", "/openapi.json", "/sample.svg", "/favicon.ico")
LONGEST_USER = 255
NOBODYS_BYTES = 1024  # of a body on a path that is open to all, where none is needed
LINGER_BYTES = 64 * 2**20  # of a body that is too large, and
LINGER_SECONDS = 5.0  # how long it may come on before the connection is closed
NOTED_BYTES = 16_384  # from which on a body counts
PIECE_BYTES = 262_144  # of an answer that are written at once
UNEXPECTED = "something went wrong here; its request id is in the log"
USUAL = (
    (b"cache-control", b"private, no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
Pairs = list[tuple[bytes, bytes]]  # headers as ASGI has them
FILES = "/api/v1/my/bars/"  # where bodies are files, and not JSON
LARGE = (FILES, "/api/v1/my/library")  # where files and whole libraries are put
FAILED = {"busy": 503, "time": 504, "memory": 413, "crash": 500}

Reader = Callable[[str, bytes, bool], Awaitable[Read]]  # of a user's large body, over MCP or not


class Front:
    """The one way in, as plain ASGI, so that streams pass through untouched."""

    def __init__(
        self,
        app: ASGIApp,
        mcp: ASGIApp,
        *,
        identify: Identify,
        limits: Limits,
        hosts: tuple[str, ...],
        read: Reader,
    ) -> None:
        self._app = app
        self._mcp = mcp
        self._read = read
        self._identify = identify
        self._limits = limits
        self._hosts = hosts
        self._calls = Allowance("calls", limits.calls_per_minute)
        self._megabytes = Allowance("megabytes sent", limits.body_megabytes_per_minute)
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
        told: dict[str, Any] = {"status": 0, "ended": False}

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
                headers = message["headers"] if user is None else _private(message["headers"])
                message["headers"] = [
                    *headers,
                    (b"x-request-id", request_id.encode()),
                    *_unless_there(headers),
                ]
                await send(message)
                return
            if not message.get("more_body", False):
                told["ended"] = True
            for piece in _in_pieces(message):
                await send(piece)

        user: str | None = None
        try:
            try:
                asked = Headers(scope=scope)
                user = self._admitted(scope, asked)
                body = await self._body(scope["path"], user, asked, receive)
                if user is not None and body is not None and len(body) > SMALL_BYTES:
                    body = await self._lean(scope, user, body)
            except Refusal as refusal:
                await refusal.answer(scope, receive, tell)
            else:
                scope["chartpact.body"] = body
                app = self._mcp if scope["path"] == "/mcp" else self._app
                await app(scope, receive if body is None else _again(body, receive), tell)
        except Exception:
            # Told here, with the request's id, and the connection serves on where it can.
            log.exception("a request failed")
            if told["status"] == 0:
                await Refusal(500, "crash", UNEXPECTED).answer(scope, receive, tell)
            elif not told["ended"]:
                raise
        finally:
            if user is not None:
                self._under_way[user] -= 1
                if not self._under_way[user]:
                    del self._under_way[user]
            _log(scope, request_id, user, told["status"], time.perf_counter() - started)

    def _admitted(self, scope: Scope, headers: Headers) -> str | None:
        """The user whose call it is, counted as under way; None on a path open to all."""
        if self.draining:
            raise Refusal(503, "busy", "the server is shutting down: try again", 5)
        if scope["path"] not in WATCHED:
            self._check_host(headers)
        if scope["path"] in OPEN:
            return None
        if scope["path"] == "/mcp" and scope["method"] != "POST":
            # Without sessions there is no stream to open or to end, and none shall be held open.
            raise Refusal(405, "value", "MCP is spoken by POST here: there are no sessions")
        user = self._caller(headers)
        self._spend(self._calls, user)
        most = self._limits.calls_at_once
        if self._under_way[user] >= most:
            raise Refusal(429, "busy", f"{most} of your calls are under way: wait for one", 1)
        self._under_way[user] += 1
        scope["chartpact.user"] = user
        return user

    def _caller(self, headers: Headers) -> str:
        try:
            user: object = self._identify(headers)
        except Exception:  # the operator's own function: whatever it raises lets nobody in
            log.exception("the identity function failed")
            raise Refusal(500, "crash", "the server could not find out who you are") from None
        if user is None:
            raise Refusal(401, "forbidden", "this needs a token: Authorization: Bearer …")
        if not isinstance(user, str) or not 0 < len(user) <= LONGEST_USER or not user.isprintable():
            log.error("the identity function named %.80r, which is no user", user)
            raise Refusal(500, "crash", "the server could not find out who you are")
        return user

    def _check_host(self, headers: Headers) -> None:
        # A web page can reach a server on loopback under a name of its own; then it says so here.
        if self._hosts == ANY_HOST:
            return
        names = [name for name, _ in headers.raw]
        if names.count(b"host") > 1 or names.count(b"origin") > 1:
            raise Refusal(400, "value", "a request has one Host, and one Origin at most")
        host = headers["host"] if b"host" in names else ""
        if not _known(host, self._hosts):
            raise Refusal(421, "forbidden", f"this server is not called {host!r:.80}")
        origin = headers["origin"] if b"origin" in names else None
        if origin is not None and not _known(origin.partition("://")[2], self._hosts):
            raise Refusal(403, "forbidden", f"pages of {origin!r:.80} may not call this server")

    async def _body(
        self, path: str, user: str | None, headers: Headers, receive: Receive
    ) -> bytes | None:
        """The whole body, so that nothing waits for a slow one; None where there is none."""
        length = headers.get("content-length")
        if length is None and "transfer-encoding" not in headers:
            return None
        limits = self._limits
        most = limits.upload_bytes if path.startswith(LARGE) else limits.body_bytes
        most = NOBODYS_BYTES if user is None else most
        if length is not None and (not length.isdigit() or int(length) > most):
            raise _too_large(most)
        pieces, seen = [], 0
        try:
            async with asyncio.timeout(limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "value", "the body ended early")
                    pieces.append(message.get("body", b""))
                    seen += len(pieces[-1])
                    if seen > most:
                        raise _too_large(most)
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            late = f"the body took longer than {limits.body_seconds:g} s"
            raise Refusal(408, "time", late) from None
        if user is not None and seen > NOTED_BYTES:
            self._spend(self._megabytes, user, seen / 1e6)
        return b"".join(pieces)

    async def _lean(self, scope: Scope, user: str, body: bytes) -> bytes:
        """A large body without what would take long to read here; files are left as they are."""
        if scope["path"].startswith(FILES):
            return body
        try:
            read = await self._read(user, body, scope["path"] == "/mcp")
        except Unreadable as error:
            status = 413 if error.kind == "size" else 422
            raise Refusal(status, error.kind, error.message) from None
        except WorkFailed as error:
            raise Refusal(FAILED[error.kind], error.kind, str(error)) from None
        scope["chartpact.bars"] = read.bars
        return read.body

    def _spend(self, allowance: Allowance, user: str, amount: float = 1) -> None:
        try:
            allowance.spend(user, amount)
        except TooMuch as error:
            raise Refusal(429, "busy", str(error), error.retry_after_s) from None


@lru_cache(maxsize=256)
def _known(host: str, hosts: tuple[str, ...]) -> bool:
    name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not name or not port.isdigit():
        name = host
    said = (host.lower(), f"{name.lower()}:*")
    return any(known.lower() in said for known in hosts)


class Refusal(Exception):
    """A request that goes no further, and what its caller is told."""

    def __init__(
        self, status: int, kind: str, message: str, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self._status = status
        self._kind = kind
        self._retry_after_s = retry_after_s

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {}
        if self._status == 405:
            headers["Allow"] = "POST"
        if self._status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if self._status in (408, 413, 503):
            headers["Connection"] = "close"
        if self._retry_after_s is not None:
            headers["Retry-After"] = str(int(self._retry_after_s) + 1)
        problem = {"kind": self._kind, "message": str(self), "hint": ""}
        told = _as_mcp(problem, self._status) if scope["path"] == "/mcp" else problem
        way = _lingering(receive, send) if self._status == 413 else send
        await JSONResponse(told, self._status, headers)(scope, receive, way)


def _as_mcp(problem: dict[str, str], status: int) -> dict[str, Any]:
    """The problem as MCP has errors: clients show nothing of what they do not know."""
    code = INVALID_REQUEST if status < 500 else INTERNAL_ERROR
    error = {"code": code, "message": problem["message"], "data": problem}
    return {"jsonrpc": "2.0", "id": None, "error": error}


def _too_large(most: int) -> Refusal:
    return Refusal(413, "size", f"the body is over {most} bytes")


def _lingering(receive: Receive, send: Send) -> Send:
    """Answers, and takes what is still being sent before the connection is closed.

    A client that is cut off while it sends never sees the answer.
    """

    async def answered(message: Message) -> None:
        if message["type"] == "http.response.body":
            await send({**message, "more_body": True})
            await _taken(receive)
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return answered


async def _taken(receive: Receive) -> None:
    seen = 0
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while seen < LINGER_BYTES:
                message = await receive()
                seen += len(message.get("body", b""))
                if not message.get("more_body", False):  # or the client is gone
                    return
    except TimeoutError:
        return


def _again(body: bytes, receive: Receive) -> Receive:
    """Hands over the body that has been read, then whatever comes after it."""
    read = False

    async def replayed() -> Message:
        nonlocal read
        if read:
            return await receive()
        read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _in_pieces(message: Message) -> Iterator[Message]:
    """A part of an answer, so that no more is written than its client is ready to take."""
    body, more = message.get("body", b""), message.get("more_body", False)
    if len(body) <= PIECE_BYTES:
        yield message
        return
    for start in range(PIECE_BYTES, len(body), PIECE_BYTES):
        yield {**message, "body": body[start - PIECE_BYTES : start], "more_body": True}
    rest = body[(len(body) - 1) // PIECE_BYTES * PIECE_BYTES :]
    yield {**message, "body": rest, "more_body": more}


def _private(headers: Pairs) -> Pairs:
    """What is said to a user is for no shared cache, whatever a stream says of caches besides."""
    return [
        (name, b"private, no-store, " + value)
        if name.lower() == b"cache-control" and b"private" not in value
        else (name, value)
        for name, value in headers
    ]


def _unless_there(headers: Pairs) -> Pairs:
    """What is usual, where a route does not say otherwise."""
    present = {name.lower() for name, _ in headers}
    return [each for each in USUAL if each[0] not in present]


def _log(scope: Scope, request_id: str, user: str | None, status: int, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    # Neither the query nor any header nor a body: they may carry secrets.
    about = {
        "id": request_id,
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": status,
        "user": user,
        "ms": round(1000 * seconds, 1),
    }
    log.info("answered", extra={"about": about})
