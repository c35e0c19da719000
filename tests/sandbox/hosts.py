"""Hosts that lack something, made of a filter round a process: x86-64 numbers."""

import ctypes
import errno
import json
import struct
import subprocess
import sys
from dataclasses import dataclass

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NO_NEW_PRIVS, SECCOMP = 38, 22
CAPBSET_DROP, PDEATHSIG = 24, 1


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


def found_by(
    code: str, *lacking: Lacking, dropped: tuple[int, ...] = ()
) -> dict[str, list[object]]:
    """What this program prints as JSON on a host that lacks these calls and capabilities."""
    program = [(LOAD, 0, 0, 0), *(line for each in lacking for line in each.code())]
    raw = b"".join(struct.pack("<HBBI", *line) for line in (*program, (RETURN, 0, 0, ALLOW)))
    filter = struct.pack(
        "HP", len(program) + 1, ctypes.addressof(buffer := ctypes.create_string_buffer(raw))
    )
    libc = ctypes.CDLL(None)

    def lose() -> None:
        assert buffer
        for capability in dropped:
            libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
        if lacking:
            libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
            assert libc.prctl(SECCOMP, 2, filter, 0, 0) == 0

    done = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=lose, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found
