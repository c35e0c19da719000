"""What stands in front of every route: request ids and logs, size caps, identity, call limits."""

import json
import logging
import time
import uuid
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chartpact.server.identity import Identify
from chartpact.server.limits import Allowance, TooMuch

log = logging.getLogger("chartpact.access")

OPEN = ("/", "/healthz", "/readyz", "/openapi.json", "/sample.svg", "/favicon.ico")


class Front:
    """The one way in, as plain ASGI, so that streams pass through untouched."""

    def __init__(
        self, app: ASGIApp, *, identify: Identify, calls: Allowance, body_bytes: int
    ) -> None:
        self._app = app
        self._identify = identify
        self._calls = calls
        self._body_bytes = body_bytes
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # httptools keeps blanks at the end of header values, which HTTP says do not belong to them.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request_id = uuid.uuid4().hex[:16]
        started = time.perf_counter()
        told: dict[str, Any] = {"status": 0, "user": None}

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                told["status"] = message["status"]
                message["headers"] = [
                    *message["headers"],
                    (b"x-request-id", request_id.encode()),
                    *_unless_there(message["headers"]),
                ]
            await send(message)

        try:
            refusal = self._refusal(scope, told)
            if refusal is not None:
                await refusal(scope, receive, tell)
            else:
                await self._app(scope, _capped(receive, self._body_bytes), tell)
        except _TooLarge:
            too_large = _problem(413, "size", f"the body is over {self._body_bytes} bytes")
            await too_large(scope, receive, tell)
        finally:
            _log(scope, request_id, told, time.perf_counter() - started)

    def _refusal(self, scope: Scope, told: dict[str, Any]) -> JSONResponse | None:
        if self.draining:
            return _problem(503, "busy", "the server is shutting down: try again in a moment")
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > self._body_bytes:
            return _problem(413, "size", f"the body is over {self._body_bytes} bytes")
        if scope["path"] in OPEN:
            return None
        user = self._identify(headers)
        if user is None:
            refusal = _problem(401, "forbidden", "this needs a token: Authorization: Bearer …")
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        scope["chartpact.user"] = told["user"] = user
        try:
            self._calls.spend(user)
        except TooMuch as error:
            refusal = _problem(429, "busy", str(error))
            refusal.headers["Retry-After"] = str(int(error.retry_after_s) + 1)
            return refusal
        return None


def _unless_there(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """What is said of one user is not kept for another, unless a route says otherwise."""
    present = {name.lower() for name, _ in headers}
    ours = {
        b"cache-control": b"private, no-store",
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"no-referrer",
    }
    return [(name, value) for name, value in ours.items() if name not in present]


class _TooLarge(Exception):
    pass


def _capped(receive: Receive, most: int) -> Receive:
    """A body that is sent in pieces is counted as it comes."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise _TooLarge
        return message

    return counted


def _problem(status: int, kind: str, message: str) -> JSONResponse:
    return JSONResponse({"kind": kind, "message": message, "hint": ""}, status)


def _log(scope: Scope, request_id: str, told: dict[str, Any], seconds: float) -> None:
    # Neither the query nor any header: they may carry secrets.
    line = {
        "id": request_id,
        "method": scope["method"],
        "path": scope["path"][:200],
        "status": told["status"],
        "user": told["user"],
        "ms": round(1000 * seconds, 1),
    }
    log.info(json.dumps(line))
