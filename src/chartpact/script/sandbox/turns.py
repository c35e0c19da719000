"""Who may run next: as many at once as there are cores, users in turn, none with all of them."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable

User = str | None


class Crowded(Exception):
    """There is no room left to wait in."""


class Turns:
    """Hands out a fixed number of turns. A user who waits gets the next one before a user who
    already had one since; `None`, the local user, may take all of them, everybody else half, and
    a quarter of the room to wait in.
    """

    def __init__(self, turns: int, most_waiting: int = 1000) -> None:
        self.turns = turns
        self.per_user = max(1, turns // 2)
        self.most_waiting = most_waiting
        self._lock = threading.Lock()
        self._running: dict[User, int] = {}
        self._waiting: OrderedDict[User, deque[Callable[[], None]]] = OrderedDict()

    def ask(self, user: User, granted: Callable[[], None]) -> None:
        """Calls `granted`, at once or when it is this user's turn."""
        with self._lock:
            if not self._may_run(user) or self._waiting.get(user):
                queue = self._waiting.setdefault(user, deque())
                mine = user is not None and len(queue) >= max(4, self.most_waiting // 4)
                if mine or sum(map(len, self._waiting.values())) >= self.most_waiting:
                    if not queue:
                        del self._waiting[user]
                    raise Crowded
                queue.append(granted)
                return
            self._running[user] = self._running.get(user, 0) + 1
        granted()

    def withdraw(self, user: User, granted: Callable[[], None]) -> bool:
        """Stops waiting; False when the turn has been granted meanwhile."""
        with self._lock:
            queue = self._waiting.get(user)
            if queue is None or granted not in queue:
                return False
            queue.remove(granted)
            if not queue:
                del self._waiting[user]
            return True

    def done(self, user: User) -> None:
        """Gives a turn back, and to whom it goes."""
        with self._lock:
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]
            granted = self._next()
        if granted is not None:
            granted()

    def _may_run(self, user: User) -> bool:
        mine = self._running.get(user, 0)
        free = sum(self._running.values()) < self.turns
        return free and (user is None or mine < self.per_user)

    def _next(self) -> Callable[[], None] | None:
        for user in self._waiting:
            if self._may_run(user):
                queue = self._waiting[user]
                granted = queue.popleft()
                self._waiting.move_to_end(user)
                if not queue:
                    del self._waiting[user]
                self._running[user] = self._running.get(user, 0) + 1
                return granted
        return None
