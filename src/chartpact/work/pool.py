"""Worker processes that are kept for the next job."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chartpact.work.failure import busy
from chartpact.work.forks import after_fork
from chartpact.work.worker import Setup, Worker

log = logging.getLogger(__name__)

START_S = 60.0


class WorkerPool:
    """Lends idle workers and starts new ones; at most `spare` stay idle.

    A worker that failed, died or has grown is ended rather than kept.
    """

    def __init__(self, setup: Setup, spare: int, start_s: float = START_S) -> None:
        self._setup = setup
        self._spare = spare
        self._start_s = start_s
        self._reset()
        after_fork(self.forget)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self.idle: list[Worker] = []
        self.workers: set[Worker] = set()
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Worker]:
        """A worker that is ready; it is ended if the block fails."""
        worker = self._take()
        try:
            worker.get_ready(self._start_s)
            yield worker
        except BaseException:
            self._drop(worker)
            raise
        with self._lock:
            kept = not worker.grown and len(self.idle) < self._spare and not self._closed
            if kept:
                self.idle.append(worker)
        if not kept:
            self._drop(worker)

    def _take(self) -> Worker:
        with self._lock:
            if self._closed:  # a job that waited for its turn must not start a worker now
                raise busy("this process is shutting down")
            while self.idle:
                worker = self.idle.pop()
                if worker.alive:
                    return worker
                self.workers.discard(worker)  # killed from outside while it was idle
                worker.end()
            try:
                worker = Worker(self._setup)
            except OSError as error:
                log.error("no worker could be started: %s", error)
                raise busy("no worker is free") from None
            self.workers.add(worker)
            return worker

    def _drop(self, worker: Worker) -> None:
        worker.end()
        with self._lock:
            self.workers.discard(worker)

    def end_idle(self) -> None:
        """Ends the workers that do nothing; the next job starts new ones."""
        with self._lock:
            idle, self.idle = self.idle, []
        for worker in idle:
            self._drop(worker)

    def close(self) -> None:
        """Ends every worker for good; jobs under way are lost."""
        with self._lock:
            self._closed = True
            workers = list(self.workers)
        for worker in workers:
            worker.end()

    def forget(self) -> None:
        """In a fork of the owner: starts with no workers."""
        for worker in self.workers:
            worker.process.forget()
        self._reset()
