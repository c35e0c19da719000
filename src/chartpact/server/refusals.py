"""How failures are answered: the HTTP status of each kind, and refusals before any route."""

import asyncio
from typing import Any

import sqlalchemy as sa
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from chartpact.problem import Failure, Problem

# The status of each kind of problem; what is not here is bad input.
STATUS = {
    "name": 404,
    "size": 413,
    "memory": 413,
    "crash": 500,
    "unavailable": 502,
    "busy": 503,
    "time": 504,
}
BAD_INPUT = 422
LINGER_BYTES = 64 * 2**20  # of a body that is too large, which are received and dropped
LINGER_SECONDS = 5.0  # until the connection is closed all the same
UNEXPECTED = "something went wrong here; its request id is in the log"
# The second: every connection of this process is in use.
DATABASE_FAILED = (sa.exc.DBAPIError, sa.exc.TimeoutError)
# It does not say that nothing was changed: an answer to a commit may have been lost.
NO_DATABASE = "the database does not answer now: try again in a moment"


def name_cause(error: BaseException) -> str:
    """Why the database failed, in the driver's words, without the statement and its values."""
    return str(getattr(error, "orig", None) or error).strip()


class VerbError(Failure):
    """A verb was not carried out, and nothing was changed."""


def refuse(kind: str, message: str) -> VerbError:
    return VerbError(Problem(kind, message))


def status_of(failure: Failure) -> int:
    """The HTTP status that says what kind of thing went wrong."""
    return STATUS.get(failure.kind, BAD_INPUT)


class Refusal(Failure):
    """A request that reaches no route, and its answer."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        retry_after_s: float | None = None,
        *,
        challenge: str | None = None,
    ) -> None:
        super().__init__(Problem(kind, message))
        self._status = status
        self._retry_after_s = retry_after_s
        self._challenge = challenge

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {}
        if self._status == 405:
            headers["Allow"] = "POST"
        if self._challenge is not None:
            headers["WWW-Authenticate"] = self._challenge
        if self._status in (408, 413, 503):
            headers["Connection"] = "close"
        if self._retry_after_s is not None:
            headers["Retry-After"] = str(int(self._retry_after_s) + 1)
        data = self.to_json()
        if scope["path"] == "/mcp":  # whose clients show errors of the protocol alone
            code = INVALID_REQUEST if self._status < 500 else INTERNAL_ERROR
            error: dict[str, Any] = {"code": code, "message": self.message, "data": data}
            data = {"jsonrpc": "2.0", "id": None, "error": error}
        lingering = _linger(receive, send) if self._status == 413 else send
        await JSONResponse(data, self._status, headers)(scope, receive, lingering)


def _linger(receive: Receive, send: Send) -> Send:
    """Sends the answer, and receives what is still coming before the connection is closed.

    A client that is cut off while it sends never sees the answer.
    """

    async def send_and_drain(message: Message) -> None:
        if message["type"] == "http.response.body":
            await send({**message, "more_body": True})
            await _drain(receive)
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return send_and_drain


async def _drain(receive: Receive) -> None:
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
