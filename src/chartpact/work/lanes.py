"""Jobs of many users in worker processes, in two lanes.

A job that has used a quarter of a second of processor time makes room in the quick lane. The next
jobs of its user start in the slow lane, whose workers are nicer, until they are short again. A
patient job starts there in any case.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from chartpact.cache import Cache
from chartpact.problem import Problem
from chartpact.work.cpu_time import cpu_s
from chartpact.work.failure import WorkFailed, busy
from chartpact.work.pool import WorkerPool
from chartpact.work.turns import Crowded, Turns
from chartpact.work.worker import Done, Job, Setup, Worker

log = logging.getLogger(__name__)

SLOW_LANE_NICENESS = 5  # its jobs get a third of the processor time of others
SLOW_START_DELAY_S = 10.0  # from the first worker's start to the slow worker's
NO_HISTORY, TRUSTED = -1, 0
PROBATION = 10  # short jobs after a long one, until its user is in the quick lane again
FIRST_LOOK_SHARE = 0.4  # of a short job's time; most jobs are done by then, and go unmeasured


@dataclass(frozen=True)
class Bounds:
    """What one job may use, and when it counts as long."""

    wall_s: float = 20.0
    memory_mb: int = 1024
    short_s: float = 0.25  # of processor time
    patience_s: float = 1.0  # of wall time, until a job makes room for others in any case


class QueuedJob(Future[Any]):
    """The future of a job's answer; `cpu_s` is the processor time it was seen to use meanwhile."""

    left = False
    cpu_s = 0.0

    def leave(self) -> None:
        """Nobody waits for the answer any more: the job is not begun, or is ended soon."""
        self.left = True
        self.cancel()


@dataclass(frozen=True)
class Task:
    """A user's job, and the future of its answer."""

    user: str
    job: Job
    untrusted: bool = False
    patient: bool = False
    answer: "QueuedJob" = field(default_factory=QueuedJob)
    asked_at: float = field(default_factory=time.monotonic)


class Workers:
    """Two lanes of `count` turns each; a context manager.

    `prepare` is what every worker does first, before its first job. `advice` tells users whose job
    was too large what to ask for instead. `on_start` is told how long each job waited.
    """

    def __init__(
        self,
        count: int,
        *,
        prepare: Job | None = None,
        most_waiting: int = 200,
        bounds: Bounds | None = None,
        environment: Mapping[str, str] | None = None,
        advice: str = "ask for less",
        on_start: Callable[[float], None] = lambda _: None,
    ) -> None:
        limits = bounds or Bounds()
        self._quick, self._slow = (
            _Lane(
                Turns(count, most_waiting),
                Setup(prepare, limits.memory_mb, niceness, environment, advice=advice),
                limits,
                on_start,
            )
            for niceness in (0, SLOW_LANE_NICENESS)
        )
        self._probation = Probation()
        self._later: threading.Timer | None = None
        self._starting: set[str] = set()

    def submit(
        self, user: str, job: Job, *, untrusted: bool = False, patient: bool = False
    ) -> QueuedJob:
        """The future of the job's answer; exceptions of the job come back as they are.

        An untrusted job runs code of its user, who may mean it to take long. A patient job may take
        long, and makes none of its user's other jobs wait.
        """
        task = Task(user, job, untrusted, patient)
        try:
            self._enter(self._lane_of(task), task)
        except Crowded:
            raise _too_many_wait() from None
        return task.answer

    def warm(self, slow: Job | None = None, after_s: float = SLOW_START_DELAY_S) -> None:
        """Starts the quick workers before the first job, and a slow one a while later.

        The slow worker does the job `slow`. Otherwise everybody would notice its start when the
        first long job comes.
        """
        for number in range(self._quick.turns.turns):
            user = f"worker {number}"
            self._starting.add(user)
            self._quick.turns.ask(user, partial(_in_thread, self._start_quick, user))
        if slow is not None:
            task = Task("slow worker", slow, untrusted=True)
            self._later = threading.Timer(after_s, self._enter, (self._slow, task))
            self._later.daemon = True
            self._later.start()

    def _start_quick(self, user: str) -> None:
        try:
            self._quick.start_worker(user)
        finally:
            self._starting.discard(user)

    @property
    def ready(self) -> bool:
        """Whether every worker that `warm` starts at once has started."""
        return not self._starting

    def _lane_of(self, task: Task) -> "_Lane":
        owed = self._probation.owed(task.user)
        on_trial = owed == NO_HISTORY and task.untrusted and not self._quick.turns.free
        return self._slow if task.patient or owed > TRUSTED or on_trial else self._quick

    def _enter(self, lane: "_Lane", task: Task) -> None:
        lane.turns.ask(task.user, partial(self._grant, lane, task))

    def _grant(self, lane: "_Lane", task: Task) -> None:
        if lane is self._slow:
            _in_thread(self._serve_slowly, task)
        elif self._probation.owed(task.user) <= TRUSTED:
            _in_thread(self._serve_quickly, task)
        else:  # another job of this user was seen to be long while this one waited
            lane.turns.done(task.user, 0)
            try:
                self._enter(self._slow, task)
            except Crowded:
                if task.answer.set_running_or_notify_cancel():
                    task.answer.set_exception(_too_many_wait())

    def _serve_quickly(self, task: Task) -> None:
        started = time.monotonic()
        moving = False

        def leave() -> None:
            self._quick.turns.done(task.user, time.monotonic() - started)

        def make_room(long: bool) -> None:
            nonlocal moving
            if long:
                self._probation.took_long(task.user)
            with suppress(Crowded):  # then it stays where it is
                self._slow.turns.ask(task.user, leave)
                moving = True

        try:
            self._note(task, self._quick.serve(task, make_room))
        finally:
            moved = moving and not self._slow.turns.withdraw(task.user, leave)
            lane = self._slow if moved else self._quick
            lane.turns.done(task.user, time.monotonic() - started)

    def _serve_slowly(self, task: Task) -> None:
        started = time.monotonic()
        try:
            self._note(task, self._slow.serve(task, lambda _: None))
        finally:
            self._slow.turns.done(task.user, time.monotonic() - started)

    def _note(self, task: Task, long: bool | None) -> None:
        if task.patient:
            return
        # A trusted job proves nothing about a user whose own code is untried.
        proves = task.untrusted or self._probation.owed(task.user) != NO_HISTORY
        if long:
            self._probation.took_long(task.user)
        elif long is not None and proves:
            self._probation.was_short(task.user)

    def close(self) -> None:
        """Ends every worker."""
        if self._later is not None:
            self._later.cancel()
        for lane in (self._quick, self._slow):
            lane.pool.close()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _too_many_wait() -> WorkFailed:
    return busy("too many requests wait")


