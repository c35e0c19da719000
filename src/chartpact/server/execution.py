"""Where the server's work is done: computing in worker processes, waiting on threads.

The event loop answers everybody, so it does neither. Each way is shared fairly among users.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from chartpact.problem import Failure
from chartpact.server.metrics import Metrics
from chartpact.work.failure import busy
from chartpact.work.io_threads import IoThreads
from chartpact.work.lanes import QueuedJob, Workers

Answer = TypeVar("Answer")


class Execution:
    """The workers, and threads for the disk and for the network."""

    def __init__(self, workers: Workers, answer_seconds: float, metrics: Metrics) -> None:
        self._workers = workers
        self._answer_seconds = answer_seconds
        self._metrics = metrics
        self._network = IoThreads()
        self._disk = IoThreads(4)  # the database lets one write at a time

    async def compute(
        self,
        user: str,
        job: Callable[[], Answer],
        *,
        untrusted: bool = False,
        patient: bool = False,
        on_loss: Callable[[float], None] = lambda _: None,
    ) -> Answer:
        """Runs a picklable job in a worker. `patient` jobs yield to others.

        `on_loss` is told the processor seconds of a job that ended without an answer. That may be
        after whoever asked has left.
        """
        outcome, loop = "crash", asyncio.get_running_loop()

        def note_loss(ended: Future[Any]) -> None:
            assert isinstance(ended, QueuedJob)
            if (ended.cancelled() or ended.exception() is not None) and not loop.is_closed():
                loop.call_soon_threadsafe(on_loss, ended.cpu_s)

        try:
            try:
                pending = self._workers.submit(user, job, untrusted=untrusted, patient=patient)
            except Failure:
                on_loss(0.0)
                raise
            pending.add_done_callback(note_loss)
            try:
                async with asyncio.timeout(self._answer_seconds):
                    answer: Answer = await asyncio.wrap_future(pending)
            except TimeoutError:
                pending.leave()
                raise busy("the workers are busy") from None
            except asyncio.CancelledError:
                outcome = "left"
                pending.leave()  # whoever asked is gone: the work is stopped
                raise
            finally:
                # Its exception holds this frame, and the body of the request: a cycle, which would
                # keep them until the collector comes by.
                del pending
            outcome = "ok"
            return answer
        except Failure as failure:
            outcome = failure.kind
            raise
        finally:
            self._metrics.count_run(outcome)

    def count_sandboxes(self, starts: int, losses: int) -> None:
        """Counts sandboxes that a job started, and those that were lost in the middle of it."""
        self._metrics.add("chartpact_sandbox_starts_total", amount=starts)
        self._metrics.add("chartpact_sandbox_restarts_total", amount=losses)

    async def use_disk(self, user: str, work: Callable[[], Answer]) -> Answer:
        """Runs work that waits for the disk, in a thread."""
        return await asyncio.wrap_future(self._disk.submit(user, work))

    async def use_network(self, user: str, work: Callable[[], Answer]) -> Answer:
        """Runs work that waits for the network, in a thread."""
        return await asyncio.wrap_future(self._network.submit(user, work))
