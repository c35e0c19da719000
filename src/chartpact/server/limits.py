"""How much one user may ask for in a minute."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable


class TooMuch(Exception):
    """The user has to wait; `retry_after_s` says how long."""

    def __init__(self, what: str, limit: float, amount: float, retry_after_s: float) -> None:
        advice = f": wait {retry_after_s:.0f} s, then go on"
        if amount > limit:
            advice = f", and this is {amount:g}: ask for less"
        super().__init__(f"you may ask for {limit:g} {what} a minute{advice}")
        self.retry_after_s = retry_after_s


class Allowance:
    """A bucket for each user that refills evenly; a full one holds a minute's worth."""

    def __init__(
        self, what: str, per_minute: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, user: str, amount: float = 1) -> None:
        """Takes so much from the user's bucket, or says when there will be enough."""
        now = self._clock()
        with self._lock:
            level, since = self._buckets.pop(user, (self._per_minute, now))
            level = min(self._per_minute, level + (now - since) * self._per_minute / 60)
            enough = level >= amount
            self._buckets[user] = (level - amount if enough else level, now)
            while len(self._buckets) > 100_000:
                self._buckets.popitem(last=False)
        if not enough:
            wait = (min(amount, self._per_minute) - level) * 60 / self._per_minute
            raise TooMuch(self._what, self._per_minute, amount, max(1, wait))