def _in_thread(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


class Probation:
    """The state of each user: NO_HISTORY, TRUSTED, or how many short jobs are still owed."""

    def __init__(self, most_users: int = 10_000) -> None:
        self._owed: Cache[str, int] = Cache(most_users)

    def owed(self, user: str) -> int:
        owed = self._owed.get(user)
        return NO_HISTORY if owed is None else owed

    def took_long(self, user: str) -> None:
        self._owed.put(user, PROBATION)

    def was_short(self, user: str) -> None:
        self._owed.put(user, max(TRUSTED, self.owed(user) - 1))


class _Lane:
    """Turns, and the workers for those who have one."""

    def __init__(
        self, turns: Turns, setup: Setup, bounds: Bounds, on_start: Callable[[float], None]
    ) -> None:
        self._on_start = on_start
        self.turns = turns
        self.bounds = bounds
        # A job that made room for others keeps its worker, so one more may be idle than turns.
        self.pool = WorkerPool(setup, turns.turns + 1)

    def start_worker(self, user: str) -> None:
        """Has one more worker ready, in this user's turn."""
        try:
            with self.pool.lend():
                pass
        except WorkFailed as failure:
            if failure.kind != "busy":  # else the server ends, or the pool has logged the reason
                log.error("no worker is ready: %s", failure)
        finally:
            self.turns.done(user)

    def serve(self, task: Task, make_room: Callable[[bool], None]) -> bool | None:
        """Answers the task; calls `make_room` when it is to leave its turn to others.

        Returns whether the job was long, None if it did not get that far.
        """
        answer = task.answer
        if not answer.set_running_or_notify_cancel():
            return None  # the caller has given up
        self._on_start(time.monotonic() - task.asked_at)
        try:
            with self.pool.lend() as worker:
                done, long = self._do(worker, task, make_room)
        except WorkFailed as failure:
            answer.set_exception(failure)
            return True if failure.kind == "time" else None
        except BaseException as error:
            answer.set_exception(error)
            raise
        if done.good:
            answer.set_result(done.value)
        else:
            answer.set_exception(done.value)
        return long

    def _do(
        self, worker: Worker, task: Task, make_room: Callable[[bool], None]
    ) -> tuple[Done, bool]:
        """The answer, and whether the job was long.

        It is to make room once: with True if it has used more than a short job does, with False if
        it has merely waited for long.
        """
        bounds, started = self.bounds, time.monotonic()
        made_room = long = False
        worker.start(task.job, bounds.wall_s)
        if not worker.poll(FIRST_LOOK_SHARE * bounds.short_s):
            pid, rest_s = worker.process.pid, (1 - FIRST_LOOK_SHARE) * bounds.short_s
            # Living helper processes are left out: this job may merely be the first to need them.
            before = cpu_s(pid, helpers=False)
            task.answer.cpu_s = FIRST_LOOK_SHARE * bounds.short_s  # at most, before this look
            answered = False
            while not answered:
                answered = worker.poll(rest_s)
                used_s = cpu_s(pid, helpers=False) - before
                task.answer.cpu_s = max(
                    task.answer.cpu_s, FIRST_LOOK_SHARE * bounds.short_s + used_s
                )
                if task.answer.left and not answered:
                    raise WorkFailed(Problem("left", "nobody waits for the answer any more"))
                long = long or used_s >= rest_s
                waited = time.monotonic() - started
                if not (answered or made_room) and (long or waited > bounds.patience_s):
                    made_room = True
                    make_room(long)
        return worker.finish(), long
