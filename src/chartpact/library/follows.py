"""What users follow: rows of one contract on one source, each read by one process at a time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from chartpact.clock.system import now_ms
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError
from chartpact.library.schema import (
    follows,
    journal_bodies,
    journal_changes,
    journal_checkpoints,
    journal_entries,
)
from chartpact.problem import Problem

MOST_FOLLOWS = 10  # of a user, on a server
MOST_SHELL_FOLLOWS = 100
LEAST_EVERY_MS = 5_000
LEASE_MS = 60_000
MOST_WAIT_MS = 300_000  # between two tries to read a source that fails
NEVER = 2**62  # when a paused follow is due
STALE_READS = 3  # intervals without a reading after which a follow is stale
SERVER, SHELL = "server", "shell"

_COLUMNS = follows.c
_JOURNAL = (journal_bodies, journal_entries, journal_changes, journal_checkpoints)


@dataclass(frozen=True)
class Follow:
    """One contract that is followed on one source."""

    user: str
    follow: int
    door: str  # server or shell
    contract: str
    asked: Mapping[str, Any]  # source, parameters and configuration
    every_ms: int
    created_at: int
    due_at: int
    lease_owner: str | None
    lease_until: int
    read_at: int | None
    failures: int
    error: str | None
    delivered: int

    @property
    def paused(self) -> bool:
        return self.due_at == NEVER

    @property
    def stale_since(self) -> int | None:
        """Since when nothing could be read, where that is long for its interval."""
        if self.paused:
            return None
        since = self.created_at if self.read_at is None else self.read_at
        passed_ms = now_ms() - since
        late = passed_ms > STALE_READS * self.every_ms + LEASE_MS
        # Before the last reading: the clock was set back.
        return since if late or self.failures or passed_ms < -LEASE_MS else None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.follow,
            "contract": self.contract,
            **self.asked,
            "every": self.every_ms / 1000,
            "created_at": self.created_at,
            "read_at": self.read_at,
            "paused": self.paused,
            "stale_since": self.stale_since,
            "error": self.error,
        }


class LostLease(RuntimeError):
    """Another process reads this follow now."""


class Follows:
    """The follows of all users in one database; no method looks beyond the user it is given."""

    def __init__(self, database: Database, most: int = MOST_FOLLOWS) -> None:
        self._database, self._most = database, most

    def add(
        self, user: str, contract: str, asked: Mapping[str, Any], every_ms: int, door: str = SERVER
    ) -> Follow:
        """Follows a contract; what is followed already, in the same way, is given back."""
        if every_ms < LEAST_EVERY_MS and door == SERVER:
            message = f"a chart is read every {LEAST_EVERY_MS // 1000} seconds at the most"
            raise LibraryError(Problem("value", message))
        text, now = json.dumps(asked, sort_keys=True), now_ms()
        with self._database.write(user) as connection:
            own = self._select(connection, _COLUMNS.user_id == user)
            for known in own:
                same = (known.door, known.contract) == (door, contract)
                if same and json.dumps(known.asked, sort_keys=True) == text:
                    connection.execute(_update(known, every_ms=every_ms))
                    return replace(known, every_ms=every_ms)
            most = self._most if door == SERVER else MOST_SHELL_FOLLOWS
            if sum(known.door == door for known in own) >= most:
                message = f"you follow {most} contracts, which is as many as you may"
                raise LibraryError(Problem("size", message, "end one with unfollow_state"))
            number = max((known.follow for known in own), default=0) + 1
            follow = Follow(
                user, number, door, contract, json.loads(text), every_ms, now, now, None, 0, None,
                0, None, 0,
            )  # fmt: skip
            values = {**follow.__dict__, "user_id": user, "asked_json": text}
            del values["user"], values["asked"]
            connection.execute(sa.insert(follows).values(values))
        return follow

    def of(self, user: str, door: str | None = None) -> Sequence[Follow]:
        with self._database.read() as connection:
            own = self._select(connection, _COLUMNS.user_id == user)
        return [follow for follow in own if door is None or follow.door == door]

    def get(self, user: str, number: int) -> Follow:
        for follow in self.of(user):
            if follow.follow == number:
                return follow
        raise LibraryError(Problem("name", f"you follow nothing under the number {number}"))

    def remove(self, user: str, number: int) -> None:
        """Ends a follow and deletes its journal."""
        follow = self.get(user, number)
        with self._database.write(user) as connection:
            for table in (*_JOURNAL, follows):
                connection.execute(sa.delete(table).where(*key(table, follow)))

    def pause(self, user: str, number: int, paused: bool) -> Follow:
        """Stops the readings of a follow, or lets them go on at once; its journal stays."""
        follow = self.get(user, number)
        if paused == follow.paused:
            return follow
        return self._note(follow, due_at=NEVER if paused else now_ms(), failures=0, error=None)

    # --------------------------------------------------------------------------------------- leases

    def due(self, user: str | None = None, most: int = 100) -> Sequence[Follow]:
        """The follows of servers that should be read now and that nobody reads, oldest first."""
        now = now_ms()
        # Further away than any wait: the clock was set back meanwhile.
        waits = sa.case((_COLUMNS.every_ms > MOST_WAIT_MS, _COLUMNS.every_ms), else_=MOST_WAIT_MS)
        back = sa.and_(_COLUMNS.due_at < NEVER, _COLUMNS.due_at - waits > now)
        free = [sa.or_(_COLUMNS.due_at <= now, back), _is_free(now), _COLUMNS.door == SERVER]
        free += [_COLUMNS.user_id == user] if user is not None else []
        with self._database.read() as connection:
            return self._select(connection, *free, order=_COLUMNS.due_at)[:most]

    def lease(self, follow: Follow, owner: str) -> Follow:
        """Takes the right to read a follow, or keeps it; raises where another process has it."""
        now = now_ms()
        with self._database.write(follow.user) as connection:
            free = sa.or_(_COLUMNS.lease_owner == owner, _is_free(now))
            taken = {"lease_owner": owner, "lease_until": now + LEASE_MS}
            query = sa.update(follows).where(*key(follows, follow), free).values(taken)
            if connection.execute(query).rowcount == 0:
                raise LostLease(f"another process reads the follow {follow.follow}")
            return self._select(connection, *key(follows, follow))[0]

    def release(self, follow: Follow, owner: str) -> None:
        with self._database.write(follow.user) as connection:
            query = _update(follow, lease_until=0, lease_owner=None)
            connection.execute(query.where(_COLUMNS.lease_owner == owner))

    def fail(self, follow: Follow, error: str) -> Follow:
        """Notes that a source could not be read; the next try waits longer."""
        failures = follow.failures + 1
        wait = min(follow.every_ms * 2 ** min(failures, 10), max(MOST_WAIT_MS, follow.every_ms))
        due = due_after(now_ms() + wait)
        return self._note(follow, failures=failures, error=error[:500], due_at=due)

    def deliver(self, follow: Follow, change: int) -> Follow:
        """Notes that a change, and all before it, have been delivered."""
        return self._note(follow, delivered=change)

    def _note(self, follow: Follow, **values: Any) -> Follow:
        with self._database.write(follow.user) as connection:
            connection.execute(_update(follow, **values))
            return (self._select(connection, *key(follows, follow)) or [follow])[0]

    def _select(
        self, connection: sa.Connection, *where: sa.ColumnElement[bool], order: Any = None
    ) -> list[Follow]:
        order = _COLUMNS.follow if order is None else order
        rows = connection.execute(sa.select(follows).where(*where).order_by(order))
        return [_make(row) for row in rows]


def key(table: sa.Table, follow: Follow) -> tuple[sa.ColumnElement[bool], ...]:
    """Selects the rows of one follow."""
    return table.c.user_id == follow.user, table.c.follow == follow.follow


def _is_free(now: int) -> sa.ColumnElement[bool]:
    """Whether nobody has the lease. One beyond the longest is older than a clock set back."""
    return sa.or_(_COLUMNS.lease_until <= now, _COLUMNS.lease_until > now + LEASE_MS)


def due_after(time_ms: int) -> sa.ColumnElement[int]:
    """The time of the next reading, or NEVER if the follow was paused."""
    return sa.case((_COLUMNS.due_at == NEVER, NEVER), else_=time_ms)


def _update(follow: Follow, **values: Any) -> sa.Update:
    return sa.update(follows).where(*key(follows, follow)).values(values)


def _make(row: sa.Row[Any]) -> Follow:
    user, number, door, contract, asked, *rest = tuple(row)
    return Follow(user, number, door, contract, json.loads(asked), *rest)
