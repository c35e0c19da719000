"""Work that takes processor time: in worker processes, admitted by cores, users in turn.

The web process answers everybody, so it computes nothing itself. A worker that overstays or wants
too much memory is replaced, and only its own job fails.

There are two lanes. A job that has used a quarter of a second makes room for others in the quick
lane, and its user's next jobs start in the slow lane, whose workers give way to everybody else's,
until they are short again.
"""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from typing import Any

from chartpact.sandbox.turns import Crowded, Turns
from chartpact.server.standing import GOOD, UNTRIED, Standing
from chartpact.server.worker import Bounds, Job, Worker, WorkFailed

log = logging.getLogger(__name__)

BEHIND = 5  # the niceness of the slow lane: a third of what others get
QUIET_S = 10.0  # after the start, until a slow worker is started too


@dataclass(frozen=True)
class Task:
    """A user's job, and the answer to come."""

    user: str
    job: Job
    untrusted: bool
    answer: "Future[Any]" = field(default_factory=Future)


class Outcome(Enum):
    """What a task told of its user."""

    SHORT = auto()
    LONG = auto()
    NONE = auto()


class Workers:
    """As many processes in either lane as there may be jobs at once; a context manager.

    `prepare` is what every worker does first, before anybody waits for it.
    """

    def __init__(
        self,
        count: int,
        *,
        prepare: Job | None = None,
        most_waiting: int = 200,
        bounds: Bounds | None = None,
    ) -> None:
        self._bounds = bounds or Bounds()
        self._quick, self._slow = (
            _Lane(Turns(count, most_waiting), partial(Worker, prepare, behind), self._bounds)
            for behind in (0, BEHIND)
        )
        self._standing = Standing()
        self._later: threading.Timer | None = None

    def submit(self, user: str, job: Job, *, untrusted: bool = False) -> "Future[Any]":
        """The job's answer to come. Exceptions of the job itself come back as they are.

        An untrusted job runs what its user wrote, which may be meant to take long.
        """
        task = Task(user, job, untrusted)
        try:
            self._enter(self._lane_of(task), task)
        except Crowded:
            raise _crowded() from None
        return task.answer

    def warm(self, slow: Job | None = None, after_s: float = QUIET_S) -> None:
        """Starts the quick workers, so that the first to ask need not wait for them.

        A slow one is started a while later, and does the job `slow`: else everybody would feel it
        start when the first slow script comes.
        """
        for number in range(self._quick.turns.turns):
            user = f"worker {number}"
            self._quick.turns.ask(user, partial(_in_a_thread, self._quick.start_one, user))
        if slow is not None:
            task = Task("slow worker", slow, untrusted=True)
            self._later = threading.Timer(after_s, self._enter, (self._slow, task))
            self._later.daemon = True
            self._later.start()

    def _lane_of(self, task: Task) -> "_Lane":
        owed = self._standing.of(task.user)
        on_trial = owed == UNTRIED and task.untrusted and not self._quick.turns.free
        return self._slow if owed > GOOD or on_trial else self._quick

    def _enter(self, lane: "_Lane", task: Task) -> None:
        lane.turns.ask(task.user, partial(self._granted, lane, task))

    def _granted(self, lane: "_Lane", task: Task) -> None:
        if lane is self._slow:
            _in_a_thread(self._serve_slowly, task)
        elif self._standing.of(task.user) <= GOOD:
            _in_a_thread(self._serve_quickly, task)
        else:  # jobs of its user have been long since it was asked for
            lane.turns.done(task.user, 0)
            try:
                self._enter(self._slow, task)
            except Crowded:
                if task.answer.set_running_or_notify_cancel():
                    task.answer.set_exception(_crowded())

    def _serve_quickly(self, task: Task) -> None:
        started = time.monotonic()
        moving = False

        def leave() -> None:
            self._quick.turns.done(task.user, time.monotonic() - started)

        def overran(long: bool) -> None:
            nonlocal moving
            if long:
                self._standing.took_long(task.user)
            with suppress(Crowded):  # then it stays where it is
                self._slow.turns.ask(task.user, leave)
                moving = True

        try:
            self._note(task, self._quick.serve(task, overran))
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

    def _note(self, task: Task, outcome: Outcome) -> None:
        # A job without scripts proves nothing about a user whose scripts are untried.
        telling = task.untrusted or self._standing.of(task.user) != UNTRIED
        if outcome is Outcome.LONG:
            self._standing.took_long(task.user)
        elif outcome is Outcome.SHORT and telling:
            self._standing.was_short(task.user)

    def close(self) -> None:
        """Ends every worker."""
        if self._later is not None:
            self._later.cancel()
        for lane in (self._quick, self._slow):
            lane.close()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _crowded() -> WorkFailed:
    return WorkFailed("busy", "too many requests wait", "try again in a moment")


def _in_a_thread(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


class _Lane:
    """Turns, and the workers that serve whoever has one."""

    def __init__(self, turns: Turns, start: Callable[[int], Worker], bounds: Bounds) -> None:
        self.turns = turns
        self._start = start
        self._bounds = bounds
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._closed = False

    def start_one(self, user: str) -> None:
        """Has one more worker ready, in this user's turn."""
        try:
            self._give_back(self._taken())
        except WorkFailed as failure:
            log.error("no worker is ready: %s", failure)
        finally:
            self.turns.done(user)

    def serve(self, task: Task, overran: Callable[[bool], None]) -> Outcome:
        """Answers the task; `overran` is called when it is to make room for others."""
        answer = task.answer
        if not answer.set_running_or_notify_cancel():
            return Outcome.NONE  # nobody waits for it any more
        try:
            worker = self._taken()
            try:
                done = worker.do(task.job, self._bounds, overran)
            except BaseException:
                self._drop(worker)
                raise
        except WorkFailed as failure:
            answer.set_exception(failure)
            return Outcome.LONG if failure.kind == "time" else Outcome.NONE
        if done.grown:
            self._drop(worker)
        else:
            self._give_back(worker)
        if done.good:
            answer.set_result(done.value)
        else:
            answer.set_exception(done.value)
        return Outcome.LONG if done.long else Outcome.SHORT

    def _taken(self) -> Worker:
        """A worker that is ready, of those there are or a new one."""
        with self._lock:
            if self._closed:  # a job that waited for its turn must not start a worker now
                raise WorkFailed("busy", "the server is shutting down", "try again in a moment")
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                self._all.discard(worker)  # killed from outside while it waited
            try:
                worker = self._start(self._bounds.memory_mb)
            except OSError as error:
                log.error("no worker could be started: %s", error)
                raise WorkFailed("busy", "no worker is free", "try again later") from None
            self._all.add(worker)
        try:
            worker.get_ready(self._bounds.wall_s)
        except BaseException:
            self._drop(worker)
            raise
        return worker

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            # Who made room for others kept a worker meanwhile; one to spare will do.
            surplus = len(self._idle) > self.turns.turns
            if not surplus:
                self._idle.append(worker)
        if surplus:
            self._drop(worker)

    def _drop(self, worker: Worker) -> None:
        worker.end()
        with self._lock:
            self._all.discard(worker)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.end()
