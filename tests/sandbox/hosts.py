"""Hosts that lack something, made of a filter round a process: x86-64 numbers."""

import ctypes
import errno
import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NO_NEW_PRIVS, SECCOMP = 38, 22
CAPBSET_DROP, PDEATHSIG = 24, 1
CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True)
class Lacking:
    """A system call that this host refuses, always or when an argument has a value."""

    number: int
    argument: int = 0
    value: int | None = None
    error: int = errno.EPERM

    def code(self) -> list[tuple[int, int, int, int]]:
        refuse = (RETURN, 0, 0, REFUSE | self.error)
        if self.value is None:
            return [(EQUAL, 0, 1, self.number), refuse]
        look = [(LOAD, 0, 0, 16 + 8 * self.argument), (EQUAL, 0, 1, self.value), refuse]
        return [(EQUAL, 0, 4, self.number), *look, (LOAD, 0, 0, 0)]


def prctl(option: int) -> Lacking:
    return Lacking(157, 0, option)


TIMER_CREATE = Lacking(222)
CAPSET = Lacking(126)
SETRLIMIT = Lacking(302)
LANDLOCK_CREATE = Lacking(444)
LANDLOCK_RESTRICT = Lacking(446)
CLOSE_RANGE = Lacking(436)
SETRLIMIT_OF_QUEUES = Lacking(302, 1, 12)
SETRLIMIT_OF_MEMORY = Lacking(302, 1, 9)
SETPRIORITY = Lacking(141)
PIDFD_SIGNAL = Lacking(424, error=errno.ENOSYS)
# A root that has to go through a user namespace, and is refused its name in it.
UNSHARE_AS_ROOT = Lacking(272, 0, 0x4C000000)
WRITE_USER_MAP = Lacking(257, 2, 0o2000001)


class Hosts:
    """A process that forks itself into hosts: a fork need not import chartpact anew."""

    def __init__(self) -> None:
        path = f"import sys; sys.path[:] = {sys.path!r}"
        boot = f"{path}; from tests.sandbox.hosts import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", boot],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # so that it has one thread
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def found_by(
        self, code: str, *lacking: Lacking, dropped: tuple[int, ...] = ()
    ) -> dict[str, list[object]]:
        """What this program prints as JSON on a host that lacks these calls and capabilities."""
        assert self._process.stdin is not None and self._process.stdout is not None
        lines = [line for call in lacking for line in call.code()]
        json.dump([code, lines, dropped], self._process.stdin)
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        found: dict[str, list[object]] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        self._process.communicate()


def serve() -> None:
    """Forks a host for each line that comes in, and waits for it."""
    from chartpact.sandbox import host_probe

    assert host_probe and len(os.listdir("/proc/self/task")) == 1
    for line in sys.stdin:
        code, filter, dropped = json.loads(line)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                _lose(filter, dropped)
                exec(code, {})
                sys.stdout.flush()
                status = 0
            except BaseException:  # noqa: BLE001  (told as an interpreter tells it)
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(status)
        if (status := os.waitpid(pid, 0)[1]) != 0:
            print(json.dumps({"the host failed": [status]}), flush=True)


def _lose(filter: list[list[int]], dropped: list[int]) -> None:
    """Gives up capabilities, for good, and puts itself under a filter of system calls."""
    libc = ctypes.CDLL(None)
    header = struct.pack("Ii", CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: low halves, then high ones
    assert libc.capget(header, sets) == 0
    for capability in dropped:
        assert libc.prctl(CAPBSET_DROP, capability, 0, 0, 0) == 0
        for kind in range(3):
            sets[kind] &= ~(1 << capability)
    if dropped:
        assert libc.capset(header, sets) == 0
    if filter:
        program = [(LOAD, 0, 0, 0), *filter, (RETURN, 0, 0, ALLOW)]
        raw = b"".join(struct.pack("<HBBI", *line) for line in program)
        buffer = ctypes.create_string_buffer(raw)
        libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
        pointer = struct.pack("HP", len(program), ctypes.addressof(buffer))
        assert libc.prctl(SECCOMP, 2, pointer, 0, 0) == 0
