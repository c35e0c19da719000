"""Uvicorn with deadlines for slow clients, and a shutdown that finishes what is under way."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 20.0  # from a connection, or a request's first byte, to the end of its head
HEAD_BYTES = 65_536
TAKE_SECONDS = 120.0  # for a client to read what has been written

_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


class BoundedHttp(HttpToolsProtocol):
    """HTTP/1.1 with limits on request heads, and on the time a client takes to read its answer.

    The front sees a request when its head is complete, so heads are limited here.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None  # while a head is awaited
        self._head_bytes = 0
        self._take: asyncio.TimerHandle | None = None  # while the client reads nothing

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head is None:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is None or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > HEAD_BYTES:
            self.transport.write(_TOO_LONG)
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._end_head()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._take is None:
            self._take = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._take is not None:
            self._take.cancel()
            self._take = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        if self._take is not None:
            self._take.cancel()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _end_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


class GracefulServer(uvicorn.Server):
    """Serves until SIGTERM or SIGINT, then finishes what is under way.

    `announce` is called when requests are answered.
    """

    def __init__(
        self, config: uvicorn.Config, drain: Callable[[], None], announce: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._drain = drain
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._drain()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield
