"""The builtins as the door sees them: a table of definitions, and the provider over it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chartpact.bars import Bars
from chartpact.indicators.params import Param
from chartpact.scene import HLinePlot, LinePlot, Scene


@dataclass(frozen=True)
class Builtin:
    """One builtin: its face to users, and the function that draws it."""

    name: str
    title: str
    category: str
    description: str
    draw: Callable[[Bars, Mapping[str, Any]], Scene]
    params: tuple[Param, ...] = ()
    aliases: tuple[str, ...] = ()
    source: str = "builtin"

    @property
    def overlay(self) -> bool:
        return self.category == "overlay"

    def compute(self, bars: Bars, params: Mapping[str, Any]) -> Scene:
        return self.draw(bars, params)


def _rsi(bars: Bars, params: Mapping[str, Any]) -> Scene:
    change = np.diff(bars.close, prepend=np.nan)
    gain = np.convolve(np.nan_to_num(change.clip(min=0)), np.ones(params["period"]), "same")
    loss = np.convolve(np.nan_to_num(-change.clip(max=0)), np.ones(params["period"]), "same")
    values = 100 * gain / np.maximum(gain + loss, 1e-12)
    return Scene(
        plots=(
            LinePlot(values=values, title="RSI", color="#7e57c2", width=2),
            HLinePlot(y=70, color="gray", style="dashed"),
            HLinePlot(y=30, color="gray", style="dashed"),
        ),
        y_range=(0, 100),
        label="RSI",
    )


_PERIOD = Param("period", "int", 14, min=1, max=5000, desc="Bars", aliases=("length",))
_TABLE = {
    "rsi": Builtin(
        "rsi", "Relative Strength Index", "panel", "Wilder's RSI.", _rsi, params=(_PERIOD,)
    )
}


class _Builtins:
    def find(self, name: str, user: str | None) -> Builtin | None:  # noqa: ARG002
        return _TABLE.get(name)

    def list(self, user: str | None) -> Iterable[Builtin]:  # noqa: ARG002
        return _TABLE.values()


provider = _Builtins()
