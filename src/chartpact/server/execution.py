"""Where the server's work is done: computing in worker processes, waiting on threads.

The event loop answers everybody, so it does neither. Each way is shared fairly among users.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from chartpact.work.failure import busy
from chartpact.work.io_threads import IoThreads
from chartpact.work.lanes import Workers

Answer = TypeVar("Answer")


class Execution:
    """The workers, and threads for the disk and for the network."""

    def __init__(self, workers: Workers, answer_seconds: float) -> None:
        self._workers = workers
        self._answer_seconds = answer_seconds
        self._network = IoThreads()
        self._disk = IoThreads(4)  # the database lets one write at a time

    async def compute(
        self, user: str, job: Callable[[], Answer], *, untrusted: bool = False
    ) -> Answer:
        """What a worker makes of the job, which is picklable."""
        answer: Future[Answer] = self._workers.submit(user, job, untrusted=untrusted)
        try:
            async with asyncio.timeout(self._answer_seconds):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            raise busy("the workers are busy") from None

    async def use_disk(self, user: str, work: Callable[[], Answer]) -> Answer:
        """What comes of work that waits for the disk."""
        return await asyncio.wrap_future(self._disk.submit(user, work))

    async def use_network(self, user: str, work: Callable[[], Answer]) -> Answer:
        """What comes of work that waits for the network."""
        return await asyncio.wrap_future(self._network.submit(user, work))
