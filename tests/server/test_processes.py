"""A server of several processes, on both databases: what they share, what survives a crash."""

import os
import random
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa
from tests.postgres import Postgres, find_programs, start_or_skip
from tests.sandbox.processes import children
from tests.server.auth.conftest import HASH, Browser, Program, tool_call
from tests.server.conftest import SCRIPT, TOKENS, Running, start, wait_until
from tests.server.test_serving import Writer
from tests.service import PLAIN

from chartpact.library.database import find_network_disk, open_database
from chartpact.library.schema import user_bars, user_indicators
from chartpact.library.uploads import Uploads
from chartpact.server.auth.accounts import Accounts
from chartpact.server.auth.tokens import Lookup
from chartpact.server.refusals import NO_DATABASE

PLENTY = "script_seconds_per_minute=100000,calls_per_minute=100000"
CHART = {"symbol": "sample:es-5m", "bars": 60, "indicators": ["mine"], "format": "summary"}
ANEW = r"(worker \d of 2) ended \(process {}, -9\).*\1 serves"
MOST_FILES = 50  # of bars that one user may keep

pytestmark = pytest.mark.slow


def workers_of(running: Running) -> list[int]:
    """The processes that serve, oldest first."""
    return sorted(
        pid
        for pid in children(running.process.pid)
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )


@contextmanager
def two_workers(folder: Path, url: str, forked: bool) -> Iterator[Running]:
    """A server of two processes, both of which answer."""
    running = start(folder, "--workers", "2", url=url, forked=forked, CHARTPACT_LIMITS=PLENTY)
    try:
        yield running
    finally:
        running.process.terminate()
        assert running.process.wait(60) == 0, running.log.read_text()


@contextmanager
def only(running: Running, awake: int) -> Iterator[None]:
    """Stops every process that serves but one, which so has to answer."""
    others = [pid for pid in workers_of(running) if pid != awake]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)


class Alternating(httpx2.HTTPTransport):
    """Sends each request on a connection of its own, to the two processes by turns."""

    def __init__(self, running: Running) -> None:
        super().__init__(verify=PLAIN, limits=httpx2.Limits(max_keepalive_connections=0))
        self._running, self.asked = running, 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        with only(self._running, workers_of(self._running)[self.asked % 2]):
            answer = super().handle_request(request)
            answer.read()
        return answer


