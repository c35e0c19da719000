"""What a request held is let go with it: no body waits for the collector of cycles."""

import gc
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.server.conftest import TOKENS, Running, wait_until

MB = 2**20
ROUNDS = 8


@contextmanager
def without_collector() -> Iterator[Callable[[], float]]:
    """Counts the megabytes that were kept meanwhile, none of which the collector may free."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    try:
        yield lambda: (tracemalloc.get_traced_memory()[0] - before) / MB
    finally:
        tracemalloc.stop()
        gc.enable()


def send(here: Running, request: str, body: bytes = b"", more: str = "", user: str = "ann") -> int:
    """The status of a request on a connection of its own."""
    host = urlsplit(here.url)
    with socket.create_connection((host.hostname, host.port)) as line:
        head = f"{request} HTTP/1.1\r\nHost: {host.netloc}\r\nConnection: close\r\n"
        head += f"Authorization: Bearer {TOKENS[user]}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        line.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    ("request_line", "body", "status"),
    [
        ("PUT /api/v1/my/bars/x", b"no bars\n" * (2 * MB // 8), 422),
        ("POST /api/v1/charts", b'{"symbol": "' + b"x" * 2 * MB + b'"}', 413),
        ("POST /api/v1/charts", b"[" + b"1," * MB, 422),
    ],
)
def test_a_refused_body_is_let_go_when_its_connection_ends(here, request_line, body, status):
    assert send(here, request_line, body) == status
    with without_collector() as kept:
        for _ in range(ROUNDS):
            assert send(here, request_line, body) == status
        # One may be at hand in a thread that waits for its next piece of work.
        wait_until(lambda: kept() < 2.5 * len(body) / MB)


def test_a_head_is_let_go_when_its_connection_ends(here):
    head = f"X-Long: {'x' * 60_000}\r\n"
    assert send(here, "GET /healthz", more=head) == 200
    with without_collector() as kept:
        for _ in range(100):
            assert send(here, "GET /healthz", more=head) == 200
            assert send(here, "GET /healthz", more=head + head) == 431
        wait_until(lambda: kept() < 1)
