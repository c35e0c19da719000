"""Worker processes for what takes processor time: admitted by cores, users in turn, ended in time.

The web process answers everybody, so it computes nothing itself. Each worker does one job at a
time; one that overstays is killed and replaced, and only its own job fails.
"""

import logging
import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing.connection import Connection
from typing import Any

from chartpact.script.sandbox.turns import Crowded, Turns

log = logging.getLogger(__name__)

Job = Callable[[], Any]  # picklable: a partial of a module's function


class WorkFailed(Exception):
    """A job without an answer: `kind` is busy, time or crash."""

    def __init__(self, kind: str, message: str, hint: str) -> None:
        super().__init__(f"{message}: {hint}")
        self.kind = kind
        self.message = message
        self.hint = hint


class Workers:
    """As many processes as there may be jobs at once; a context manager."""

    def __init__(self, count: int, *, wall_s: float = 20.0, most_waiting: int = 200) -> None:
        self._turns = Turns(count, most_waiting)
        self._wall_s = wall_s
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def submit(self, user: str, job: Job) -> "Future[Any]":
        """The job's answer to come. Exceptions of the job itself come back as they are."""
        answer: Future[Any] = Future()

        def granted() -> None:
            threading.Thread(target=self._serve, args=(user, job, answer), daemon=True).start()

        try:
            self._turns.ask(user, granted)
        except Crowded:
            raise WorkFailed("busy", "too many requests wait", "try again in a moment") from None
        return answer

    def warm(self, job: Job) -> None:
        """Starts every worker on this job, which nobody waits for, so that none starts cold."""
        for number in range(self._turns.turns):
            self.submit(f"worker {number}", job)

    def _serve(self, user: str, job: Job, answer: "Future[Any]") -> None:
        started = time.monotonic()
        try:
            if not answer.set_running_or_notify_cancel():
                return  # nobody waits for it any more
            try:
                worker = self._take()
            except WorkFailed as failure:
                answer.set_exception(failure)
                return
            except OSError as error:
                log.error("no worker could be started: %s", error)
                answer.set_exception(WorkFailed("busy", "no worker is free", "try again later"))
                return
            try:
                good, value = worker.do(job, self._wall_s)
            except WorkFailed as failure:
                worker.end()
                self._all.discard(worker)
                answer.set_exception(failure)
                return
            with self._lock:
                self._idle.append(worker)
            if good:
                answer.set_result(value)
            else:
                answer.set_exception(value)
        finally:
            self._turns.done(user, time.monotonic() - started)

    def _take(self) -> "_Worker":
        with self._lock:
            if self._closed:  # a job that waited for its turn must not start a worker now
                raise WorkFailed("busy", "the server is shutting down", "try again in a moment")
            if self._idle:
                return self._idle.pop()
            worker = _Worker()
            self._all.add(worker)
            return worker

    def close(self) -> None:
        """Ends every worker."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.end()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Worker:
    """One process and the pipe to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # the web process has threads: no fork
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs,), daemon=False)
        self._process.start()
        theirs.close()

    def do(self, job: Job, wall_s: float) -> tuple[bool, Any]:
        try:
            self._pipe.send(job)
            if self._pipe.poll(wall_s):
                answer: tuple[bool, Any] = self._pipe.recv()
                return answer
        except (EOFError, OSError):
            log.error("a worker died in the middle of a job")
            raise WorkFailed(
                "crash", "the computation crashed", "try again; if it happens again, report it"
            ) from None
        raise WorkFailed(
            "time", f"the computation took longer than {wall_s:g} s", "ask for fewer bars"
        )

    def end(self) -> None:
        self._pipe.close()  # an idle worker sees the end of its pipe, and goes
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _work(pipe: Connection) -> None:
    """What a worker process does: one job after the other, until its pipe is closed."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, which ends its workers
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = (True, job())
        except Exception as error:  # noqa: BLE001  (it belongs to whoever asked)
            answer = (False, error)
        try:
            pipe.send(answer)
        except OSError:
            return  # nobody is there to hear it