@pytest.fixture(scope="module")
def crashing() -> Iterator[Postgres]:
    """A PostgreSQL server of this module's own, which waits for the disk as in earnest."""
    server = start_or_skip({})
    yield server
    server.close()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def running(request, tmp_path_factory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("processes")
    sqlite = request.param == "sqlite"
    url = f"sqlite:///{folder}/it.db" if sqlite else request.getfixturevalue("crashing").create()
    with two_workers(folder, url, forked=not sqlite) as server:  # one of them is the real command
        database = open_database(server.database)
        Accounts(database).add("gil", HASH)
        database.close()
        yield server


class AlternatingSite:
    """What `Program` asks of a site."""

    def __init__(self, running: Running, http: httpx2.Client) -> None:
        self.url, self.http = running.url, http


def test_every_step_from_registration_to_deletion_may_be_taken_by_another_process(running):
    transport = Alternating(running)
    options = {"base_url": running.url, "transport": transport, "timeout": 600}
    with httpx2.Client(**options) as http, Browser(running.url) as browser:
        browser._transport = transport
        assert browser.sign_in("gil").status_code == 303
        program = Program(AlternatingSite(running, http))
        tokens = program.tokens(browser)
        fresh = program.refresh(tokens["refresh_token"]).json()
        http.headers["Authorization"] = f"Bearer {fresh['access_token']}"
        assert http.put("/api/v1/my/indicators/mine", json={"source": SCRIPT}).json()["ok"]
        drawn = http.post("/api/v1/charts", json=CHART).json()
        assert [each.get("error") for each in drawn["indicators"]] == [None], drawn
        assert http.get("/api/v1/my/indicators/mine").json()["source"] == SCRIPT
        # Neither process answers from the memory of the one that drew the chart.
        last = [http.post("/mcp", **tool_call("data_get_pine_labels")).text for _ in range(2)]
        assert all("study_count" in text for text in last), last
        assert http.get("/api/v1/my/indicators/mine%00").status_code == 404
        assert http.delete("/api/v1/my/indicators/mine").status_code == 200
        assert http.get("/api/v1/my/indicators/mine").status_code == 404
        revoked = {"token": fresh["refresh_token"], "client_id": program.client_id}
        assert http.post("/revoke", data=revoked).status_code == 200
        assert http.get("/api/v1/symbols").status_code == 401
        # Reuse of the first refresh token is noticed by whichever process it comes to.
        assert program.refresh(tokens["refresh_token"]).status_code == 400
    assert transport.asked > 14


def test_any_process_tells_the_sums_of_all(running):
    asked = 'chartpact_requests_total{door="rest",status="4xx"}'
    before = running.metric(asked)
    for awake in workers_of(running):
        with only(running, awake):
            assert running.ask("/api/v1/symbols").status_code == 401
    told = []
    for awake in workers_of(running):
        with only(running, awake):
            told.append(running.metric(asked))
    assert told == [before + 2] * 2


def test_a_nul_in_a_name_or_a_text_is_a_clear_refusal(running):
    with running.client("ann") as ann:
        answers = [
            ann.put("/api/v1/my/indicators/a%00b", json={"source": SCRIPT}),
            ann.put("/api/v1/my/indicators/ab", json={"source": f"{SCRIPT}# \0"}),
            ann.put("/api/v1/my/bars/a%00b", content=b"time,open,high,low,close\n1,1,1,1,1\n"),
            ann.get("/api/v1/my/bars/a%00b"),
            ann.delete("/api/v1/my/indicators/a%00b"),
            ann.post("/api/v1/charts", json={"symbol": "a\0b", "bars": 60}),
            ann.post("/api/v1/charts", json={**CHART, "indicators": ["a\0b"]}),
        ]
    for number, answer in enumerate(answers):
        said = answer.json()
        refused = 400 <= answer.status_code < 500 or said.get("ok") is False
        told = str(said.get("errors") or said.get("indicators") or said.get("message"))
        assert refused or "no indicator" in told, (number, answer.status_code, answer.text[:300])
        assert len(told) > 10, (number, answer.text)
    assert running.metric("chartpact_database_failures_total") == 0


def test_a_backup_of_a_running_server_holds_every_write_that_was_acknowledged(running, tmp_path):
    def put(client: httpx2.Client, number: int) -> None:
        source = SCRIPT.replace("Average", f"Average {number}")
        answer = client.put(f"/api/v1/my/indicators/b{number}", json={"source": source})
        assert answer.json().get("ok"), answer.text

    def go_on() -> None:
        with running.client("eve") as eve:
            for number in range(3, 6):
                put(eve, number)

    with running.client("eve") as eve:
        for number in range(3):
            put(eve, number)
    more = threading.Thread(target=go_on)
    more.start()
    restored = back_up(running.database, tmp_path)
    more.join()
    copy = open_database(restored)
    with copy.read() as connection:
        query = sa.select(user_indicators.c.name).where(user_indicators.c.user_id == "eve")
        names = set(connection.execute(query).scalars())
    tokens = Lookup(copy)
    assert tokens.bearer(TOKENS["eve"]).user == "eve"  # who need not sign in again
    tokens.close()
    copy.close()
    assert {"b0", "b1", "b2"} <= names


def back_up(url: str, folder: Path) -> str:
    """What docs/operating.md tells operators to do, for each database."""
    if url.startswith("sqlite"):
        engine = sa.create_engine(url)
        with engine.connect() as connection:
            connection.exec_driver_sql(f"VACUUM INTO '{folder}/copy.db'")
        engine.dispose()
        return f"sqlite:///{folder}/copy.db"
    address = sa.make_url(url)
    at = ["-h", address.query["host"], "-p", address.query["port"], "-U", address.username]
    dump, restore = (str(find_programs() / name) for name in ("pg_dump", "pg_restore"))
    file = f"{folder}/backup.dump"
    subprocess.run([dump, *at, "-Fc", "-f", file, address.database], check=True)
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE restored_{address.database}")
    engine.dispose()
    subprocess.run([restore, *at, "-d", f"restored_{address.database}", file], check=True)
    return address.set(database=f"restored_{address.database}").render_as_string()


def test_a_table_that_is_locked_holds_up_who_needs_it_and_nobody_else(running):
    if running.database.startswith("sqlite"):
        return  # whose readers wait for nobody
    engine = sa.create_engine(running.database)
    answered = []

    def list_scripts() -> None:
        with running.client("cleo") as cleo:
            answered.append(cleo.get("/api/v1/my/indicators").status_code)

    with engine.connect() as elsewhere:
        elsewhere.exec_driver_sql("LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE")
        asking = threading.Thread(target=list_scripts)
        asking.start()
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        wait_until(lambda: elsewhere.exec_driver_sql(waiting).scalar() > 0)
        for awake in workers_of(running):
            with only(running, awake):
                assert running.ask("/healthz").status_code == 200
        assert answered == []
        elsewhere.rollback()
        asking.join()
    engine.dispose()
    assert answered == [200]


# ---------------------------------------------------------------------------------------- crashes


class PatientWriter(Writer):
    """Goes on when a process or the database is gone.

    A write that was not answered may be there or not, until the next one to that place is.
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.ended = threading.Event()
        self.unanswered: dict[str, list[bytes | None]] = {}

    def run(self) -> None:
        with self._running.client(self._user) as client:
            while not self.ended.is_set():
                path = f"/api/v1/my/bars/s{self._number}_{self._chance.randrange(3)}"
                content = self._content(path)
                try:
                    if not self._write(client, path, content):
                        continue
                except (httpx2.TransportError, AssertionError):
                    self.unanswered.setdefault(path, []).append(content)
                    time.sleep(0.05)
                    continue
                self.unanswered.pop(path, None)
                self.acknowledged.pop(path, None)
                if content is not None:
                    self.acknowledged[path] = content
                self.writes += 1

    def check(self, client: httpx2.Client) -> None:
        for place in range(3):
            path = f"/api/v1/my/bars/s{self._number}_{place}"
            answer = client.get(path)
            assert answer.status_code in (200, 404), answer.text
            found = answer.content if answer.status_code == 200 else None
            allowed = [self.acknowledged.get(path), *self.unanswered.get(path, [])]
            assert found in allowed, (path, found, allowed)


class Hoarder(threading.Thread):
    """Puts ever more files of one user, most of which are beyond the quota."""

    def __init__(self, running: Running, user: str, number: int) -> None:
        super().__init__(daemon=True)  # a test that fails leaves it behind
        self._running, self._user, self._number = running, user, number
        self.ended = threading.Event()

    def run(self) -> None:
        content = b"time,open,high,low,close\n1700000000,1,1,1,1\n"
        with self._running.client(self._user) as client:
            for place in count():
                if self.ended.is_set():
                    return
                path = f"/api/v1/my/bars/h{self._number}_{place}"
                with suppress(httpx2.TransportError):
                    client.put(path, content=content, params={"timeframe": "1m"})


def fill_quota(url: str, user: str, room: int) -> None:
    """Leaves room for so many files."""
    database = open_database(url)
    uploads = Uploads(database, lambda _: {}, 10**6, MOST_FILES)
    for number in range(MOST_FILES - room):
        uploads.put(user, f"full{number}", b"x")
    database.close()


def count_files(url: str, user: str) -> int:
    database = open_database(url)
    with database.read() as connection:
        query = sa.select(sa.func.count()).where(user_bars.c.user_id == user)
        found = connection.execute(query).scalar_one()
    database.close()
    return found


def test_what_was_acknowledged_is_there_after_a_kill_of_a_process_and_of_the_database(
    running, crashing
):
    fill_quota(running.database, "cleo", room=3)
    hoarders = [Hoarder(running, "cleo", number) for number in range(2)]
    chance = random.Random(20261116)
    writers = {
        (user, number): PatientWriter(running, user, number, chance)
        for user in ("dan", "fay")
        for number in range(2)
    }

    def wait_for_writes(times: int) -> None:
        goals = [(writer, writer.writes + times) for writer in writers.values()]
        wait_until(lambda: all(writer.writes >= goal for writer, goal in goals))

    for writer in [*writers.values(), *hoarders]:
        writer.start()
    wait_for_writes(2)
    first, second = workers_of(running)
    os.kill(first, signal.SIGKILL)
    wait_for_writes(1)
    if not running.database.startswith("sqlite"):
        crashing.kill()
        assert running.ask("/healthz").status_code == 200
        wait_until(lambda: running.ask("/readyz").status_code == 503)
        crashing.start()
        wait_for_writes(1)
    for writer in [*writers.values(), *hoarders]:
        writer.ended.set()
    for hoarder in hoarders:
        hoarder.join()
    assert count_files(running.database, "cleo") == MOST_FILES
    for (user, _), writer in writers.items():
        writer.join()
        with running.client(user) as client:
            writer.check(client)
    wait_until(lambda: len(workers_of(running)) == 2)
    assert second in workers_of(running)
    wait_until(lambda: re.search(ANEW.format(first), running.log.read_text(), re.DOTALL))
    if not running.database.startswith("sqlite"):
        wait_until(lambda: running.log.read_text().count("of 2 serves") >= 3)
        crashing.restart()  # in order this time, and every connection is lost again
        for awake in workers_of(running):
            with only(running, awake):
                check_that_no_call_fails(running)


def check_that_no_call_fails(running: Running) -> None:
    """Reads, writes, MCP and identity, each of which has connections of its own."""
    content = b"time,open,high,low,close\n1700000000,1,1,1,1\n"
    client = {"redirect_uris": ["http://127.0.0.1:4567/callback"], "client_name": "after"}
    with running.client("ann") as ann:
        answers = [
            ann.get("/api/v1/my/indicators"),
            ann.put("/api/v1/my/bars/after", content=content, params={"timeframe": "1m"}),
            ann.delete("/api/v1/my/bars/after"),
            ann.post("/mcp", **tool_call("list_my_indicators")),
            ann.post("/register", json=client),
            *(ann.get("/api/v1/my/bars") for _ in range(8)),
        ]
    assert {answer.status_code for answer in answers} <= {200, 201}, [a.text for a in answers]
    assert NO_DATABASE not in answers[3].text


# -------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("/dev/vda1 / ext4 rw 0 0", None),
        ("/dev/vda1 / ext4 rw 0 0\nnas:/x /srv/data nfs4 rw 0 0", "nfs4"),
        ("nas:/x / nfs rw 0 0\n/dev/vda1 /srv ext4 rw 0 0", None),
        ("//nas/x /srv\\040data cifs rw 0 0", None),
    ],
)
def test_a_sqlite_file_on_a_network_disk_is_known(mounts, kind):
    assert find_network_disk("sqlite:////srv/data/library.db", mounts) == kind
    assert find_network_disk("postgresql+psycopg://db/x", mounts) is None
