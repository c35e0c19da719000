"""Bars that have been read before, kept by what exactly they were read from."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from chartpact.bars import Bars
from chartpact.bars.columns import COLUMNS

MOST_BYTES = 64 * 2**20


class Parsed:
    """The bars of files, so that a file is read once; those used longest ago leave first.

    A key says all that the bars depend on, and whose they are: what was read for one user is
    never looked at for another, who could tell by the clock that it was there.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: OrderedDict[Hashable, Bars] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, read: Callable[[], Bars]) -> Bars:
        """The bars of that key, read now unless they are at hand."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
                return self._held[key]
        bars = read()
        self._keep(key, bars)
        return bars

    def _keep(self, key: Hashable, bars: Bars) -> None:
        with self._lock:
            if key in self._held or _size(bars) > self._most_bytes:
                return
            self._held[key] = bars
            self._bytes += _size(bars)
            while self._bytes > self._most_bytes:
                _, gone = self._held.popitem(last=False)
                self._bytes -= _size(gone)


def _size(bars: Bars) -> int:
    return sum(getattr(bars, name).nbytes for name in COLUMNS)


shared = Parsed()  # in every process
