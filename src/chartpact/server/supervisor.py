"""`serve --workers N`: processes that answer on one socket, each started anew when it dies."""

import logging
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from chartpact.server.metrics import ROW_BYTES

log = logging.getLogger(__name__)

SOON_S = 10.0  # a worker that lives for less has failed to start
MOST_FAILURES = 5  # one after another, until a server without a worker gives up
LONGEST_PAUSE_S = 5.0  # between the starts of a worker that keeps failing
STOP_S = 35.0  # for workers to finish what is under way


@dataclass(frozen=True)
class WorkerSlot:
    """A worker's number, and the descriptors it inherits: socket, counters, lifeline."""

    number: int
    count: int
    listener: int
    counters: int
    lifeline: int

    @classmethod
    def parse(cls, text: str) -> "WorkerSlot":
        return cls(*map(int, text.split(",")))

    def __str__(self) -> str:
        fields = (self.number, self.count, self.listener, self.counters, self.lifeline)
        return ",".join(map(str, fields))

    def open_counters(self) -> mmap.mmap:
        return mmap.mmap(self.counters, ROW_BYTES * self.count)

    def end_with_parent(self) -> None:
        """Ends this process in order when its parent is gone, however that ended."""

        def wait() -> None:
            os.read(self.lifeline, 1)  # nothing is ever written
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=wait, daemon=True).start()


def start_process(arguments: Sequence[str], slot: WorkerSlot) -> subprocess.Popen[bytes]:
    """A new interpreter, which serves in the slot."""
    return subprocess.Popen(
        [sys.executable, "-m", "chartpact", "serve", *arguments, "--place", str(slot)],
        stdin=subprocess.DEVNULL,
        pass_fds=(slot.listener, slot.counters, slot.lifeline),
    )


def find_pause(failures: int) -> float:
    """Seconds until the next start, after so many failures one after another."""
    return min(LONGEST_PAUSE_S, 0.25 * 2 ** min(failures - 1, 10)) if failures else 0.0


class Supervisor:
    """Keeps `count` workers running until SIGTERM or SIGINT; then they finish, and so does it."""

    def __init__(self, listener: socket.socket, count: int, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._listener = listener
        self._count = count
        self._counters = os.memfd_create("chartpact-metrics")
        os.ftruncate(self._counters, ROW_BYTES * count)
        self._lifeline, self._alive = os.pipe()
        self._workers: dict[int, tuple[subprocess.Popen[bytes], float]] = {}
        self._due: dict[int, float] = {}  # when workers that ended are started anew
        self._stopping = threading.Event()

    def run(self) -> int:
        """The exit code: 0 after a signal, 1 where workers do not start."""
        for ending in (signal.SIGINT, signal.SIGTERM):
            signal.signal(ending, lambda *_: self._stopping.set())
        for number in range(self._count):
            self._start(number)
        code = self._watch()
        self._stop()
        return code

    def _watch(self) -> int:
        """Starts anew who ends, with growing pauses while they fail to start.

        A worker fails for as long as the database is away. The others go on meanwhile, so the
        server gives up only when nobody is left.
        """
        failures = 0
        while not self._stopping.wait(0.1):
            now = time.monotonic()
            for number in [number for number, due in self._due.items() if due <= now]:
                self._start(number)
            for number, (process, started) in list(self._workers.items()):
                if process.poll() is None:
                    continue
                del self._workers[number]
                failures = failures + 1 if now - started < SOON_S else 0
                if failures >= MOST_FAILURES and not self._workers:
                    log.error("%d workers ended as soon as they were started", failures)
                    return 1
                log.error("worker %d ended (%s): it is started anew", number, process.returncode)
                self._due[number] = now + find_pause(failures)
        return 0

    def _start(self, number: int) -> None:
        self._due.pop(number, None)
        slot = WorkerSlot(
            number, self._count, self._listener.fileno(), self._counters, self._lifeline
        )
        self._workers[number] = (start_process(self._arguments, slot), time.monotonic())

    def _stop(self) -> None:
        processes = [process for process, _ in self._workers.values()]
        for process in processes:
            process.terminate()  # no error for one that has ended and was not waited for
        ends = time.monotonic() + STOP_S
        for process in processes:
            try:
                process.wait(max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for descriptor in (self._lifeline, self._alive, self._counters):
            os.close(descriptor)
