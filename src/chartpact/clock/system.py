"""The clock of the machine."""

import time


def now_ms() -> int:
    """UTC milliseconds."""
    return time.time_ns() // 1_000_000
