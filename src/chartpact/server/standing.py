"""Who starts among the quick and who among the slow: by how long their last jobs took."""

import threading
from collections import OrderedDict

UNTRIED, GOOD = -1, 0
PROBATION = 10  # short jobs after a long one, until its user is among the quick again
MOST_USERS = 10_000


class Standing:
    """What is known of each user: untried, good, or so many short jobs away from that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owed: OrderedDict[str, int] = OrderedDict()

    def of(self, user: str) -> int:
        with self._lock:
            return self._owed.get(user, UNTRIED)

    def took_long(self, user: str) -> None:
        self._set(user, PROBATION)

    def was_short(self, user: str) -> None:
        self._set(user, max(GOOD, self.of(user) - 1))

    def _set(self, user: str, owed: int) -> None:
        with self._lock:
            self._owed[user] = owed
            self._owed.move_to_end(user)
            while len(self._owed) > MOST_USERS:
                self._owed.popitem(last=False)
