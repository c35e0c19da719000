"""A real server in a process of its own, with its users; and one in this process, to be broken."""

import asyncio
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa
import uvicorn
from tests.postgres import BOTH, CHOSEN, KIND, url_for
from tests.server.nursery import Fork, fork_server, fork_worker
from tests.service import PLAIN

from chartpact.library.database import open_database
from chartpact.library.schema import tokens
from chartpact.server import app
from chartpact.server.auth.accounts import Accounts
from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.secret import digest
from chartpact.server.settings import Settings, UserLimits
from chartpact.server.uvicorn_server import BoundedHttp
from chartpact.work import worker

USERS = ("ann", "bob", "cleo", "dan", "eve", "fay")
TOKENS = {user: f"token-of-{user}-0123456789" for user in USERS}

SCRIPT = """
PARAMS = [{"name": "n", "type": "int", "default": 3, "min": 1, "desc": "Bars"}]
META = {"title": "Average", "category": "overlay", "overlay": True}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA", color="orange")
"""

# Uses up its budget with what takes longest; a chart with many of them takes about a second.
SLOW = """
PARAMS = []
META = {"title": "Slow"}

def compute(ohlcv, params, chart):
    if len(ohlcv) > 200:
        for _ in range(200):
            ta.percentile_nearest_rank(ohlcv.close, 500, 50)
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs what a module marked `both_databases` asks of a server on each database."""
    marked = metafunc.definition.get_closest_marker("both_databases") is not None
    if marked and CHOSEN is None and "storage" in metafunc.fixturenames:
        metafunc.parametrize("storage", BOTH, scope="session")


@pytest.fixture(scope="module", autouse=True)
def forked_workers() -> Iterator[None]:
    """Servers in this process fork their workers from its nursery."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "start_process", fork_worker)
        yield


@pytest.fixture(scope="session")
def storage() -> str:
    """Which database the servers of a test have."""
    return KIND


@dataclass(frozen=True)
class Running:
    """A server's address, its database, and how to call it as somebody."""

    url: str
    process: subprocess.Popen[bytes] | Fork | None
    log: Path
    database: str  # its URL

    def client(self, user: str | None = None) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {TOKENS[user]}"} if user else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=600, verify=PLAIN)

    def ask(self, path: str, **options: object) -> httpx2.Response:
        """The answer to nobody in particular."""
        return httpx2.get(f"{self.url}{path}", timeout=600, verify=PLAIN, **options)

    def metric(self, series: str) -> float:
        lines = [line.rpartition(" ") for line in self.ask("/metrics").text.splitlines()]
        [value] = [value for name, _, value in lines if name == series]
        return float(value)


def add_users(database: str) -> None:
    """Puts the users of the tests, each with a personal token, into a database without users."""
    opened = open_database(database)
    if Accounts(opened).list():
        opened.close()
        return
    far = int(time.time() * 1000) + 10**10
    with opened.write(None) as connection:
        for user, token in TOKENS.items():
            row = {
                "token_hash": digest(token),
                "token_id": user,
                "kind": "personal",
                "user_id": user,
                "client_id": "personal",
                "name": "of the tests",
                "scope": "read write",
                "created_at": 0,
                "expires_at": far,
            }
            connection.execute(sa.insert(tokens).values(row))
    for user in TOKENS:
        Accounts(opened).add(user, None)
    opened.close()


def start(
    folder: Path,
    *arguments: str,
    cwd: Path | None = None,
    prefix: tuple[str, ...] = (),
    url: str | None = None,
    forked: bool = False,
    **env: str,
) -> Running:
    """A server that is ready, on a port of the system's choice. Charts start its workers."""
    log, database = folder / "server.log", url or url_for(folder)
    add_users(database)
    arguments = ("--port", "0", "--db", database, *arguments)
    environment = {**os.environ, **env}
    process: subprocess.Popen[bytes] | Fork
    if forked:
        process = fork_server(arguments, environment, cwd, log)
    else:
        command = [*prefix, sys.executable, "-m", "chartpact", "serve", *arguments]
        with log.open("wb") as stream:
            process = subprocess.Popen(command, env=environment, stderr=stream, cwd=cwd)
    ends = time.monotonic() + 300
    while time.monotonic() < ends:
        assert process.poll() is None, log.read_text()
        if serves := re.search(r"serves on (http://[^/\s]+)/", log.read_text()):
            with suppress(httpx2.TransportError):
                if httpx2.get(f"{serves[1]}/readyz", verify=PLAIN).status_code == 200:
                    return Running(serves[1], process, log, database)
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    cwd: Path | None = None,
    url: str | None = None,
    forked: bool = True,
    **env: str,
) -> Iterator[Running]:
    """A server for as long as it is needed, which must end in order."""
    running = start(folder, *arguments, cwd=cwd, url=url, forked=forked, **env)
    try:
        yield running
    finally:
        running.process.terminate()
        assert running.process.wait(60) == 0, running.log.read_text()


def wait_until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)


def wait_until_all_calls_are_under_way(running: Running, user: str) -> None:
    """Until the user has as many calls under way as they may have, so that one more is refused."""
    ends = time.monotonic() + 60
    with running.client(user) as client:
        while client.get("/api/v1/reference").status_code != 429:
            assert time.monotonic() < ends
            time.sleep(0.05)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Running]]:
    """The server on each database, which many modules share: the first that asks starts it."""
    with ExitStack() as running:

        @cache
        def find(storage: str) -> Running:
            folder = tmp_path_factory.mktemp("server")
            return running.enter_context(serving(folder, url=url_for(folder, kind=storage)))

        yield find


# Not of the session: pytest would hand one on to tests that ask for the other database.
@pytest.fixture(scope="module")
def server(servers: Callable[[str], Running], storage: str) -> Running:
    return servers(storage)


@pytest.fixture
def ann(server: Running) -> Iterator[httpx2.Client]:
    with server.client("ann") as client:
        yield client


@pytest.fixture
def bob(server: Running) -> Iterator[httpx2.Client]:
    with server.client("bob") as client:
        yield client


@pytest.fixture
def eve(server: Running) -> Iterator[httpx2.Client]:
    with server.client("eve") as client:
        yield client


@pytest.fixture(scope="module")
def here(storage: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server in this process, so that a test can plant something in it."""
    database = url_for(tmp_path_factory.mktemp("here"), kind=storage)
    plenty = UserLimits(calls_per_minute=10**6, script_seconds_per_minute=10**6)
    add_users(database)
    settings = Settings(database=database, limits=plenty, warm=False)
    served = app.create(settings, identify=AuthSettings())
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(served.app, http=BoundedHttp, log_config=None))
    serves = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    serves.start()
    port = listener.getsockname()[1]
    while not server.started:
        time.sleep(0.01)
    yield Running(f"http://127.0.0.1:{port}", None, Path(), database)
    server.should_exit = True
    serves.join()
    served.close()
