"""One worker process: it does one job after another, within bounds of time and memory.

A worker is started by exec, so that nothing of its owner is copied or run again: no lock that
another thread holds, no script that lacks a main guard. Jobs and answers cross a socket as pickles,
whose both ends are chartpact. A worker whose owner is gone reads the end of the socket, and exits.
"""

import logging
import os
import pickle
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartpact.problem import Problem
from chartpact.work.failure import WorkFailed, busy
from chartpact.work.garbage import search_rarely
from chartpact.work.process import Process, start_python

try:
    import resource
except ImportError:  # not a Unix: memory is not bounded there
    resource = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

Job = Callable[[], Any]  # picklable: a partial of a module's function

MB = 2**20
_BOOT = "import sys; sys.path[:] = {path!r}; from chartpact.work.worker import serve; serve({fd})"
_SIZE = struct.Struct(">Q")
_END_S = 0.5  # for an idle worker to exit
_RESIDENT, _DATA = 1, 5  # fields of /proc/self/statm, in pages


@dataclass(frozen=True)
class Done:
    """The answer to a job: its value, or the exception it raised."""

    good: bool
    value: Any
    grown: bool = False  # the worker holds much more memory than before its first job

    def result(self) -> Any:
        if not self.good:
            raise self.value
        return self.value


@dataclass(frozen=True)
class Setup:
    """The settings shared by all workers of a pool.

    `prepare` is done before the first job. `memory_mb` bounds the memory beyond that, None does
    not. `niceness` is added to that of the owner. `advice` is for users whose job was too large.
    """

    prepare: Job | None = None
    memory_mb: int | None = None
    niceness: int = 0
    environment: Mapping[str, str] | None = None
    silent: bool = False  # its standard error is discarded
    advice: str = "ask for less"


def start_process(channel: int, setup: Setup) -> subprocess.Popen[bytes]:
    """A new interpreter, which serves the other end of the channel."""
    return start_python(
        channel,
        "-c",
        _BOOT.format(path=sys.path, fd=channel),
        stderr=subprocess.DEVNULL if setup.silent else None,
        env={**os.environ, **(setup.environment or {})},
        process_group=0,  # Ctrl-C is for the owner; a session would void the niceness
    )


class Worker:
    """A running worker, as its owner sees it. `grown` tells of its last job."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._ready = self._ended = False
        self._deadline = self._wall_s = 0.0  # of the job at hand
        self.grown = False
        self.process = Process(lambda channel: start_process(channel, setup))
        self._channel = _Channel(self.process.channel)
        if setup.niceness:
            with suppress(OSError):  # a courtesy, where it is permitted
                own = os.getpriority(os.PRIO_PROCESS, 0)
                os.setpriority(os.PRIO_PROCESS, self.process.pid, own + setup.niceness)

    @property
    def alive(self) -> bool:
        return self.process.alive

    def get_ready(self, wall_s: float) -> None:
        """Waits until the worker has started and prepared itself."""
        if not self._ready:
            self.start((self._setup.prepare, self._setup.memory_mb), wall_s)
            self.finish()
            self._ready = True

    def do(self, job: Job, wall_s: float) -> Done:
        """The answer to a job, within so much time."""
        self.start(job, wall_s)
        return self.finish()

    def start(self, job: Any, wall_s: float) -> None:
        """Hands over a job, which has so much time."""
        self._deadline, self._wall_s = time.monotonic() + wall_s, wall_s
        with self._failures():
            self._channel.send(pickle.dumps(job), self._deadline)

    def poll(self, seconds: float) -> bool:
        """Whether the answer to the job, or the end of the worker, comes within so much time."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._took_too_long()
        return self._channel.poll(min(seconds, left))

    def finish(self) -> Done:
        """The answer to the job."""
        with self._failures():
            done: Done = pickle.loads(self._channel.receive(self._deadline))
        self.grown = done.grown
        if isinstance(done.value, MemoryError) and self._setup.memory_mb is not None:
            message = f"the computation needs more than {self._setup.memory_mb} MB"
            raise WorkFailed(Problem("memory", message, self._setup.advice))
        return done

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise self._took_too_long() from None
        except (EOFError, OSError):
            if self._ended:
                raise busy("this process is shutting down") from None
            log.error("a worker died in the middle of a job")
            hint = "try again; if it happens again, report it"
            raise WorkFailed(Problem("crash", "the computation crashed", hint)) from None

    def _took_too_long(self) -> WorkFailed:
        message = f"the computation took longer than {self._wall_s:g} s"
        return WorkFailed(Problem("time", message, self._setup.advice))

    def end(self) -> None:
        """Ends the worker; a job under way is lost."""
        self._ended = True
        self.process.end(_END_S)  # an idle worker reads the end of its socket, and exits


class _Channel:
    """Messages over a socket, each with its size before it."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def send(self, message: bytes, deadline: float | None = None) -> None:
        self._socket.settimeout(_left(deadline))
        self._socket.sendall(_SIZE.pack(len(message)))
        self._socket.sendall(message)

    def receive(self, deadline: float | None = None) -> bytearray:
        (size,) = _SIZE.unpack(self._read(_SIZE.size, deadline))
        return self._read(size, deadline)

    def _read(self, size: int, deadline: float | None) -> bytearray:
        message = bytearray(size)
        rest = memoryview(message)
        while rest:
            self._socket.settimeout(_left(deadline))
            count = self._socket.recv_into(rest)
            if not count:
                raise EOFError
            rest = rest[count:]
        return message

    def poll(self, seconds: float) -> bool:
        readable = select.poll()  # not select, which knows no descriptor above 1023
        if self._socket.fileno() < 0:  # closed meanwhile: `receive` tells so
            return True
        readable.register(self._socket, select.POLLIN)
        return bool(readable.poll(seconds * 1000))


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0.001)


# ------------------------------------------------------------------------------- in the process


def serve(fd: int) -> None:
    """Prepares, then does one job after another until the owner closes the socket."""
    search_rarely()
    channel = _Channel(socket.socket(fileno=fd))
    prepare, memory_mb = pickle.loads(channel.receive())
    if prepare is not None:
        prepare()
    at_rest = _bound_memory(memory_mb)
    most_grown = (memory_mb or sys.maxsize) * MB // 2
    answer = Done(good=True, value=None)
    while True:
        try:
            channel.send(pickle.dumps(answer))
            message = channel.receive()
        except (EOFError, OSError):
            return  # the owner is gone
        try:
            good, value = True, pickle.loads(message)()
        except Exception as error:  # noqa: BLE001  (it belongs to the caller)
            good, value = False, error
        answer = Done(good, value, grown=_memory(_RESIDENT) - at_rest > most_grown)


def _bound_memory(memory_mb: int | None) -> int:
    """Bounds the memory that the process may fill from now on; returns its resident bytes.

    Address space that is merely reserved does not count: libraries reserve a lot.
    """
    if memory_mb is not None and (data := _memory(_DATA)):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = data + memory_mb * MB
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    return _memory(_RESIDENT)


def _memory(field: int) -> int:
    """The bytes of memory of this process; 0 where the system does not say: time is bounded."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[field]) * resource.getpagesize()
    except OSError:
        return 0
