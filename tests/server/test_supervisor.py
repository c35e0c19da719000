"""A server of several processes: what they import, which counters are theirs, how it ends."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox.processes import children
from tests.server.conftest import wait_until

from chartpact.server import metrics, supervisor

LIKE_STANDARD_MODULES = ("types", "signal", "calendar", "numpy", "random", "runpy", "chartpact")


def start(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """The installed command, as a user runs it in a folder, once its workers serve."""
    command = [Path(sys.executable).parent / "chartpact", "serve", "--no-auth", "--workers", "2"]
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [*command, "--port", "0", "--db", f"sqlite:///{log.parent}/x.db"],
            cwd=folder,
            stderr=stream,
        )
    wait_until(lambda: server.poll() is not None or "with 2 workers" in log.read_text())
    return server


@pytest.mark.slow
def test_no_process_of_a_server_imports_from_the_current_folder(tmp_path):
    folder, mark = tmp_path / "mine", tmp_path / "imported"
    folder.mkdir()
    for name in LIKE_STANDARD_MODULES:
        text = f"open({str(mark)!r}, 'w').close()\nraise SystemExit('mine')\n"
        (folder / f"{name}.py").write_text(text)
    server = start(folder, log := tmp_path / "log")
    server.terminate()
    assert server.wait(60) == 0, log.read_text()
    assert not mark.exists()


@pytest.mark.slow
def test_it_says_that_it_serves_when_every_worker_does_and_no_worker_outlives_it(tmp_path):
    server = start(tmp_path, log := tmp_path / "log")
    try:
        lines = re.findall(r"worker \d of 2 serves|with 2 workers", log.read_text())
        assert lines[-1] == "with 2 workers"
        assert sorted(lines[:-1]) == ["worker 1 of 2 serves", "worker 2 of 2 serves"]
        workers = children(server.pid)
    finally:
        server.kill()
        server.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_the_path_of_workers_loses_what_python_m_put_there_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    for first, left in (("", ["/lib"]), (str(tmp_path), ["/lib"]), ("/bin", ["/bin", "/lib"])):
        monkeypatch.setattr(sys, "path", [first, "/lib"])
        supervisor.keep_current_folder_off_path()
        assert sys.path == left
        assert os.environ["PYTHONSAFEPATH"] == "1"


HOLD = """
import sys
from chartpact.server.metrics import Metrics
row = Metrics.share(sys.argv[1])
row.add("chartpact_calls_under_way")
print(flush=True)
sys.stdin.read()
"""
UNDER_WAY = "\nchartpact_calls_under_way "


def test_a_row_of_counters_is_one_processs_until_that_ends(tmp_path):
    file = tmp_path / "counters"
    file.write_bytes(bytes(metrics.SHARED_BYTES))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    holder = subprocess.Popen([sys.executable, "-c", HOLD, file], **pipes)
    with holder:
        assert holder.stdout.readline()
        mine = metrics.Metrics.share(str(file))
        mine.add("chartpact_calls_under_way")
        assert f"{UNDER_WAY}2\n" in mine.text()
        holder.send_signal(signal.SIGKILL)
    with subprocess.Popen([sys.executable, "-c", HOLD, file], **pipes) as heir:
        assert heir.stdout.readline()
        assert f"{UNDER_WAY}2\n" in mine.text()  # the heir's, in place of the one that was killed
        heir.communicate()
