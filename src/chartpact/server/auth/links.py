"""The one-time link by which the local user signs in for the first time."""

import time
from collections.abc import Callable

from chartpact.server.auth.secret import digest, equal, new_secret

LASTS_S = 600.0


class SignInLink:
    """One key at a time, in this process alone; it is good for ten minutes, and once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._digest = ""
        self._ends = 0.0

    def make(self) -> str:
        key = new_secret("cpl_")
        self._digest, self._ends = digest(key), self._clock() + LASTS_S
        return key

    def use(self, key: str) -> bool:
        """Whether it is the key, and in time; it is good no more afterwards."""
        if not self._digest or self._clock() >= self._ends or not equal(digest(key), self._digest):
            return False
        self._digest = ""
        return True
