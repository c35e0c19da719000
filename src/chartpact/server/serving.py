"""Uvicorn, which ends in order: it drains the application first, and leaves the exit code to us."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn


class Serving(uvicorn.Server):
    """Serves until SIGTERM or SIGINT, then finishes what is under way."""

    def __init__(self, config: uvicorn.Config, drain: Callable[[], None]) -> None:
        super().__init__(config)
        self._drain = drain

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._drain()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield
