"""When a server of several processes goes on, and when it gives up."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest

from chartpact.server import supervisor
from chartpact.server.supervisor import MOST_FAILURES, Supervisor, WorkerSlot, find_pause

SERVES = "sleep 600"
FAILS_TO_START = "false"


@pytest.fixture
def supervise(monkeypatch) -> Iterator[Callable[..., int]]:
    """Runs two workers, each of which is a line of shell, until the supervisor ends."""
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE_S", 0.0)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(lines: list[str], started: Callable[[list[int]], None]) -> int:
        starts: list[int] = []

        def start_process(_: object, slot: WorkerSlot) -> subprocess.Popen[bytes]:
            starts.append(slot.number)
            started(starts)
            return subprocess.Popen(["sh", "-c", f"exec {lines[slot.number]}"])

        monkeypatch.setattr(supervisor, "start_process", start_process)
        with socket.socket() as listener:
            return Supervisor(listener, len(lines), []).run()

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.slow
def test_a_server_of_which_no_worker_starts_gives_up(supervise):
    starts = []
    assert supervise([FAILS_TO_START] * 2, lambda made: starts.append(made[-1])) == 1
    assert len(starts) >= MOST_FAILURES


@pytest.mark.slow
def test_a_worker_that_fails_to_start_is_tried_for_as_long_as_another_serves(supervise):
    tried = threading.Event()

    def count(starts: list[int]) -> None:
        if starts.count(1) == MOST_FAILURES + 2 and not tried.is_set():
            tried.set()
            os.kill(os.getpid(), signal.SIGTERM)

    assert supervise([SERVES, FAILS_TO_START], count) == 0
    assert tried.is_set()


def test_the_pauses_grow_to_a_bound():
    pauses = [find_pause(failures) for failures in (0, 1, 2, 5, 6, 10**6)]
    assert pauses == [0.0, 0.25, 0.5, 4.0, 5.0, 5.0]
