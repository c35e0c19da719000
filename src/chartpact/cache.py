"""The one bounded cache, in which what was used longest ago leaves first, and its quick form."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """An LRU cache with a limit on entries and, given `weigh`, on their total weight.

    Entries older than `seconds` are not found. Threads may share a cache. A user's data has the
    user in its key: a hit under another user's key would tell them that it is there.

    >>> cache: Cache[str, int] = Cache(most=2)
    >>> for name in "abc":
    ...     cache.put(name, ord(name))
    >>> cache.get("a"), cache.get("c")
    (None, 99)
    """

    def __init__(
        self,
        most: int,
        *,
        weight: int | None = None,
        weigh: Callable[[V], int] = lambda _: 0,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._most_weight = weight
        self._weigh = weigh
        self._seconds = seconds
        self._clock = clock
        self._entries: OrderedDict[K, tuple[V, int, float]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        with self._lock:
            return self._find(key)

    def put(self, key: K, value: V) -> None:
        """Keeps a value under its key; one that is heavier than the whole cache is not kept."""
        weight = self._weigh(value)
        with self._lock:
            self._insert(key, value, weight)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made now unless it is there.

        Threads that make it at the same time all get the one that was ready first.
        """
        value = self.get(key)
        if value is not None:
            return value
        made = make()
        weight = self._weigh(made)
        with self._lock:
            value = self._find(key)
            if value is None:
                self._insert(key, made, weight)
                value = made
            return value

    def pop(self, key: K) -> V | None:
        """The value of a key, which leaves the cache."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._remove(key)
            return entry[0]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._weight = 0

    def __len__(self) -> int:
        return len(self._entries)

    def _find(self, key: K) -> V | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        value, _, born = entry
        if self._seconds is not None and self._clock() - born >= self._seconds:
            self._remove(key)
            return None
        self._entries.move_to_end(key)
        return value

    def _insert(self, key: K, value: V, weight: int) -> None:
        if key in self._entries:
            self._remove(key)
        if self._most_weight is not None and weight > self._most_weight:
            return
        self._entries[key] = value, weight, self._clock()
        self._weight += weight
        while len(self._entries) > self._most or (
            self._most_weight is not None and self._weight > self._most_weight
        ):
            self._remove(next(iter(self._entries)))

    def _remove(self, key: K) -> None:
        self._weight -= self._entries.pop(key)[1]


class Memo(dict[K, V]):
    """A function's values for inner loops: `memo[key]` costs what a lookup in a dict costs.

    It starts anew when the keys together weigh more than `most`.

    >>> lengths: Memo[str, int] = Memo(len, most=100)
    >>> lengths["abc"]
    3
    """

    def __init__(
        self, make: Callable[[K], V], *, most: int, weigh: Callable[[K], int] = lambda _: 1
    ) -> None:
        super().__init__()
        self._make, self._weigh = make, weigh
        self._most, self._weight = most, 0

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        self._weight += self._weigh(key)
        if self._weight > self._most:
            self.clear()
            self._weight = self._weigh(key)
        self[key] = value
        return value
