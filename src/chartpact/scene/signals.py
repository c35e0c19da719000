"""Signals: what labelled dots say, and the bar at which each could first be known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from chartpact.scene.fields import MaybeNumber, Text, Whole
from chartpact.scene.plots import DotPlot, Plot
from chartpact.scene.rows import Rows
from chartpact.scene.values import Value
from chartpact.textcolumn import TextColumn


@dataclass(frozen=True)
class Signal(Value):
    """A named event: `bar` is where it is drawn, `confirmed_bar` when it could first be known."""

    bar: Whole
    confirmed_bar: Whole
    value: MaybeNumber
    name: Text


class Signals(Rows[Signal]):
    """Signals as columns; a value of NaN is None."""

    record = Signal
    bar: NDArray[np.int64]
    confirmed_bar: NDArray[np.int64]
    value: NDArray[np.float64]
    name: TextColumn


def signals_of(plots: Iterable[Plot], lag: Mapping[str, int] = MappingProxyType({})) -> Signals:
    """The signals that labelled dots are, in the order of their bars.

    `lag` tells, by name, how many bars after its dot a signal could first be known.
    """
    dots = [plot.columns for plot in plots if isinstance(plot, DotPlot) and len(plot.points)]
    if not dots:
        return Signals()
    names = TextColumn.concat([each.label for each in dots])
    signal = np.array([each is not None for each in names.categories], np.bool_)
    kept = np.flatnonzero(signal[names.codes])
    bars = np.concatenate([each.x for each in dots])[kept]
    order = np.argsort(bars, kind="stable")
    kept, bars = kept[order], bars[order]
    labels = names.take(kept)
    later = np.array([lag.get(each or "", 0) for each in labels.categories], np.int64)
    known = bars + later[labels.codes]
    values = np.concatenate([each.y for each in dots])[kept]
    return Signals(bar=bars, confirmed_bar=known, value=values, name=labels)
