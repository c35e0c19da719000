"""How much one user may ask for in a minute (a token bucket for each user)."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa

from chartpact.cache import Cache
from chartpact.library.database import Database
from chartpact.library.schema import allowances
from chartpact.problem import Failure, Problem

MOST_USERS = 100_000
LOAN = 0.05  # of a minute's worth, which a process takes from a shared bucket at once
LOAN_S = 10.0  # after which what is left of a loan is forfeited
FORGOTTEN_MS = 3_600_000  # by then a bucket is full again
MILLI = 1000  # levels are stored in thousandths


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
        self.what = what
        self.per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: Cache[str, tuple[float, float]] = Cache(MOST_USERS)  # level, since when

    def spend(self, user: str, amount: float = 1) -> None:
        """Takes so much from the user's bucket, or says when there will be enough."""
        now = self._clock()
        with self._lock:
            level, since = self._buckets.get(user) or (self.per_minute, now)
            level = min(self.per_minute, level + (now - since) * self.per_minute / 60)
            enough = level >= amount
            self._buckets.put(user, (level - amount if enough else level, now))
        if not enough:
            raise self.refuse(amount, level)

    def refuse(self, amount: float, level: float) -> TooMuch:
        """Tells how long to wait for so much, where the bucket is at that level."""
        wait_s = max(1, (min(amount, self.per_minute) - level) * 60 / self.per_minute)
        message = f"you may ask for {self.per_minute:g} {self.what} a minute"
        if amount > self.per_minute:
            message += f", and this is {amount:g}: ask for less"
        else:
            message += f": wait {wait_s:.0f} s, then go on"
        return TooMuch(Problem("busy", message), wait_s)

    def settle(self, user: str, reserved: float, used: float) -> None:
        """Corrects what was reserved to what was used."""
        with self._lock:
            level, since = self._buckets.get(user) or (self.per_minute, self._clock())
            self._buckets.put(user, (level + reserved - used, since))


class Ledger:
    """The buckets of all processes on a database. Hosts have to agree about the time."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._threads = ThreadPoolExecutor(4, "allowances")

    async def borrow(
        self, bucket: str, per_minute: float, wanted: float, least: float
    ) -> tuple[float, float]:
        """(tokens taken, level before); takes 0 if fewer than `least` are left."""
        loop = asyncio.get_running_loop()
        change = (bucket, per_minute, wanted, least)
        return await loop.run_in_executor(self._threads, self.take, *change)

    def take(
        self, bucket: str, per_minute: float, wanted: float, least: float
    ) -> tuple[float, float]:
        """As `borrow`; a negative loan is given back."""
        now, row = int(self._clock() * 1000), allowances.c
        full = int(per_minute * MILLI)
        with self._database.write(bucket) as connection:
            self._database.allow_loss(connection)
            query = sa.select(row.level, row.at).where(row.bucket == bucket)
            bucket_row = connection.execute(query).first()
            level, since = (full, now) if bucket_row is None else (bucket_row.level, bucket_row.at)
            level = min(full, level + max(0, now - since) * full // 60_000)
            enough = level >= least * MILLI
            taken = min(level, int(wanted * MILLI)) if enough else 0
            values = {"level": level - taken, "at": now}
            connection.execute(
                sa.insert(allowances).values(bucket=bucket, **values)
                if bucket_row is None
                else sa.update(allowances).where(row.bucket == bucket).values(values)
            )
        return taken / MILLI, level / MILLI

    def purge(self) -> None:
        """Forgets buckets that are full again."""
        late = int(self._clock() * 1000) - FORGOTTEN_MS
        with self._database.write(None) as connection:
            free = sa.select(allowances.c.bucket).where(allowances.c.at <= late)
            gone = allowances.c.bucket.in_(free.with_for_update(skip_locked=True))
            connection.execute(sa.delete(allowances).where(gone))

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)  # waits for open connections


class LoanMeter:
    """An allowance of this process, or with a ledger of all processes on the database.

    A process borrows a part of a minute's worth at a time, so that few calls wait for the ledger.
    """

    def __init__(
        self, allowance: Allowance, ledger: Ledger | None, buckets: str | None = None
    ) -> None:
        self._allowance = allowance
        self._buckets = buckets or allowance.what  # their name in the ledger
        self._ledger = ledger
        self._loans: Cache[str, tuple[float, float]] = Cache(MOST_USERS)  # left, since when

    async def spend(self, user: str, amount: float = 1) -> None:
        """Takes so much from the user's bucket, or says when there will be enough."""
        if self._ledger is None:
            self._allowance.spend(user, amount)
            return
        missing = amount - self._left(user)
        if missing > 0:
            per_minute = self._allowance.per_minute
            bucket = f"{self._buckets} of {user}"
            wanted = max(missing, LOAN * per_minute)
            taken, level = await self._ledger.borrow(bucket, per_minute, wanted, missing)
            if taken < missing - 1 / MILLI:
                raise self._allowance.refuse(amount, level)
            self._add(user, taken)
        self._add(user, -amount)

    async def reserve(self, user: str, amount: float) -> float:
        """Spends an estimate, a minute's worth at most, and returns how much that was."""
        amount = min(amount, self._allowance.per_minute)
        await self.spend(user, amount)
        return amount

    def settle(self, user: str, reserved: float, used: float) -> None:
        """Corrects what was reserved to what was used; the next loan is larger by a debt."""
        if self._ledger is None:
            self._allowance.settle(user, reserved, used)
        else:
            self._add(user, reserved - used)

    def settle_loss(self, user: str, reserved: float, used: float) -> None:
        """Settles work that took too long, or that nobody waited for.

        It costs what it had used when it was ended, and what was reserved at least. Work that was
        not begun has used 0 and costs nothing.
        """
        self.settle(user, reserved, max(used, reserved) if used else 0.0)

    def _left(self, user: str) -> float:
        left, since = self._loans.get(user) or (0.0, 0.0)
        return min(left, 0.0) if time.monotonic() - since > LOAN_S else left

    def _add(self, user: str, amount: float) -> None:
        self._loans.put(user, (self._left(user) + amount, time.monotonic()))
