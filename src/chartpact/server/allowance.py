"""How much one user may ask for in a minute (a token bucket for each user)."""

import threading
import time
from collections.abc import Callable

from chartpact.cache import Cache
from chartpact.problem import Failure, Problem

MOST_USERS = 100_000


class TooMuch(Failure):
    """The user has to wait; `retry_after_s` says how long."""

    def __init__(self, problem: Problem, retry_after_s: float = 1) -> None:
        super().__init__(problem)
        self.retry_after_s = retry_after_s


class Allowance:
    """A bucket for each user that refills evenly; a full one holds a minute's worth.

    What is not known beforehand is reserved, then settled. A bucket may so be in debt.
    """

    def __init__(
        self, what: str, per_minute: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._what = what
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: Cache[str, tuple[float, float]] = Cache(MOST_USERS)  # level, since when

    def spend(self, user: str, amount: float = 1) -> None:
        """Takes so much from the user's bucket, or says when there will be enough."""
        now = self._clock()
        with self._lock:
            level, since = self._buckets.get(user) or (self._per_minute, now)
            level = min(self._per_minute, level + (now - since) * self._per_minute / 60)
            enough = level >= amount
            self._buckets.put(user, (level - amount if enough else level, now))
        if enough:
            return
        wait_s = max(1, (min(amount, self._per_minute) - level) * 60 / self._per_minute)
        message = f"you may ask for {self._per_minute:g} {self._what} a minute"
        if amount > self._per_minute:
            message += f", and this is {amount:g}: ask for less"
        else:
            message += f": wait {wait_s:.0f} s, then go on"
        raise TooMuch(Problem("busy", message), wait_s)

    def reserve(self, user: str, amount: float) -> float:
        """Spends an estimate, a minute's worth at most, and returns how much that was."""
        amount = min(amount, self._per_minute)
        self.spend(user, amount)
        return amount

    def settle(self, user: str, reserved: float, used: float) -> None:
        """Corrects what was reserved to what was used."""
        with self._lock:
            level, since = self._buckets.get(user) or (self._per_minute, self._clock())
            self._buckets.put(user, (level + reserved - used, since))
