"""The zygote as its owner sees it: a process, and one channel for each run under way."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartpact.script.sandbox import wire

START_S = 30.0  # exec, imports and warm-up take a fraction of a second on an idle machine
FORK_S = 2.0  # a zygote that has not forked by then is stuck
REAP_S = 5.0  # a killed child is gone in milliseconds

_BOOT = (
    "import json, sys; config = json.loads(sys.argv[1]); sys.path[:] = config['path']; "
    "from chartpact.script.sandbox.zygote import main; main(config)"
)
# All that an escaped script could read of an environment.
_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "OPENBLAS_NUM_THREADS": "1"}
_NOBODY = 65534


class Unavailable(RuntimeError):
    """This host cannot run scripts; the message says why."""


class Lost(Exception):
    """The zygote went away or does not answer; `started` tells whether the run had begun."""

    def __init__(self, started: bool) -> None:
        super().__init__("started" if started else "not started")
        self.started = started


class ForkFailed(Exception):
    """The host has no room for another process."""


@dataclass(frozen=True)
class Exit:
    """How a run's process ended."""

    signal: int  # 0 when it ended by itself
    code: int
    killed: bool  # by its owner, at the limit
    wall_ms: float
    cpu_ms: float
    peak_kib: int


class Zygote:
    """A running zygote with a number of channels, each good for one run at a time."""

    def __init__(self, channels: int, planted: Path | None = None, layers: int = ~0) -> None:
        self.born = time.monotonic()
        self.runs = 0
        self.crashes = 0
        self._lock = threading.Lock()
        self._retired = False
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(channels)]
        self._all = [ours for ours, _ in pairs]
        self._free = list(self._all)
        theirs = [end.fileno() for _, end in pairs]
        complaints = os.memfd_create("chartpact-zygote")
        try:
            self._process = subprocess.Popen(
                [*_interpreter(), _BOOT, json.dumps(_config(theirs, planted, layers))],
                env=_environment(),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                pass_fds=theirs,
                start_new_session=True,
            )
            for _, end in pairs:  # ours must be the only copies left when it waits for the end
                end.close()
            self.report = self._await_ready(complaints)
        except BaseException:
            for ours, end in pairs:
                ours.close()
                end.close()
            raise
        finally:
            os.close(complaints)

    @property
    def pid(self) -> int:
        return self._process.pid

    def _await_ready(self, complaints: int) -> Mapping[str, Any]:
        self._all[0].settimeout(START_S)
        try:
            message, _ = wire.receive(self._all[0], 1 << 16)
        except TimeoutError:
            message = b""
        if not message:
            self._process.kill()
            self._process.wait()
            said = os.pread(complaints, 4096, 0).decode(errors="replace").strip()
            raise Unavailable(f"the sandbox did not start: {said.splitlines()[-1:] or 'no reason'}")
        report: dict[str, Any] = json.loads(message)
        if "refused" in report:
            self._process.wait()
            raise Unavailable(f"the sandbox did not start: {report['refused']}")
        return report

    def run(self, job: tuple[int, int], answer: tuple[int, int], wall_ms: int, kib: int) -> Exit:
        """Runs one child over these memory files (descriptor, size) and tells how it ended."""
        with self._lock:
            if self._retired or not self._free:
                raise Lost(started=False)
            channel = self._free.pop()
            self.runs += 1
        clean = False
        try:
            ended = self._run(channel, job, answer, wall_ms, kib)
            clean = True
            return ended
        except ForkFailed:
            clean = True
            raise
        finally:
            with self._lock:
                if clean:
                    self._free.append(channel)
                idle = self._retired and len(self._free) == len(self._all)
            if idle:
                self.close()

    def _run(
        self,
        channel: socket.socket,
        job: tuple[int, int],
        answer: tuple[int, int],
        wall_ms: int,
        kib: int,
    ) -> Exit:
        try:
            channel.settimeout(FORK_S)
            wire.send(
                channel, wire.REQUEST.pack(job[1], answer[1], wall_ms, kib), [job[0], answer[0]]
            )
            message, fds = wire.receive(channel)
        except (OSError, ValueError):  # includes the timeout
            raise Lost(started=False) from None
        if message[:1] == b"F":
            raise ForkFailed(os.strerror(wire.FAILED.unpack(message)[1]))
        if message[:1] != b"S" or len(fds) != 1:
            raise Lost(started=False)
        started = time.monotonic()
        killed = False
        try:
            channel.settimeout(wall_ms / 1000)
            try:
                message, _ = wire.receive(channel)
            except TimeoutError:
                killed = True
                _kill(fds[0])
                channel.settimeout(REAP_S)
                message, _ = wire.receive(channel)
        except OSError:
            raise Lost(started=True) from None
        finally:
            os.close(fds[0])
        if message[:1] != b"X":
            raise Lost(started=True)
        wall = time.monotonic() - started
        _, status, user, system, peak = wire.EXITED.unpack(message)
        return Exit(
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            code=os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
            killed=killed,
            wall_ms=wall * 1000,
            cpu_ms=(user + system) * 1000,
            peak_kib=peak,
        )

    def retire(self) -> None:
        """Takes no more runs, and closes after the last."""
        with self._lock:
            self._retired = True
            idle = len(self._free) == len(self._all)
        if idle:
            self.close()

    def kill(self) -> None:
        """Ends it at once; its runs die with it, and their owners are told."""
        with self._lock:
            self._retired = True
        self._process.kill()
        self._process.wait()
        for channel in self._all:
            channel.close()

    def close(self) -> None:
        """Ends it; a run under way is lost."""
        with self._lock:
            self._retired = True
        for channel in self._all:
            channel.close()
        try:
            self._process.wait(REAP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Lets go of what a fork of the owner inherited: the zygote lives as long as its owner."""
        for channel in self._all:
            channel.close()
        self._process.returncode = 0  # it is not this process's child


def _kill(pidfd: int) -> None:
    # It may have ended just now; and root without CAP_KILL may not: then its own timer ends it.
    with suppress(ProcessLookupError, PermissionError):
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)


def _interpreter() -> list[str]:
    if not sys.executable:
        raise Unavailable("the path of the Python interpreter is not known")
    return [sys.executable, "-I", "-S", "-c"]


def _environment() -> dict[str, str]:
    loader = "LD_LIBRARY_PATH"  # some interpreters do not start without it
    return _ENVIRONMENT | ({loader: os.environ[loader]} if loader in os.environ else {})


def _config(channels: list[int], planted: Path | None, layers: int) -> dict[str, Any]:
    home = str(Path(__file__).resolve().parents[3])
    return {
        "path": [home, *(each for each in sys.path if os.path.isabs(each) and each != home)],
        "channels": channels,
        "user": _NOBODY,
        "planted": None if planted is None else str(planted),
        "layers": layers,
    }
