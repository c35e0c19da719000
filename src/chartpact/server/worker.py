"""One worker process: it does one job after the other, within bounds of time and memory."""

import logging
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

Job = Callable[[], Any]  # picklable: a partial of a module's function

MB = 2**20


class WorkFailed(Exception):
    """A job without an answer: `kind` is busy, time, memory or crash."""

    def __init__(self, kind: str, message: str, hint: str) -> None:
        super().__init__(f"{message}: {hint}")
        self.kind = kind
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Bounds:
    """What one job may use, and how soon a short one is done in either lane."""

    wall_s: float = 20.0
    memory_mb: int = 1024
    quick_s: float = 0.25
    slow_s: float = 1.0  # where everybody else goes first


@dataclass(frozen=True)
class Done:
    """What comes back from a worker: a value or an exception, and whether the worker has grown."""

    good: bool
    value: Any
    grown: bool = False


class Worker:
    """A process and the pipe to it."""

    def __init__(self, prepare: Job | None, behind: int, memory_mb: int) -> None:
        context = multiprocessing.get_context("spawn")  # the web process has threads: no fork
        self._pipe, theirs = context.Pipe()
        given = (theirs, prepare, behind, memory_mb)
        self._process = context.Process(target=_work, args=given, daemon=False)
        self._process.start()
        theirs.close()
        self._ready = False

    def get_ready(self, wall_s: float) -> None:
        """Waits until it has started and prepared itself."""
        if not self._ready:
            self._heard(wall_s)
            self._ready = True

    def do(self, job: Job, bounds: Bounds, short_s: float, overran: Callable[[], None]) -> Done:
        """What comes of the job; calls `overran` when that takes longer than a short job does."""
        try:
            self._pipe.send(job)
            if not self._pipe.poll(short_s):
                overran()
        except OSError:
            raise _crashed() from None
        done = self._heard(bounds.wall_s, short_s)
        if isinstance(done.value, MemoryError):
            raise WorkFailed(
                "memory",
                f"the computation needs more than {bounds.memory_mb} MB",
                "ask for fewer bars or indicators",
            )
        return done

    def _heard(self, wall_s: float, waited_s: float = 0) -> Done:
        try:
            if self._pipe.poll(wall_s - waited_s):
                done: Done = self._pipe.recv()
                return done
        except (EOFError, OSError):
            raise _crashed() from None
        raise WorkFailed(
            "time", f"the computation took longer than {wall_s:g} s", "ask for fewer bars"
        )

    def end(self) -> None:
        self._pipe.close()  # an idle worker sees the end of its pipe, and goes
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()


def _crashed() -> WorkFailed:
    log.error("a worker died in the middle of a job")
    return WorkFailed(
        "crash", "the computation crashed", "try again; if it happens again, report it"
    )


# ------------------------------------------------------------------------------- in the process


def _work(pipe: Connection, prepare: Job | None, behind: int, memory_mb: int) -> None:
    """Prepares, says so, and does one job after the other until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, which ends its workers
    answer = Done(good=True, value=None)
    if prepare is not None:
        prepare()
    with suppress(OSError):  # a courtesy, where it is permitted
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) + behind)
    at_rest = _confine(memory_mb)
    while True:
        try:
            pipe.send(answer)
            job = pipe.recv()
        except (EOFError, OSError):
            return  # nobody is there any more
        try:
            good, value = True, job()
        except Exception as error:  # noqa: BLE001  (it belongs to whoever asked)
            good, value = False, error
        answer = Done(good, value, grown=_resident() - at_rest > memory_mb * MB // 2)


def _confine(memory_mb: int) -> int:
    """Sets how much more memory the process may ask for, and tells what it has at rest."""
    try:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0  # no Linux: then only time is bounded
    most = taken + memory_mb * MB
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    return _resident()


def _resident() -> int:
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0
