"""A few processes that turn SVG into PNG, so that the GIL stays free while they draw."""

import sys
import threading
from functools import partial

from chartpact.render import raster
from chartpact.render.errors import RenderError
from chartpact.work.cores import count_cores
from chartpact.work.failure import WorkFailed
from chartpact.work.forks import after_fork
from chartpact.work.once import once_per_process
from chartpact.work.pool import WorkerPool
from chartpact.work.turns import Turns
from chartpact.work.worker import Done, Setup

MOST_WORKERS = 4
TIMEOUT_S = 60.0


class PicturePool:
    """Draws PNGs in other processes, `size` at once; they start with the first picture."""

    def __init__(self, size: int | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self._size = size or min(MOST_WORKERS, count_cores())
        self.timeout_s = timeout_s
        # resvg writes its panics to standard error: they come back as errors, and are not shown.
        self.workers = WorkerPool(Setup(silent=True), self._size, timeout_s)
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        self._turns = Turns(self._size, most_waiting=sys.maxsize)

    def png(self, svg: str) -> bytes:
        """The PNG of an SVG document."""
        with self._turns.hold():
            try:
                done = self._draw(svg)
            except WorkFailed as failure:
                if failure.kind != "crash":
                    slow = failure.kind == "time"
                    message = "the picture took too long to draw" if slow else str(failure)
                    raise RenderError(message) from None
                try:
                    done = self._draw(svg)  # it was killed from outside: a fresh worker may do
                except WorkFailed:
                    raise RenderError("the process that draws PNGs died twice") from None
        image: bytes = done.result()
        return image

    def _draw(self, svg: str) -> Done:
        with self.workers.lend() as worker:
            return worker.do(partial(raster.rasterize, svg), self.timeout_s)

    def close(self) -> None:
        """Ends the idle workers; a later picture starts new ones."""
        self.workers.end_idle()


process_pool = once_per_process(PicturePool)  # for callers that hand in none


def png(svg: str, pool: PicturePool | None = None) -> bytes:
    """The PNG of an SVG document, in another process if a thread of this one would have to wait.

    resvg holds the GIL for the whole picture.
    """
    if threading.active_count() > 1:
        return (pool or process_pool()).png(svg)
    return raster.rasterize(svg)
