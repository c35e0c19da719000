"""Clients that are slow on purpose: they are not waited for, and hold nothing for ever."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn

from chartpact.server import uvicorn_server
from chartpact.server.uvicorn_server import BoundedHttp

LARGE = b"x" * 20_000_000


async def app(scope, _receive, send) -> None:
    assert scope["type"] == "http"
    body = LARGE if scope["path"] == "/large" else b"here"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def given_up(monkeypatch) -> threading.Event:
    """Happens when the server lets go of a line."""
    happened, lost = threading.Event(), BoundedHttp.connection_lost

    def noticed(self: BoundedHttp, exc: Exception | None) -> None:
        lost(self, exc)
        happened.set()

    monkeypatch.setattr(BoundedHttp, "connection_lost", noticed)
    return happened


@pytest.fixture(params=["uvloop", pytest.param("asyncio", marks=pytest.mark.slow)])
def port(monkeypatch, request) -> Iterator[int]:
    monkeypatch.setattr(uvicorn_server, "HEAD_SECONDS", 0.4)
    monkeypatch.setattr(uvicorn_server, "TAKE_SECONDS", 0.4)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app, http=BoundedHttp, loop=request.param, lifespan="off", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    serves = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    serves.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    serves.join()


def test_a_body_does_not_wait_until_its_head_is_acknowledged(monkeypatch, port):
    made, without_delay = BoundedHttp.connection_made, []

    def noticed(self: BoundedHttp, transport) -> None:
        made(self, transport)
        line = transport.get_extra_info("socket")
        without_delay.append(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(BoundedHttp, "connection_made", noticed)
    request = b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
    assert b"here" in until_closed(port, request)[0]
    assert without_delay == [1]


def until_closed(port: int, *pieces: bytes, pause: float = 0) -> tuple[bytes, int]:
    """What is answered to the pieces, and how many were sent before the line was closed."""
    answer, sent = b"", 0
    with (
        socket.create_connection(("127.0.0.1", port), timeout=60) as line,
        suppress(BrokenPipeError, ConnectionResetError),
    ):
        for piece in pieces:
            line.sendall(piece)
            sent += 1
            time.sleep(pause)
        while got := line.recv(65536):
            answer += got
    return answer, sent


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"\r\n" + HEAD])
def test_a_head_that_does_not_come_is_given_up(port, sent):
    began = time.monotonic()
    answer, _ = until_closed(port, sent)
    assert answer.count(b"200 OK") == sent.count(b"\r\n\r\n")
    assert time.monotonic() - began > 0.3


def test_a_head_that_comes_a_letter_at_a_time_is_given_up(port):
    _, sent = until_closed(port, HEAD, *[b"X"] * 100, pause=0.05)
    assert sent < 100


def test_a_head_without_end_is_refused_before_it_is_all_there(port):
    lines = [b"X-%d: %s\r\n" % (at, b"y" * 1000) for at in range(1000)]
    answer, _ = until_closed(port, HEAD, *lines)
    assert answer == b"" or b" 431 " in answer  # the answer may be lost among what was still sent
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(HEAD + b"".join(lines[:66]))
        assert b" 431 " in line.recv(65536)


@pytest.mark.parametrize(("letters", "status"), [(65_000, b" 200 "), (66_000, b" 431 ")])
def test_the_limit_of_a_head_holds_for_one_that_comes_in_one_piece(port, letters, status):
    for field in (
        b"X: " + b"y" * letters,
        b"\r\n".join([b"X: yyyy" + b"z" * 93] * (letters // 102)),
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
            line.sendall(HEAD + field + b"\r\nConnection: close\r\n\r\n")
            assert status in line.recv(65536)


def test_an_answer_that_nobody_takes_is_given_up(port, given_up):
    with socket.create_connection(("127.0.0.1", port), timeout=600) as line:
        line.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert given_up.wait(60)
        taken = 0
        with suppress(ConnectionResetError):
            while got := line.recv(1 << 20):
                taken += len(got)
    assert taken < len(LARGE)


@pytest.mark.slow
def test_who_comes_in_time_is_served_again_and_again(monkeypatch, port):
    monkeypatch.setattr(uvicorn_server, "HEAD_SECONDS", 1.5)
    with socket.create_connection(("127.0.0.1", port), timeout=600) as line:
        for pause in (1.7, 0):  # the first head's time is over by then
            line.sendall(HEAD + b"\r\n")
            answer = b""
            while not answer.endswith(b"0\r\n\r\n"):
                got = line.recv(65536)
                assert got, "the line was closed"
                answer += got
            time.sleep(pause)
