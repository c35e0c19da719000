"""Which users start in the slow lane: those whose recent jobs took long."""

from chartpact.cache import Cache

UNTRIED, GOOD = -1, 0
PROBATION = 10  # short jobs after a long one, until its user is in the quick lane again


class Probation:
    """The state of each user: untried, good, or the number of short jobs that are still owed."""

    def __init__(self, most_users: int = 10_000) -> None:
        self._owed: Cache[str, int] = Cache(most_users)

    def owed(self, user: str) -> int:
        owed = self._owed.get(user)
        return UNTRIED if owed is None else owed

    def took_long(self, user: str) -> None:
        self._owed.put(user, PROBATION)

    def was_short(self, user: str) -> None:
        self._owed.put(user, max(GOOD, self.owed(user) - 1))
