"""Parts of an answer that a worker has written as JSON: put in as the answer leaves.

Whoever writes the answer around them sees a mark in their place. To write megabytes of numbers
once more would hold up everybody else's answers.
"""

import json
import re
import secrets
from typing import Any

from starlette.types import Message, Send


class Plain:
    """Such parts as they are, for an answer that is written in one go."""

    def of_object(self, written: bytes) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(written)
        return value

    def of_text(self, text: bytes) -> str:
        return text.decode()


class Inlays:
    """What belongs into one answer, by marks that nobody can guess."""

    def __init__(self) -> None:
        self._parts: dict[bytes, bytes] = {}

    def of_object(self, written: bytes) -> dict[str, Any]:
        """What stands for a JSON object."""
        return {self._mark(written[1:-1]): 0}

    def of_text(self, text: bytes) -> str:
        """What stands for a text."""
        return self._mark(json.dumps(text.decode()).encode())

    def _mark(self, part: bytes) -> str:
        mark = secrets.token_hex(16)
        self._parts[mark.encode()] = part
        return mark

    def sending(self, send: Send) -> Send:
        """Sends an answer with its parts in their places."""
        start: Message | None = None

        async def sent(message: Message) -> None:
            nonlocal start
            if not self._parts:
                await send(message)
            elif message["type"] == "http.response.start" and _length(message) is not None:
                start = message  # which says how long it is to be
            else:
                written = message.get("body", b"")
                filled = self._filled(written)
                if start is not None:
                    length = (_length(start) or 0) + len(filled) - len(written)
                    await send(_of_length(start, length))
                    start = None
                await send({**message, "body": filled} if filled else message)

        return sent

    def _filled(self, written: bytes) -> bytes:
        marks = b"|".join(self._parts)
        pieces = re.split(rb'"(%s)"(?:\s*:\s*0)?' % marks, written)
        pieces[1::2] = (self._parts[mark] for mark in pieces[1::2])
        return b"".join(pieces)


def _length(start: Message) -> int | None:
    return next((int(v) for name, v in start["headers"] if name == b"content-length"), None)


def _of_length(start: Message, length: int) -> Message:
    kept = [each for each in start["headers"] if each[0] != b"content-length"]
    return {**start, "headers": [*kept, (b"content-length", str(length).encode())]}
