"""Signals: the names of labelled dots, and the bar at which each could first be known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from chartpact.drawing.fieldtypes import Price, Text, Whole
from chartpact.drawing.record import Record
from chartpact.drawing.recordarray import RecordArray
from chartpact.scene.plots import DotPlot, Plot
from chartpact.textcolumn import TextColumn


@dataclass(frozen=True)
class Signal(Record):
    """A named event: `bar` is where it is drawn, `confirmed_bar` when it could first be known."""

    bar: Whole
    confirmed_bar: Whole
    value: Price
    name: Text


class Signals(RecordArray[Signal]):
    """Signals as columns; a value of NaN is None."""

    record = Signal
    bar: NDArray[np.int64]
    confirmed_bar: NDArray[np.int64]
    value: NDArray[np.float64]
    name: TextColumn


def signals_of(plots: Iterable[Plot], lag: Mapping[str, int] = MappingProxyType({})) -> Signals:
    """The signals of labelled dots, in the order of their bars.

    `lag` says, by name, how many bars after its dot a signal could first be known.
    """
    dots = [plot.columns for plot in plots if isinstance(plot, DotPlot) and len(plot.points)]
    if not dots:
        return Signals()
    names = TextColumn.concat([points.label for points in dots])
    is_signal = np.array([name is not None for name in names.categories], np.bool_)
    rows = np.flatnonzero(is_signal[names.codes])
    bars = np.concatenate([points.x for points in dots])[rows]
    order = np.argsort(bars, kind="stable")
    rows, bars = rows[order], bars[order]
    names = names.take(rows)
    lags = np.array([lag.get(name or "", 0) for name in names.categories], np.int64)
    values = np.concatenate([points.y for points in dots])[rows]
    return Signals(bar=bars, confirmed_bar=bars + lags[names.codes], value=values, name=names)
