"""The time that the layout of one picture may take."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from chartpact.render.errors import RenderError

LAYOUT_S = 5.0  # of processor time, so that a loaded host refuses no more than an idle one

T = TypeVar("T")


class Deadline:
    """Ends a layout that takes too long, wherever it asks: texts are cheap to send, dear to set."""

    def __init__(self, seconds: float = LAYOUT_S) -> None:
        self._end = time.thread_time() + seconds

    def check(self) -> None:
        if time.thread_time() > self._end:
            message = "the picture took too long to lay out"
            raise RenderError(message, "draw fewer objects or bars", kind="time")

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """The items, with a look at the clock before each."""
        for item in items:
            self.check()
            yield item
