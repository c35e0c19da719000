"""JSON that a worker has written, spliced into an answer as it is sent.

The SDK serialises the answer with a random marker in the place of each part. Serialising megabytes
of numbers once more would block the event loop.
"""

import json
import re
import secrets
from typing import Any

from starlette.types import Message, Send


class NoSplices:
    """Parses the parts instead, for an answer on standard output."""

    def of_object(self, data: bytes) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(data)
        return value

    def of_text(self, text: bytes) -> str:
        return text.decode()


class Splices:
    """The parts of one answer, by markers that nobody can guess."""

    def __init__(self) -> None:
        self._parts: dict[bytes, bytes] = {}

    def of_object(self, data: bytes) -> dict[str, Any]:
        """An object that stands for a JSON object."""
        return {self._mark(data[1:-1]): 0}

    def of_text(self, text: bytes) -> str:
        """A text that stands for another."""
        return self._mark(json.dumps(text.decode()).encode())

    def _mark(self, part: bytes) -> str:
        marker = secrets.token_hex(16)
        self._parts[marker.encode()] = part
        return marker

    def wrap(self, send: Send) -> Send:
        """Sends an answer with its parts in their places."""
        start: Message | None = None

        async def splice(message: Message) -> None:
            nonlocal start
            if not self._parts:
                await send(message)
            elif message["type"] == "http.response.start" and _length(message) is not None:
                start = message  # held back, since its content-length changes
            else:
                body = message.get("body", b"")
                whole = self._fill(body)
                if start is not None:
                    length = (_length(start) or 0) + len(whole) - len(body)
                    await send(_with_length(start, length))
                    start = None
                await send({**message, "body": whole} if whole else message)

        return splice

    def _fill(self, body: bytes) -> bytes:
        markers = b"|".join(self._parts)
        pieces = re.split(rb'"(%s)"(?:\s*:\s*0)?' % markers, body)
        pieces[1::2] = (self._parts[marker] for marker in pieces[1::2])
        return b"".join(pieces)


def _length(start: Message) -> int | None:
    return next((int(v) for name, v in start["headers"] if name == b"content-length"), None)


def _with_length(start: Message, length: int) -> Message:
    headers = [header for header in start["headers"] if header[0] != b"content-length"]
    return {**start, "headers": [*headers, (b"content-length", str(length).encode())]}
