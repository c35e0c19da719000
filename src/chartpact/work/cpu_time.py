"""The processor time that a process and its children have used."""

import os
import time
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
HAS_PROC = Path("/proc/self/stat").exists()


def cpu_s(pid: int, *, helpers: bool = True) -> float:
    """Seconds of processor time of a process and its descendants; without /proc, of wall time.

    Without `helpers`, the time that its living children spent on themselves is left out.
    """
    try:
        own, reaped = _times(pid)
        threads = Path(f"/proc/{pid}").glob("task/*/children")
        children = [int(child) for thread in threads for child in thread.read_text().split()]
    except OSError:
        return 0 if HAS_PROC else time.monotonic()
    spent = own + reaped
    for child in children:
        spent += cpu_s(child)
        if not helpers:
            with suppress(OSError):
                spent -= _times(child)[0]
    return spent


def _times(pid: int) -> tuple[float, float]:
    """The time of the process itself, and of its children that it has reaped."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
    user, system, reaped_user, reaped_system = (int(field) / TICKS for field in fields)
    return user + system, reaped_user + reaped_system
