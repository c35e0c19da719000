"""What the workers are given to do in their tests; here because it must be importable there."""

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from chartpact.problem import Problem
from chartpact.work.failure import WorkFailed


def add(a: int, b: int) -> int:
    return a + b


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def wait_for(gate: Path) -> bool:
    """Goes on until somebody makes this file."""
    while not gate.exists():
        time.sleep(0.01)
    return True


def burn_and_wait_for(gate: Path, seconds: float) -> bool:
    burn(seconds)
    return wait_for(gate)


def die() -> None:
    os.kill(os.getpid(), 9)


def refuse() -> None:
    raise ValueError("not like this")


def fail() -> None:
    raise WorkFailed(Problem("busy", "not now", "later", line=3))


def who() -> int:
    return os.getpid()


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def fill(megabytes: int) -> int:
    return len(bytearray(megabytes * 2**20))


def set_aside(megabytes: int) -> int:
    """Takes address space without the right to write to it."""
    with mmap.mmap(-1, megabytes * 2**20, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE) as space:
        return len(space)


def read_parquet(rows: int) -> int:
    """Writes a file in memory and reads it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"close": [1.0] * rows}), sink)
    return pq.read_table(pa.BufferReader(sink.getvalue())).num_rows


KEPT: list[bytes] = []


def keep(megabytes: int) -> int:
    """Grows for good, and tells who did."""
    KEPT.append(b"x" * (megabytes * 2**20))
    return os.getpid()


def burn(seconds: float) -> float:
    """Uses so much processor time."""
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass
    return seconds


def have_burnt(seconds: float) -> None:
    """Has a process of its own use so much."""
    code = f"import time\nwhile time.process_time() < {seconds}: pass"
    subprocess.run([sys.executable, "-c", code], check=True)


SANDBOXES: list[Any] = []


def import_sandbox() -> None:
    """What a server's workers do before their first job."""
    import chartpact.sandbox.pool  # noqa: F401


def start_sandbox(planted: Path) -> float:
    """Starts one that has this module, and tells what processor time that took."""
    from chartpact.sandbox.pool import Pool
    from chartpact.work.cpu_time import cpu_s

    SANDBOXES.append(Pool(1, planted=planted))
    return cpu_s(SANDBOXES[-1].zygote().pid)
