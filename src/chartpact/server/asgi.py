"""ASGI messages: a body replayed, an answer split into pieces, headers completed."""

import asyncio
from collections.abc import Iterator

from starlette.datastructures import Headers as StarletteHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PIECE_BYTES = 262_144  # of an answer that are written at once
DEFAULT_HEADERS = (
    (b"cache-control", b"private, no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)

Headers = list[tuple[bytes, bytes]]


class RequestHeaders(StarletteHeaders):
    """The headers of a request by name; of one that comes twice, the first."""

    def __init__(self, raw: Headers) -> None:
        super().__init__(raw=raw)
        self._first = dict(reversed(raw))

    def __getitem__(self, key: str) -> str:
        return self._first[key.lower().encode("latin-1")].decode("latin-1")

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.lower().encode("latin-1") in self._first


def replay(body: bytes, receive: Receive) -> Receive:
    """Receives a body that has been read, then whatever comes after it."""
    replayed = False

    async def receive_again() -> Message:
        nonlocal body, replayed
        if replayed:
            return await receive()
        message = {"type": "http.request", "body": body, "more_body": False}
        body, replayed = b"", True
        return message

    return receive_again


async def while_connected(
    app: ASGIApp, scope: Scope, body: bytes, receive: Receive, send: Send
) -> None:
    """Calls the application with a body that has been read, and stops it if its client leaves."""

    async def wait_for_leave() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    answering = asyncio.ensure_future(app(scope, replay(body, receive), send))
    leaving = asyncio.ensure_future(wait_for_leave())
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not answering.done():
            answering.cancel()
        await asyncio.wait({answering})
    if not answering.cancelled():
        answering.result()


def split(message: Message) -> Iterator[Message]:
    """A part of an answer in pieces, so that a slow client exerts back-pressure."""
    body, more = message.get("body", b""), message.get("more_body", False)
    if len(body) <= PIECE_BYTES:
        yield message
        return
    for start in range(PIECE_BYTES, len(body), PIECE_BYTES):
        yield {**message, "body": body[start - PIECE_BYTES : start], "more_body": True}
    rest = body[(len(body) - 1) // PIECE_BYTES * PIECE_BYTES :]
    yield {**message, "body": rest, "more_body": more}


def make_private(headers: Headers) -> Headers:
    """The headers of an answer to a user, which no shared cache may store."""
    return [
        (name, b"private, no-store, " + value)
        if name.lower() == b"cache-control" and b"private" not in value
        else (name, value)
        for name, value in headers
    ]


def with_defaults(headers: Headers) -> Headers:
    """The headers, and the defaults of those that a route does not set."""
    present = {name.lower() for name, _ in headers}
    return [*headers, *(header for header in DEFAULT_HEADERS if header[0] not in present)]
