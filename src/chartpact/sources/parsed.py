"""The bars of files that were parsed before, so that a file is parsed once in each process.

A key says everything that the bars depend on, and whose they are: a hit on another user's file
would tell by the clock that it is there.
"""

from collections.abc import Hashable

from chartpact.bars import COLUMNS, Bars
from chartpact.cache import Cache

MOST_FILES = 1000
MOST_BYTES = 64 * 2**20


def count_bytes(bars: Bars) -> int:
    return sum(getattr(bars, name).nbytes for name in COLUMNS)


PARSED: Cache[Hashable, Bars] = Cache(MOST_FILES, weight=MOST_BYTES, weigh=count_bytes)
