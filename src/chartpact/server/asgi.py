"""ASGI messages: a body replayed, an answer split into pieces, headers completed."""

from collections.abc import Iterator

from starlette.types import Message, Receive

PIECE_BYTES = 262_144  # of an answer that are written at once
DEFAULT_HEADERS = (
    (b"cache-control", b"private, no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)

Headers = list[tuple[bytes, bytes]]


def replay(body: bytes, receive: Receive) -> Receive:
    """Receives a body that has been read, then whatever comes after it."""
    replayed = False

    async def receive_again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


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
