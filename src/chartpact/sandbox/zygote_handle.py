"""The zygote as its owner sees it: a process that gives out children, one for each run."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chartpact.sandbox import messages
from chartpact.sandbox.endings import Exit, RunBounds
from chartpact.sandbox.layers import native, unavailable
from chartpact.sandbox.memory_files import Sealed, confine, is_finished
from chartpact.work.process import Process, start_python

START_S = 30.0  # exec, imports and warm-up take a fraction of a second on an idle machine
FORK_S = 2.0  # a zygote that has not forked, or not reaped, by then is stuck
CLOSE_S = 5.0
_STILLBORN = 32  # children in a row that died before their job: there will be no other
_SPURIOUS = 20  # wake-ups by a child that has not ended
_GLANCE_MS = 20  # how often the zygote is listened to while a child's own notice is awaited

# Imports leave no garbage, so nothing searches for it; the zygote looks once, when it is ready.
_BOOT = (
    "import gc, json, sys; gc.disable(); config = json.loads(sys.argv[1]); "
    "sys.path[:] = config['path']; from chartpact.sandbox.zygote import main; main(config)"
)
# All that an escaped script could read of an environment.
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "OPENBLAS_NUM_THREADS": "1",
    # A run's memory stays its own once touched: page faults are what a run costs.
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
}
_NOBODY = 65534


UNAVAILABLE, LOST, FORK = "unavailable", "lost", "fork"


class SandboxError(RuntimeError):
    """No run takes place; the message says why.

    `kind` is UNAVAILABLE where this host cannot run scripts, LOST where the zygote went away or
    does not answer, and FORK where the host has no room for another process. `again` says whether
    the run may be tried again.
    """

    def __init__(self, reason: str, kind: str = UNAVAILABLE, again: bool = False) -> None:
        super().__init__(reason)
        self.kind, self.again = kind, again


class Zygote:
    """A running zygote, which keeps children ready; each is good for one run."""

    def __init__(self, turns: int, planted: Path | None = None) -> None:
        if reason := unavailable():
            raise SandboxError(reason)
        self.born = time.monotonic()
        self.runs = 0
        self.crashes = 0
        self._running = 0
        self._retired = False
        self._lock = threading.Lock()
        self._taking = threading.Lock()
        complaints = os.memfd_create("chartpact-zygote")
        try:
            self._start(complaints, turns, planted)
        finally:
            os.close(complaints)

    def _start(self, complaints: int, turns: int, planted: Path | None) -> None:
        if not sys.executable:
            raise SandboxError("the path of the Python interpreter is not known")
        loader = "LD_LIBRARY_PATH"  # some interpreters do not start without it
        environment = {loader: os.environ[loader]} if loader in os.environ else {}

        def start(channel: int) -> subprocess.Popen[bytes]:
            config = json.dumps(_config(channel, turns, planted))
            return start_python(
                channel,
                *("-I", "-S", "-c", _BOOT, config),
                env=_ENVIRONMENT | environment,
                cwd="/",
                stderr=complaints,
                start_new_session=True,
            )

        self._process = Process(start, socket.SOCK_SEQPACKET)
        self._channel = self._process.channel
        try:
            self.report = self._await_ready(complaints)
        except BaseException:
            self._process.kill()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def _await_ready(self, complaints: int) -> Mapping[str, Any]:
        self._channel.settimeout(START_S)
        try:
            message, _ = messages.receive(self._channel, 1 << 16)
        except TimeoutError:
            message = b""
        if not message:
            self._process.kill()
            text = os.pread(complaints, 1 << 16, 0).decode(errors="replace").strip()
            reason = text.splitlines()[-1] if text else "it gave no reason"
            raise SandboxError(f"the sandbox did not start: {reason}")
        report: dict[str, Any] = json.loads(message)
        if "refused" in report:
            raise SandboxError(f"the sandbox did not start: {report['refused']}")
        self._channel.settimeout(FORK_S)
        return report

    # ------------------------------------------------------------------------------- running

    def run(self, job: Sealed, shared: Sealed | None, allowance: RunBounds) -> tuple[Exit, int]:
        """Runs one child; returns how it ended, and the memory file of its answer."""
        with self._lock:
            if self._retired:
                raise SandboxError("it was retired", LOST, again=True)
            self._running += 1
            self.runs += 1
        try:
            pid, pidfd, fd, answer = self._take()
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fd) as child:
                try:
                    room = confine(answer, allowance.answer)
                    sizes = job.size, shared.size if shared else 0, room
                    files = [packet.fd for packet in (job, shared) if packet]
                    times = allowance.cpu_ms, allowance.wall_ms
                    rest = allowance.memory >> 10, allowance.layers
                    request = messages.REQUEST.pack(*sizes, *times, *rest)
                    limit_s = allowance.wall_ms / 1000
                    return _run(child, pid, pidfd, request, files, answer, limit_s), answer
                except BaseException:  # the caller was interrupted
                    _kill(pidfd)
                    os.close(answer)
                    raise
                finally:
                    os.close(pidfd)
        finally:
            with self._lock:
                self._running -= 1
                idle = self._retired and not self._running
            if idle:
                self.close()

    def _take(self) -> tuple[int, int, int, int]:
        """A child that waits: its pid and pidfd, the socket to hand it a job, its answer."""
        for _ in range(_STILLBORN):
            try:
                self._channel.send(b"T")
                with self._taking:
                    message, fds = messages.receive(self._channel)
            except OSError as error:
                raise SandboxError(
                    f"it gives no child ({type(error).__name__})", LOST, again=True
                ) from None
            if message[:1] == b"F":
                raise SandboxError(os.strerror(messages.FAILED.unpack(message)[1]), FORK)
            if message[:1] != b"S":
                raise SandboxError("it ended", LOST, again=True)
            if len(fds) == 3 and not _readable(fds[0]):
                return messages.STARTED.unpack(message)[1], fds[0], fds[1], fds[2]
            for fd in fds:  # it was killed while it waited, or this process has no room for all
                os.close(fd)
            if len(fds) < 3:
                raise SandboxError("too many files are open", FORK)
        raise SandboxError("processes end before they get a job", FORK)

    # -------------------------------------------------------------------------------- ending

    def retire(self) -> None:
        """Takes no more runs, and closes after the last."""
        with self._lock:
            self._retired = True
            idle = not self._running
        if idle:
            self.close()

    def kill(self) -> None:
        """Ends it at once; its runs die with it, and their callers get a `SandboxError`."""
        with self._lock:
            self._retired = True
        self._process.kill()

    def close(self) -> None:
        """Ends it; a run under way is lost."""
        with self._lock:
            self._retired = True
        self._process.end(CLOSE_S)

    def forget(self) -> None:
        """In a fork of the owner: lets go of the zygote, which lives as long as its owner."""
        self._process.forget()


def _run(
    child: socket.socket,
    pid: int,
    pidfd: int,
    request: bytes,
    files: list[int],
    answer: int,
    limit_s: float,
) -> Exit:
    killed = ended = False
    before = _cpu_s(pid) or 0.0  # of its rehearsal
    started = time.monotonic()
    try:
        child.settimeout(limit_s)
        messages.send(child, request, files)
        finished = _notice(child, answer, started + limit_s) and is_finished(answer)
        if finished and (used := _cpu_s(pid)) is not None:  # else it is gone already
            _kill(pidfd)  # it has nothing left to do, even if it only pretends to be done
            wall_ms, cpu_ms = 1000 * (time.monotonic() - started), 1000 * (used - before)
            return Exit(0, messages.ANSWERED, False, wall_ms, cpu_ms, 0)
        child.settimeout(max(started + limit_s - time.monotonic(), 0.001))
        try:
            message = _receive_ending(child)
        except TimeoutError:
            ended = _readable(pidfd)
            killed = not ended and _kill(pidfd)
            child.settimeout(FORK_S if ended or killed else 2 * limit_s + FORK_S)
            message = _receive_ending(child)
    except TimeoutError:
        raise SandboxError("it does not reap its children", LOST, again=ended) from None
    except OSError as error:
        raise SandboxError(
            f"a child's socket broke ({type(error).__name__})", LOST, again=False
        ) from None
    if message[:1] != b"X":
        raise SandboxError("it ended", LOST, again=False)
    wall = time.monotonic() - started
    _, status, used, peak, faults = messages.EXITED.unpack(message)
    return Exit(
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        killed=killed,
        wall_ms=wall * 1000,
        cpu_ms=max(used - before, 0) * 1000,
        peak_kib=peak,
        faults=faults,
    )


def _notice(child: socket.socket, answer: int, deadline: float) -> bool:
    """Whether the child announced its end in time, and before the zygote did.

    A hostile child can wake the waiter as often as it likes, so the number of looks is bounded.
    """
    for _ in range(int((deadline - time.monotonic()) * 1000 / _GLANCE_MS) + _SPURIOUS):
        if (left := deadline - time.monotonic()) <= 0:
            break
        if native.sandbox_wait(answer, min(int(left * 1000) + 1, _GLANCE_MS)):
            return True
        if _readable(child.fileno()):
            break
    return False


def _cpu_s(pid: int) -> float | None:
    """The processor time that a process has used; None where that cannot be told."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # the number of its clock, as Linux builds it
    except OSError:  # it is gone
        return None


def _receive_ending(child: socket.socket) -> bytes:
    """The zygote's message about how the child ended."""
    try:
        return messages.receive(child)[0]
    except ConnectionResetError:  # said once of a child that ended before it read its request
        return messages.receive(child)[0]


def _readable(fd: int) -> bool:
    """Whether there is something to read; a pidfd is readable when its process has ended."""
    ready = select.poll()  # not select, which knows no descriptor above 1023
    ready.register(fd, select.POLLIN)
    return bool(ready.poll(0))


def _kill(pidfd: int) -> bool:
    """Kills a child, if this process may: root without CAP_KILL may not, and its own timer does."""
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:  # it ended just now
        return True
    except OSError:
        return False
    return True


def _config(channel: int, turns: int, planted: Path | None) -> dict[str, Any]:
    home = str(Path(__file__).resolve().parents[2])
    return {
        "path": [home, *(path for path in sys.path if os.path.isabs(path) and path != home)],
        "channel": channel,
        "turns": turns,
        "user": _NOBODY,
        "planted": None if planted is None else str(planted),
    }
