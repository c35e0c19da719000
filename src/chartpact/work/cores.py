"""How many cores this process may use: by its affinity, and by the CPU quota of its container.

A container with a quota of two cores still sees all sixty-four of its host.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def count_cores() -> int:
    """At least one, also where the system does not say."""
    visible = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return max(1, math.ceil(min([visible, *_quotas()])))


def _quotas() -> Iterator[float]:
    """The quota of every control group around this process, in cores."""
    for group in _groups():
        with suppress(OSError, ValueError):  # most groups have none
            quota, period = (group / "cpu.max").read_text().split()
            yield int(quota) / int(period)
        with suppress(OSError, ValueError):  # the first version of control groups
            quota = (group / "cpu.cfs_quota_us").read_text()
            if int(quota) > 0:
                yield int(quota) / int((group / "cpu.cfs_period_us").read_text())


def _groups() -> Iterator[Path]:
    """The folder of every control group around this process; some of them do not exist."""
    try:
        memberships = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in memberships:
        _, controllers, name = line.split(":", 2)
        roots = [GROUPS] if not controllers else []
        roots += [GROUPS / controllers] if "cpu" in controllers.split(",") else []
        for root in roots:
            group = root / name.lstrip("/")
            yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(root))
