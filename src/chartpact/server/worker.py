"""One worker process: it does one job after the other, within bounds of time and memory."""

import logging
import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

log = logging.getLogger(__name__)

Job = Callable[[], Any]  # picklable: a partial of a module's function

MB = 2**20
TICKS = os.sysconf("SC_CLK_TCK")
TOLD = Path("/proc/self/stat").exists()
LOOK_AFTER = 0.4  # of the time of a short job: most are over by then, and are not looked at


class WorkFailed(Exception):
    """A job without an answer: `kind` is busy, time, memory or crash."""

    def __init__(self, kind: str, message: str, hint: str) -> None:
        super().__init__(f"{message}: {hint}")
        self.kind = kind
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Bounds:
    """What one job may use, and when it counts as long."""

    wall_s: float = 20.0
    memory_mb: int = 1024
    short_s: float = 0.25  # of processor time
    patience_s: float = 1.0  # until it makes room for others, whatever it waits for


@dataclass(frozen=True)
class Done:
    """What comes back from a worker: a value or an exception, and what has become of it."""

    good: bool
    value: Any
    grown: bool = False  # the worker, by too much
    long: bool = False  # the job


class Worker:
    """A process and the pipe to it."""

    def __init__(self, prepare: Job | None, behind: int, memory_mb: int) -> None:
        context = multiprocessing.get_context("spawn")  # the web process has threads: no fork
        self._pipe, theirs = context.Pipe()
        given = (theirs, prepare, memory_mb)
        self._process = context.Process(target=_work, args=given, daemon=False)
        self._process.start()
        with suppress(OSError):  # a courtesy, where it is permitted, from its first step on
            own = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, self._process.pid or 0, own + behind)
        theirs.close()
        self._ready = False

    def get_ready(self, wall_s: float) -> None:
        """Waits until it has started and prepared itself."""
        if not self._ready:
            self._heard(wall_s)
            self._ready = True

    def do(self, job: Job, bounds: Bounds, overran: Callable[[bool], None]) -> Done:
        """What comes of the job.

        Calls `overran` once it is time to make room for others: with True when the job has used
        more than a short one does, rather than got too little.
        """
        started, told, long = time.monotonic(), False, False
        try:
            self._pipe.send(job)
            if not self._pipe.poll(LOOK_AFTER * bounds.short_s):
                before = self._used()
                while not self._pipe.poll((1 - LOOK_AFTER) * bounds.short_s):
                    waited = time.monotonic() - started
                    if waited > bounds.wall_s:
                        raise _took_too_long(bounds.wall_s)
                    long = long or self._burnt(before, bounds)
                    if not told and (long or waited > bounds.patience_s):
                        told = True
                        overran(long)
                long = long or self._burnt(before, bounds)
        except OSError:
            raise _crashed() from None
        done = replace(self._heard(bounds.wall_s), long=long)
        if isinstance(done.value, MemoryError):
            raise WorkFailed(
                "memory",
                f"the computation needs more than {bounds.memory_mb} MB",
                "ask for fewer bars or indicators",
            )
        return done

    def _burnt(self, before: float, bounds: Bounds) -> bool:
        return self._used() - before >= (1 - LOOK_AFTER) * bounds.short_s

    def _used(self) -> float:
        # To start a sandbox takes a while too, which is not the fault of the first who needs it.
        return cpu_s(self._process.pid or 0, helpers=False)

    def _heard(self, wall_s: float) -> Done:
        try:
            if self._pipe.poll(wall_s):
                done: Done = self._pipe.recv()
                return done
        except (EOFError, OSError):
            raise _crashed() from None
        raise _took_too_long(wall_s)

    def end(self) -> None:
        self._pipe.close()  # an idle worker sees the end of its pipe, and goes
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()


def cpu_s(pid: int, *, helpers: bool = True) -> float:
    """Processor time of a process and all it started; where nobody tells, the time that passed.

    Without `helpers`, what its living children have spent on themselves is left out.
    """
    try:
        home = Path(f"/proc/{pid}")
        own, reaped = _times(pid)
        children = " ".join(each.read_text() for each in home.glob("task/*/children")).split()
    except OSError:
        return 0 if TOLD else time.monotonic()
    spent = own + reaped
    for child in map(int, children):
        spent += cpu_s(child)
        if not helpers:
            with suppress(OSError):
                spent -= _times(child)[0]
    return spent


def _times(pid: int) -> tuple[float, float]:
    """What the process has spent itself, and those of its children that it has reaped."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    user, system, reaped_user, reaped_system = (int(each) / TICKS for each in told)
    return user + system, reaped_user + reaped_system


def _took_too_long(wall_s: float) -> WorkFailed:
    told = f"the computation took longer than {wall_s:g} s"
    return WorkFailed("time", told, "ask for fewer bars")


def _crashed() -> WorkFailed:
    log.error("a worker died in the middle of a job")
    return WorkFailed(
        "crash", "the computation crashed", "try again; if it happens again, report it"
    )


# ------------------------------------------------------------------------------- in the process


def _work(pipe: Connection, prepare: Job | None, memory_mb: int) -> None:
    """Prepares, says so, and does one job after the other until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, which ends its workers
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # its own takes a gigabyte to begin with
    answer = Done(good=True, value=None)
    if prepare is not None:
        prepare()
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
    """Sets how much more memory the process may fill, and tells what it has at rest.

    Address space that is merely set aside does not count, of which libraries take a lot.
    """
    pages = _pages()
    if pages is None:
        return 0  # no Linux: then only time is bounded
    most = pages.data * resource.getpagesize() + memory_mb * MB
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    return _resident()


def _resident() -> int:
    pages = _pages()
    return 0 if pages is None else pages.resident * resource.getpagesize()


class _Pages(NamedTuple):
    resident: int
    data: int


def _pages() -> _Pages | None:
    try:
        told = Path("/proc/self/statm").read_text().split()
    except OSError:
        return None
    return _Pages(int(told[1]), int(told[5]))
