"""A fair queue: a fixed number of turns at once, shared among users by the time they have used."""

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from heapq import nlargest

User = str | None

MOST_ACCOUNTS = 1000


class Crowded(Exception):
    """The queue is full, or no turn came in time."""


class Turns:
    """Grants a fixed number of turns; the next one goes to the waiting user who has spent least.

    A user may have half of the turns and a quarter of the queue. `None`, the local user, may have
    all of both.
    """

    def __init__(self, turns: int, most_waiting: int = 1000) -> None:
        self.turns = turns
        self.per_user = max(1, turns // 2)
        self.most_waiting = most_waiting
        self._lock = threading.Lock()
        self._running: dict[User, int] = {}
        self._waiting: OrderedDict[User, deque[Callable[[], None]]] = OrderedDict()
        self._spent: dict[User, float] = {}
        self._level = 0.0  # what the user of the last turn had spent: where newcomers start

    @property
    def free(self) -> bool:
        """Whether a turn is unused."""
        with self._lock:
            return sum(self._running.values()) < self.turns

    @contextmanager
    def hold(self, user: User = None, patience_s: float | None = None) -> Iterator[None]:
        """Waits for a turn, and ends it after the block; it costs the time that the block takes."""
        turn = threading.Event()
        self.ask(user, turn.set)
        try:
            in_time = turn.wait(patience_s)
        except BaseException:  # the caller was interrupted
            if not self.withdraw(user, turn.set):
                self.done(user, 0.0)
            raise
        if not in_time and self.withdraw(user, turn.set):
            raise Crowded(f"no turn came free within {patience_s:g} s")
        started = time.monotonic()
        try:
            yield
        finally:
            self.done(user, time.monotonic() - started)

    def ask(self, user: User, granted: Callable[[], None]) -> None:
        """Calls `granted` when the user's turn comes, which may be now."""
        with self._lock:
            if not self._may_run(user) or self._waiting.get(user):
                queued = len(self._waiting.get(user, ()))
                user_is_full = user is not None and queued >= max(4, self.most_waiting // 4)
                if user_is_full or sum(map(len, self._waiting.values())) >= self.most_waiting:
                    raise Crowded("too many runs are waiting")
                self._open_account(user)
                self._waiting.setdefault(user, deque()).append(granted)
                return
            self._open_account(user)
            self._start(user)
        granted()

    def withdraw(self, user: User, granted: Callable[[], None]) -> bool:
        """Leaves the queue; False if the turn was granted meanwhile."""
        with self._lock:
            queue = self._waiting.get(user)
            if queue is None or granted not in queue:
                return False
            queue.remove(granted)
            if not queue:
                del self._waiting[user]
            return True

    def done(self, user: User, spent: float = 1.0) -> None:
        """Ends a turn that cost so much, and grants it to the next user."""
        with self._lock:
            self._spent[user] += spent
            self._running[user] -= 1
            if not self._running[user]:
                del self._running[user]
            granted = self._next()
            self._close_accounts()
        if granted is not None:
            granted()

    def _open_account(self, user: User) -> None:
        """Idle time earns no credit; debt is kept."""
        if user not in self._running and user not in self._waiting:
            self._spent[user] = max(self._spent.get(user, 0.0), self._level)

    def _may_run(self, user: User) -> bool:
        if sum(self._running.values()) >= self.turns:
            return False
        return user is None or self._running.get(user, 0) < self.per_user

    def _next(self) -> Callable[[], None] | None:
        ready = [user for user in self._waiting if self._may_run(user)]
        if not ready:
            return None
        user = min(ready, key=self._spent.__getitem__)  # of equals, the one who waits longest
        queue = self._waiting[user]
        granted = queue.popleft()
        self._waiting.move_to_end(user)
        if not queue:
            del self._waiting[user]
        self._start(user)
        return granted

    def _start(self, user: User) -> None:
        """Raises the level for newcomers, so that turns nobody else wanted make no debt."""
        self._level = max(self._level, self._spent[user])
        self._running[user] = self._running.get(user, 0) + 1

    def _close_accounts(self) -> None:
        """Bounds the accounts of absent users to the largest debts; an idle queue forgets all."""
        if not self._running and not self._waiting:
            self._spent.clear()
            self._level = 0.0
        elif len(self._spent) > MOST_ACCOUNTS:
            present = self._running.keys() | self._waiting.keys()
            debtors = [
                user
                for user, spent in self._spent.items()
                if user not in present and spent > self._level
            ]
            largest = nlargest(MOST_ACCOUNTS // 2, debtors, key=self._spent.__getitem__)
            self._spent = {user: self._spent[user] for user in (*present, *largest)}
