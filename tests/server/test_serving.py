"""`chartpact serve` from start to end: what it refuses, how it stops, what it has kept."""

import io
import json
import logging
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from tests.postgres import KIND
from tests.server.conftest import (
    SCRIPT,
    SLOW,
    Running,
    serving,
    start,
    wait_until_all_calls_are_under_way,
)

from chartpact.__main__ import main
from chartpact.server import logs

CHART = {"symbol": "sample:es-5m", "bars": 60}
USERS = ("ann", "bob")
KILLS = int(os.environ.get("CHARTPACT_SOAK_KILLS", "1"))


def refused(*arguments: str, **env: str) -> tuple[int, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "chartpact", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, **env},
    )
    return ended.returncode, ended.stderr


def serve_nobody(*_: object) -> None:
    raise AssertionError("it was served")


@pytest.mark.parametrize(
    ("arguments", "env", "sentence"),
    [
        (["--no-auth", "--host", "0.0.0.0"], {}, "--no-auth lets everybody in"),
        (["--host", "0.0.0.0"], {}, "CHARTPACT_PUBLIC_URL=https://charts.example"),
        ([], {"CHARTPACT_PUBLIC_URL": "http://charts.example"}, "tokens need https"),
        ([], {"CHARTPACT_PUBLIC_URL": "charts.example/x"}, "is not like https://charts.example"),
        ([], {"CHARTPACT_SIGN_UP": "maybe"}, "CHARTPACT_SIGN_UP: 'maybe' is neither on nor off"),
        ([], {"CHARTPACT_OIDC_ISSUER": "https://x.y"}, "also needs CHARTPACT_OIDC_AUDIENCE"),
        ([], {"CHARTPACT_SCRIPTS": "all,ann"}, "write all, or none, or names of users"),
        (["--no-auth", "--db", "nonsense"], {}, "cannot be opened"),
        (["--no-auth", "--db", "sqlite:////proc/none/x.db"], {}, "cannot be opened"),
        (["--no-auth", "--db", "mysql://x/y"], {}, "mysql is not for this: name a sqlite"),
        (["--no-auth", "--port", "99999"], {}, "99999 is not a number from 0 to 65535"),
        ([], {"CHARTPACT_TOKENS": "ann=0123456789abcdef"}, "chartpact user token NAME"),
        ([], {"CHARTPACT_IDENTITY": "no.such:thing"}, "IDENTITY: 'no.such:thing': No module named"),
        ([], {"CHARTPACT_IDENTITY": "os:nothing"}, "CHARTPACT_IDENTITY: 'os:nothing': module 'os'"),
        ([], {"CHARTPACT_IDENTITY": "os:sep"}, "CHARTPACT_IDENTITY: 'os:sep' is no function"),
        (["--no-auth"], {"CHARTPACT_WARM": "maybe"}, "CHARTPACT_WARM: 'maybe' is neither on nor"),
        (["--no-auth"], {"CHARTPACT_LIMITS": "calls=1"}, "CHARTPACT_LIMITS: 'calls=1' is not"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence_with_exit_code_2(
    tmp_path, monkeypatch, capsys, arguments, env, sentence
):
    monkeypatch.setattr("uvicorn.Server.run", serve_nobody)
    for name, value in {"CHARTPACT_DB": f"sqlite:///{tmp_path}/x.db", **env}.items():
        monkeypatch.setenv(name, value)
    assert main(["serve", "--port", "0", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_sqlite_file_that_several_hosts_could_share_is_refused(tmp_path, monkeypatch, capsys):
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    kinds = {line.split(" ")[2] for line in mounts}
    monkeypatch.setattr("chartpact.library.database.NETWORK_DISKS", kinds)  # as if all were
    monkeypatch.setattr("uvicorn.Server.run", serve_nobody)
    file = tmp_path / "x.db"
    for workers in ("1", "2"):
        arguments = ["--no-auth", "--port", "0", "--workers", workers, "--db", f"sqlite:///{file}"]
        assert main(["serve", *arguments]) == 2
        told = capsys.readouterr().err
        assert "a SQLite file on a network disk" in told
        assert "postgresql+psycopg://" in told
        assert not file.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "form", "plain"),
    [
        (Terminal, None, True),
        (io.StringIO, None, False),
        (Terminal, "json", False),
        (io.StringIO, "plain", True),
    ],
)
def test_logs_are_plain_lines_on_a_terminal_and_json_elsewhere_unless_asked_for(
    monkeypatch, stream, form, plain
):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    logs.to_stderr(logging.INFO, form)
    logs.announced.info("here it is")
    logging.getLogger("chartpact.server.front").info("a request")
    logging.getLogger("chartpact.server.front").error("a fault")
    lines = screen.getvalue().splitlines()
    if plain:
        assert lines == ["here it is", "error: a fault"]
    else:
        assert [json.loads(line)["message"] for line in lines] == [
            "here it is", "a request", "a fault"
        ]  # fmt: skip


@pytest.mark.slow
def test_a_port_in_use_is_said_to_be_so(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, told = refused(
            "serve", "--no-auth", "--port", port, CHARTPACT_DB=f"sqlite:///{tmp_path}/x.db"
        )
    assert (code, "Traceback" in told) == (2, False)
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in told


@pytest.mark.slow
def test_the_first_start_needs_nothing_and_shows_a_page_with_its_own_address(tmp_path):
    first = serving(tmp_path, "--no-auth", "--log", "plain", forked=False)
    with first as running, running.client() as anybody:
        assert "<title>chartpact" in anybody.get("/").text
        page = anybody.get("/connect")
        assert f"{running.url}/mcp" in page.text
        assert re.search(r"<script(?![^>]* src=)", page.text) is None  # none inline
        assert anybody.get("/sample.svg").text.startswith("<svg")
        drawn = anybody.post("/api/v1/charts/image", json=CHART)
        assert drawn.content.startswith(b"\x89PNG")
    told = running.log.read_text()
    assert told == f"chartpact serves on {running.url}/ (Ctrl-C ends it)\n"


@pytest.mark.parametrize(("number", "warm"), [(signal.SIGINT, "off"), (signal.SIGTERM, "on")])
@pytest.mark.slow
def test_a_server_on_standard_input_ends_when_it_is_told_to(tmp_path, monkeypatch, number, warm):
    monkeypatch.setenv("CHARTPACT_WARM", warm)
    command = [sys.executable, "-m", "chartpact", "mcp", "--db", f"sqlite:///{tmp_path}/x.db"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        asked = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        assert b'"id":1' in process.stdout.readline().replace(b" ", b"")
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_what_makes_no_sense_on_standard_input_is_answered_and_the_next_call_is_served(tmp_path):
    def call(source: str) -> bytes:
        tool = {"name": "register_indicator", "arguments": {"name": "x", "source": source}}
        asked = {"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": tool}
        return json.dumps(asked).encode()

    command = [sys.executable, "-m", "chartpact", "mcp", "--db", f"sqlite:///{tmp_path}/x.db"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        for line, code, to in (
            (b"hello", -32700, None),
            (b"\xff\xfe", -32700, None),
            (b"[" * 100_000, -32700, None),
            (call("\ud800"), -32700, "mine"),
            (b"\n \n" + call("x")[:-1], -32700, None),
            (b"[" + call("x") + b"]", -32600, None),
            (b"7", -32600, None),
            (b'{"jsonrpc": "2.0", "id": 3}', -32600, None),
        ):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert (answer["error"]["code"], answer["id"]) == (code, to), line[:50]
            assert answer["error"]["message"]
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.stdin.close()
        assert process.wait(20) == 0
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_server_told_to_end_finishes_the_charts_it_is_drawing(tmp_path):
    running = start(tmp_path, forked=True, CHARTPACT_LIMITS="calls_at_once=2")
    answers = []

    def draw(client: httpx2.Client) -> None:
        asked = {**CHART, "indicators": ["slow"] * 4}
        while (drawn := client.post("/api/v1/charts", json=asked)).status_code == 429:
            pass  # the test itself was in the way
        answers.append(drawn.status_code)

    for user in USERS:
        with running.client(user) as client:
            client.put("/api/v1/my/indicators/slow", json={"source": SLOW}).raise_for_status()
    clients = [running.client(user) for user in USERS for _ in range(2)]
    drawing = [threading.Thread(target=draw, args=(client,)) for client in clients]
    for each in drawing:
        each.start()
    for user in USERS:
        wait_until_all_calls_are_under_way(running, user)
    done = len(answers)
    running.process.terminate()
    assert running.process.wait(60) == 0, running.log.read_text()
    for each in drawing:
        each.join()
    for client in clients:
        client.close()
    assert done < 4, "they were all drawn before the server was told to end"
    assert answers == [200] * 4


class Writer(threading.Thread):
    """A user's writes to names of its own, and what must be there when the server is gone."""

    def __init__(self, running: Running, user: str, number: int, chance: random.Random) -> None:
        super().__init__(daemon=True)  # a test that fails leaves it behind
        self._running, self._user, self._number, self._chance = running, user, number, chance
        self.acknowledged: dict[str, bytes] = {}  # by path; what was deleted is not there
        self.in_flight: tuple[str, bytes | None] | None = None
        self.writes = 0

    def run(self) -> None:
        with self._running.client(self._user) as client:
            while True:
                place = f"{self._number}_{self._chance.randrange(3)}"
                path = f"/api/v1/my/{self._chance.choice(('indicators', 'bars'))}/s{place}"
                content = self._content(path)
                self.in_flight = (path, content)
                try:
                    written = self._write(client, path, content)
                except httpx2.TransportError:
                    return  # the server is gone: so are we
                self.in_flight = None
                if not written:
                    continue
                self.acknowledged.pop(path, None)
                if content is not None:
                    self.acknowledged[path] = content
                self.writes += 1

    def _content(self, path: str) -> bytes | None:
        if path in self.acknowledged and self._chance.random() < 0.3:
            return None
        mark = f"{self._user} {self._number} {self.writes}"
        if "bars" in path:
            columns = "time,open,high,low,close,note"
            return f"{columns}\n{1_700_000_000 + self.writes},1,1,1,1,{mark}\n".encode()
        return SCRIPT.replace("Average", mark).encode()

    def _write(self, client: httpx2.Client, path: str, content: bytes | None) -> bool:
        """Whether it was: a host that is busy may refuse to try a script."""
        if content is None:
            answer = client.delete(path)
        elif "bars" in path:
            answer = client.put(path, content=content, params={"timeframe": "1m"})
        else:
            change = client.patch if path in self.acknowledged else client.put
            answer = change(path, json={"source": content.decode()})
        told = answer.json()
        if answer.status_code == 503 and told["message"] == "the workers are busy":
            return False  # it waited for its turn too long, and nothing was changed
        assert answer.status_code == 200, answer.text
        if not told.get("ok", True):
            assert [each["kind"] for each in told["errors"]] == ["busy"], told
            return False
        return True

    def check(self, client: httpx2.Client) -> None:
        """What is there is what was acknowledged, or what was being written when the end came."""
        for kind in ("indicators", "bars"):
            for place in range(3):
                path = f"/api/v1/my/{kind}/s{self._number}_{place}"
                found = _found(client, path)
                allowed = [self.acknowledged.get(path)]
                if self.in_flight is not None and self.in_flight[0] == path:
                    allowed.append(self.in_flight[1])
                assert found in allowed, (path, found, allowed)
                self.acknowledged.pop(path, None)
                if found is not None:
                    self.acknowledged[path] = found


def _found(client: httpx2.Client, path: str) -> bytes | None:
    answer = client.get(path)
    if answer.status_code == 404:
        return None
    if "bars" in path:
        return answer.content
    source = answer.json()["source"]
    assert client.get(f"{path}/versions").json()["versions"][0]["source"] == source
    return source.encode()


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_a_kill_in_a_storm_of_writes(tmp_path):
    limits = "script_seconds_per_minute=100000,calls_per_minute=100000"
    chance = random.Random(20261115)
    running = start(tmp_path, forked=True, CHARTPACT_LIMITS=limits)
    before: dict[tuple[str, int], dict[str, bytes]] = {}
    for _ in range(KILLS):
        writers = {
            (user, number): Writer(running, user, number, chance)
            for user in USERS
            for number in range(3)
        }
        for who, writer in writers.items():
            writer.acknowledged = before.get(who, {})
            writer.start()
        while min(writer.writes for writer in writers.values()) < 3:
            assert all(writer.is_alive() for writer in writers.values())
            time.sleep(0.01)
        time.sleep(chance.random() / 2)
        running.process.kill()
        running.process.wait()
        running = start(tmp_path, forked=True, CHARTPACT_LIMITS=limits)
        for (user, _), writer in writers.items():
            writer.join()
            with running.client(user) as client:
                writer.check(client)
        before = {who: writer.acknowledged for who, writer in writers.items()}
    running.process.terminate()
    assert running.process.wait(60) == 0
    if KIND == "sqlite":
        with closing(sqlite3.connect(tmp_path / "library.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
