"""A flood of strangers makes room for who is signed in, and silences nobody."""

import resource
import socket
import subprocess
import sys
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.server.conftest import TOKENS, start

from chartpact.server.connections import MOST_PER_USER, Connections
from chartpact.work import open_files

HALF = b"GET /api/v1/symbols HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


class Line:
    """A connection that remembers whether it was closed."""

    def __init__(self, *, idle: bool = True) -> None:
        self.idle = idle
        self.closed = False

    def abort(self) -> None:
        self.closed = True


def test_of_one_address_the_oldest_idle_stranger_makes_room():
    connections = Connections(1000, per_address=3)
    busy, *others = lines = [Line(idle=False), Line(), Line()]
    elsewhere = Line()
    connections.open(elsewhere, "192.0.2.2")
    for line in lines:
        connections.open(line, "192.0.2.1")
    newest = Line()
    connections.open(newest, "192.0.2.1")
    assert [line.closed for line in (busy, *others, newest)] == [False, True, False, False]
    assert not elsewhere.closed
    assert connections.strangers == 4


def test_where_every_stranger_is_busy_the_oldest_makes_room_and_the_newest_is_let_in():
    connections = Connections(1000, per_address=2)
    lines = [Line(idle=False) for _ in range(3)]
    for line in lines:
        connections.open(line, "192.0.2.1")
    assert [line.closed for line in lines] == [True, False, False]


def test_strangers_have_half_of_all_connections_from_however_many_addresses():
    connections = Connections(100)
    lines = [Line() for _ in range(200)]
    for number, line in enumerate(lines):
        connections.open(line, f"192.0.2.{number}")
    assert connections.strangers == connections.most_strangers == 50
    assert [line.closed for line in lines] == [True] * 150 + [False] * 50


def test_who_is_signed_in_is_not_closed_for_strangers():
    connections = Connections(100, per_address=10)
    mine = Line()
    connections.open(mine, "192.0.2.1")
    connections.sign_in(mine, "ann")
    connections.sign_in(mine, "ann")
    for _ in range(500):
        connections.open(Line(), "192.0.2.1")
    assert not mine.closed
    connections.close(mine)
    connections.close(mine)
    assert connections.strangers == 10


def test_one_user_cannot_take_the_share_of_the_signed_in():
    connections = Connections(10**6)
    lines = [Line() for _ in range(MOST_PER_USER + 5)]
    bobs = Line()
    connections.open(bobs, "192.0.2.9")
    connections.sign_in(bobs, "bob")
    for line in lines:
        connections.open(line, "192.0.2.1")
        connections.sign_in(line, "ann")
    assert sum(line.closed for line in lines) == 5
    assert not bobs.closed
    assert connections.strangers == 0


def test_a_connection_that_is_gone_cannot_be_signed_in():
    connections = Connections(10)
    line = Line()
    connections.open(line, "192.0.2.1")
    connections.close(line)
    connections.sign_in(line, "ann")
    assert connections.strangers == 0
    assert connections._groups == connections._owners == {}


def test_the_limit_on_files_is_raised_to_the_hard_one_and_told():
    code = (
        "import resource; from chartpact.work import open_files;"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200));"
        "print(open_files.describe(), open_files.raise_to_hard(), open_files.describe(), sep='|')"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip().split("|") == [
        "100; a server raises it to 200, the most this system permits",
        "200",
        "200, the most this system permits",
    ]
    assert open_files.describe().startswith(str(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))


@pytest.mark.slow
def test_twelve_hundred_half_sent_requests_silence_nobody(tmp_path):
    """As many as once silenced a server of 1024 files for as long as heads were waited for."""
    few_files = ("sh", "-c", 'ulimit -Sn 512 && ulimit -Hn 1024 && exec "$0" "$@"')
    running = start(tmp_path, prefix=few_files)
    url, port = running.url, urlsplit(running.url).port
    token = {"Authorization": f"Bearer {TOKENS['ann']}"}
    try:
        with ExitStack() as flood, httpx2.Client(base_url=url, headers=token, timeout=120) as ann:
            assert ann.get("/api/v1/symbols").status_code == 200
            for number in range(1200):
                line = flood.enter_context(socket.create_connection(("127.0.0.1", port), 120))
                line.sendall(HALF)
                if number % 200 == 199:
                    assert ann.get("/api/v1/symbols").status_code == 200
            # Somebody who comes only now is served too, on a connection of their own.
            for path, status in (("/api/v1/symbols", 200), ("/healthz", 200)):
                answer = httpx2.get(url + path, headers=token, timeout=120)
                assert answer.status_code == status
            assert httpx2.get(f"{url}/sign-in", timeout=120).status_code == 200
    finally:
        running.process.terminate()
        running.process.wait(120)
