"""Uvicorn with deadlines for slow clients, which tells when it serves and when it ends.

Uvicorn has no limit on the time and size of a head, nor on the time a client takes to read. So its
protocol class is extended, whose methods are public and not documented.
"""

import asyncio
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from chartpact.server.auth.throttle import network_of
from chartpact.server.connections import RESERVED_FILES, Connections

TRIED = "0.54", "0.54"  # releases of uvicorn, first and last
HEAD_SECONDS = 5.0  # from a connection, or a request's first byte, to the end of its head
HEAD_BYTES = 65_536
TAKE_SECONDS = 120.0  # for a client to read what has been written

_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


def _count_most() -> int:
    """How many connections there may be at once."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return max(files // 2, files - RESERVED_FILES)


class BoundedHttp(HttpToolsProtocol):
    """HTTP/1.1 with limits on request heads, and on the time a client takes to read its answer.

    The front sees a request when its head is complete, so heads are limited here.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None  # while a head is awaited
        self._head_bytes = 0  # received
        self._fields_bytes = 0  # of fields that are complete
        self._head_too_long = False
        self._take: asyncio.TimerHandle | None = None  # while the client reads nothing
        # One count for all connections of a server, whose state this is.
        self._connections: Connections = vars(self.server_state).setdefault(
            "connections_of_strangers", Connections(_count_most())
        )

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def abort(self) -> None:
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _send_at_once(transport)
        address = self.client[0] if self.client else ""
        self._connections.open(self, network_of(address))
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        # The front tells whose request it was, and the connection is no stranger's any more.
        self.scope["chartpact.sign_in"] = self._sign_in  # type: ignore[typeddict-unknown-key]
        if self._head is None:
            self._await_head()

    def _sign_in(self, user: str) -> None:
        self._connections.sign_in(self, user)

    def on_url(self, url: bytes) -> None:
        self._count_head(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_head(len(name) + len(value) + len(b": \r\n"))
        super().on_header(name, value)

    def _count_head(self, size: int) -> None:
        """Ends a head that is too long, although all of it may have come in one piece."""
        self._fields_bytes += size
        if self._fields_bytes > HEAD_BYTES:
            self._head_too_long = True
            raise ValueError("the head is too long")  # which ends the parser

    def send_400_response(self, msg: str) -> None:
        if self._head_too_long:
            self.transport.write(_TOO_LONG)
            self.transport.close()
        else:
            super().send_400_response(msg)

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
        self._connections.close(self)
        self._end_head()
        if self._take is not None:
            self._take.cancel()
        super().connection_lost(exc)
        # Either refers back to this connection: a cycle, which would keep heads and bodies until
        # the collector comes by.
        self.cycle = self.scope = None  # type: ignore[assignment]

    def _await_head(self) -> None:
        self._head_bytes = self._fields_bytes = 0
        self._head = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _end_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


def _send_at_once(transport: asyncio.Transport) -> None:
    """Switches Nagle's algorithm off, which holds a body back until its head is acknowledged.

    asyncio does so for listeners whose protocol is given, and not for those of `create_server`.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class AnnouncedServer(uvicorn.Server):
    """A server that calls `announce` when requests are answered."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._announce()


@contextmanager
def at_shutdown(call: Callable[[], None]) -> Iterator[None]:
    """Calls it at the signal that ends uvicorn, before that waits for what is under way."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where no signal comes
        return
    loop = asyncio.get_running_loop()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(call)
        if callable(handler := handlers[signal.Signals(number)]):
            handler(number, frame)

    for number in handlers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
