"""The time that the layout of one picture may take."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from chartpact.render.errors import RenderError

LAYOUT_S = 30.0

T = TypeVar("T")


class Deadline:
    """Ends a layout that takes too long, wherever it asks: texts are cheap to send, dear to set."""

    def __init__(self, seconds: float = LAYOUT_S) -> None:
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise RenderError("the picture took too long to lay out: draw fewer objects or bars")

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """The items, with a look at the clock before each."""
        for item in items:
            self.check()
            yield item
