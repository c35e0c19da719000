"""Who may run next: as many at once as there are cores, users in turn, none with all of them."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from heapq import nlargest

User = str | None


class Crowded(Exception):
    """There is no room left to wait in."""


class Turns:
    """Hands out a fixed number of turns. Of those who wait, the next one goes to the user who has
    spent least, so that long turns cost their own user; `None`, the local user, may take all of
    them, everybody else half, and a quarter of the room to wait in.
    """

    def __init__(self, turns: int, most_waiting: int = 1000) -> None:
        self.turns = turns
        self.per_user = max(1, turns // 2)
        self.most_waiting = most_waiting
        self._lock = threading.Lock()
        self._running: dict[User, int] = {}
        self._waiting: OrderedDict[User, deque[Callable[[], None]]] = OrderedDict()
        self._spent: dict[User, float] = {}
        self._level = 0.0  # what the last to get a turn had spent: where newcomers start

    @property
    def free(self) -> bool:
        """Whether there is a turn that nobody has."""
        with self._lock:
            return sum(self._running.values()) < self.turns

    def ask(self, user: User, granted: Callable[[], None]) -> None:
        """Calls `granted`, at once or when it is this user's turn."""
        with self._lock:
            if not self._may_run(user) or self._waiting.get(user):
                waiting = len(self._waiting.get(user, ()))
                mine = user is not None and waiting >= max(4, self.most_waiting // 4)
                if mine or sum(map(len, self._waiting.values())) >= self.most_waiting:
                    raise Crowded
                self._arrives(user)
                self._waiting.setdefault(user, deque()).append(granted)
                return
            self._arrives(user)
            self._starts(user)
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

    def done(self, user: User, spent: float = 1.0) -> None:
        """Gives a turn back that cost so much, and hands it to whoever is next."""
        with self._lock:
            self._spent[user] += spent
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]
            granted = self._next()
            self._forget()
        if granted is not None:
            granted()

    def _arrives(self, user: User) -> None:
        """Who was away has saved up nothing meanwhile, and owes what they owed."""
        if user not in self._running and user not in self._waiting:
            self._spent[user] = max(self._spent.get(user, 0.0), self._level)

    def _may_run(self, user: User) -> bool:
        mine = self._running.get(user, 0)
        free = sum(self._running.values()) < self.turns
        return free and (user is None or mine < self.per_user)

    def _next(self) -> Callable[[], None] | None:
        ready = [user for user in self._waiting if self._may_run(user)]
        if not ready:
            return None
        user = min(ready, key=self._spent.__getitem__)  # the longest waiting of those who tie
        queue = self._waiting[user]
        granted = queue.popleft()
        self._waiting.move_to_end(user)
        if not queue:
            del self._waiting[user]
        self._starts(user)
        return granted

    def _starts(self, user: User) -> None:
        """Whoever comes later starts here, so turns that nobody else wanted make no debts."""
        self._level = max(self._level, self._spent[user])
        self._running[user] = self._running.get(user, 0) + 1

    def _forget(self) -> None:
        """Of users who are gone, keeps account of who owes most; all start afresh when idle."""
        if not self._running and not self._waiting:
            self._spent.clear()
            self._level = 0.0
        elif len(self._spent) > 1000:
            here = self._running.keys() | self._waiting.keys()
            gone = [
                user
                for user, spent in self._spent.items()
                if user not in here and spent > self._level
            ]
            owing = nlargest(500, gone, key=self._spent.__getitem__)
            self._spent = {user: self._spent[user] for user in (*here, *owing)}
