"""What the kernel says about processes, descriptors and memory, for tests that count them."""

import gc
import os
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            found += map(int, task.read_text().split())
    return found


def filters(pid: int) -> int:
    """How many system call filters it is under; before Linux 5.9, whether it is under any."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"^Seccomp\w*:\t(\d+)", status, re.M)[-1])


def running(zygote: int) -> list[int]:
    """Its children that have a job: those are under the filter, the ones that wait are not yet.

    In a container all of them are under one already.
    """
    found = []
    for child in children(zygote):
        with suppress(FileNotFoundError, ProcessLookupError):
            if filters(child) > filters(zygote):
                found.append(child)
    return found


def in_session(leader: int) -> list[int]:
    """Every process of this session, whoever its parent is by now."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(ProcessLookupError):
            if os.getsid(int(name)) == leader:
                found.append(int(name))
    return found


def send(pid: int, signal: int) -> None:
    """Sends a signal to a process that may have ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal)


def alive(pid: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def descriptors(pid: int) -> int:
    if pid == os.getpid():
        gc.collect()
    return len(os.listdir(f"/proc/{pid}/fd"))


def open_files(pid: int) -> list[str]:
    """What the descriptors of this process stand for, as the kernel names it."""
    files = []
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # the descriptor that lists them, for one
            files.append(os.readlink(fd))
    return files


def memory_files(pids: Iterable[int]) -> int:
    """Jobs and answers that these processes hold open or mapped."""
    held = 0
    for pid in pids:
        links = open_files(pid)
        maps = Path(f"/proc/{pid}/maps").read_text()
        for name in ("memfd:chartpact-job", "memfd:chartpact-answer"):
            held += sum(link.startswith(f"/{name}") for link in links) + maps.count(name)
    return held


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether it became true in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def at_rest(zygote: int) -> bool:
    """Whether nothing runs soon: two children wait, which hold three descriptors each.

    The zygote is at rest too. While it makes or reaps a child it holds more than the socket to its
    owner and, for each child, a socket and a pidfd.
    """

    def resting() -> bool:
        waiting = children(zygote)
        try:
            files = open_files(zygote)
            sockets = sum(file.startswith("socket:") for file in files)
            pidfds = sum("pidfd" in file for file in files)
            memory = sum(file.startswith("/memfd:chartpact-answer") for file in files)
            if (sockets, pidfds, memory) != (3, 2, 0):
                return False
            return len(waiting) == 2 and all(descriptors(pid) == 3 for pid in waiting)
        except (FileNotFoundError, ProcessLookupError):  # it ended while it was looked at
            return False

    return wait_until(resting)
