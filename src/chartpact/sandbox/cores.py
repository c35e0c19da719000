"""How many processors this process may use: by its affinity, and by its container's share of them.

A container that was given two of a host's sixty-four still sees them all.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def cores() -> int:
    """At least one; where nobody tells, just that."""
    seen = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return max(1, math.ceil(min([seen, *_shares()])))


def _shares() -> Iterator[float]:
    """What each control group round this process leaves it, in processors."""
    for group in _groups():
        with suppress(OSError, ValueError):  # most groups limit nothing
            most, period = (group / "cpu.max").read_text().split()
            yield int(most) / int(period)
        with suppress(OSError, ValueError):
            most, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in _FIRST_VERSION)
            if int(most) > 0:
                yield int(most) / int(period)


_FIRST_VERSION = ("quota", "period")


def _groups() -> Iterator[Path]:
    """The folder of every group it is in, the outermost last; some name what is mounted nowhere."""
    try:
        own = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in own:
        _, controllers, name = line.split(":", 2)
        homes = [GROUPS] if not controllers else []
        homes += [GROUPS / controllers] if "cpu" in controllers.split(",") else []
        for home in homes:
            group = home / name.lstrip("/")
            yield from (each for each in (group, *group.parents) if each.is_relative_to(home))
