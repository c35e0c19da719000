"""`/readyz`: a full disk, a write that fails, a database that does not answer."""

import asyncio
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, make_url
from tests.postgres import url_for

from chartpact.library.database import Database, open_database
from chartpact.server import readiness
from chartpact.server.readiness import Readiness

READY, STARTING = SimpleNamespace(ready=True), SimpleNamespace(ready=False)


@pytest.fixture
def database(storage, tmp_path):
    opened = open_database(url_for(tmp_path, kind=storage))
    yield opened
    opened.close()


@pytest.mark.both_databases
def test_a_database_that_does_not_answer_is_told_until_it_does(database, monkeypatch):
    monkeypatch.setattr(readiness, "ANSWER_S", 0.2)
    monkeypatch.setattr(readiness, "REMEMBERED_S", 0.0)

    async def ask() -> None:
        ready = Readiness(database, READY)
        with database.write("the schema"):  # which every question waits for
            for _ in range(2):
                obstacles = await ready.find_obstacles()
                assert obstacles == {"database": "it does not answer within 0.2 s"}
        monkeypatch.setattr(readiness, "ANSWER_S", 60.0)
        assert await ready.find_obstacles() == {}

    asyncio.run(ask())


def test_what_an_old_question_found_is_not_told_as_the_answer_to_a_new_one(database, monkeypatch):
    monkeypatch.setattr(readiness, "ANSWER_S", 0.2)
    monkeypatch.setattr(readiness, "REMEMBERED_S", 0.0)
    answered, fails = threading.Event(), ["it gave up"]

    def find_failure(_: Readiness) -> str:
        answered.wait()
        return fails.pop() if fails else ""

    monkeypatch.setattr(Readiness, "_find_failure", find_failure)

    async def ask() -> None:
        ready = Readiness(database, READY)
        assert "within 0.2 s" in (await ready.find_obstacles())["database"]
        answered.set()
        while not ready._probe.done():
            await asyncio.sleep(0.01)
        monkeypatch.setattr(readiness, "ANSWER_S", 60.0)
        assert await ready.find_obstacles() == {}

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("default_transaction_read_only = on", "read-only transaction"),
        ("temp_file_limit = 512", "temporary file size exceeds"),  # kB, as if the disk ended there
    ],
)
def test_a_database_that_can_only_be_read_or_has_no_room_is_told(postgres, setting, reason):
    url = postgres.create()
    open_database(url).close()
    postgres.execute(f"ALTER DATABASE {make_url(url).database} SET {setting}")
    database = Database(create_engine(url))
    obstacles = asyncio.run(Readiness(database, READY).find_obstacles())
    database.close()
    assert reason in obstacles["database"]


def test_a_disk_with_too_little_room_is_told_before_a_write_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(readiness, "LEAST_FREE_BYTES", 2**62)  # more than any disk has
    database = open_database(url_for(tmp_path, kind="sqlite"))
    obstacles = asyncio.run(Readiness(database, READY).find_obstacles())
    database.close()
    assert obstacles["database"].startswith("its disk is full: ")


# The limit is on a process, so another one meets it.
FULL = """
import asyncio, resource, sys
from types import SimpleNamespace
from chartpact.library.database import open_database
from chartpact.server.readiness import Readiness
database = open_database(sys.argv[1])
workers = SimpleNamespace(ready=True)
assert asyncio.run(Readiness(database, workers).find_obstacles()) == {}
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
print(asyncio.run(Readiness(database, workers).find_obstacles()))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
assert asyncio.run(Readiness(database, workers).find_obstacles()) == {}
"""


def test_a_write_that_the_disk_refuses_is_told_and_the_next_one_may_succeed(tmp_path):
    command = [sys.executable, "-c", FULL, f"sqlite:///{tmp_path}/it.db"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{'database': 'disk I/O error'}\n"


def test_workers_that_start_are_told(tmp_path):
    database = open_database(url_for(tmp_path, kind="sqlite"))
    obstacles = asyncio.run(Readiness(database, STARTING).find_obstacles())
    database.close()
    assert obstacles == {"workers": "starting"}
