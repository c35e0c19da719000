"""What a picture is drawn from: bars, and what indicators drew on them."""

from collections.abc import Sequence
from typing import Protocol

from chartpact.bars import Bars
from chartpact.scene import Drawn


class Chart(Protocol):
    """The bars in view, the bars before them too where they are known, and the indicators."""

    @property
    def bars(self) -> Bars: ...
    @property
    def history(self) -> Bars | None: ...
    @property
    def drawn(self) -> Sequence[Drawn]: ...
