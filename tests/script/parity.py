"""Whether two scenes are the same to whoever sees them or reads their numbers."""

from dataclasses import fields
from typing import cast

import numpy as np

from chartpact.scene import CHANNELS, DotPlot, Plot, Scene, Signals

NEAR = 1e-9


def assert_same(ours: Scene, theirs: Scene) -> None:
    assert [plot.kind for plot in ours.plots] == [plot.kind for plot in theirs.plots]
    for mine, other in zip(ours.plots, theirs.plots, strict=True):
        assert_same_plot(mine, other)
    mine, other = cast(Signals, ours.signals), cast(Signals, theirs.signals)
    assert np.array_equal(mine.bar, other.bar)
    assert np.array_equal(mine.confirmed_bar, other.confirmed_bar)
    assert mine.name == other.name
    assert np.allclose(mine.value, other.value, rtol=0, atol=NEAR)
    assert (ours.y_range, ours.label) == (theirs.y_range, theirs.label)
    for channel in CHANNELS:
        assert getattr(ours, channel) == getattr(theirs, channel)


def assert_same_plot(mine: Plot, other: Plot) -> None:
    assert type(mine) is type(other)
    if isinstance(mine, DotPlot) and isinstance(other, DotPlot):
        assert np.array_equal(mine.columns.x, other.columns.x)
        assert np.allclose(mine.columns.y, other.columns.y, rtol=0, atol=NEAR)
        assert np.array_equal(mine.columns.size, other.columns.size)
        assert mine.columns.label == other.columns.label
        assert (mine.title, mine.color) == (other.title, other.color)
        return
    for each in fields(mine):
        a, b = getattr(mine, each.name), getattr(other, each.name)
        if isinstance(a, np.ndarray):
            assert a.shape == b.shape, each.name
            if not np.array_equal(a, b, equal_nan=True):
                assert np.allclose(a, b, rtol=0, atol=NEAR, equal_nan=True), each.name
        elif isinstance(a, float):
            assert abs(a - b) <= NEAR, each.name
        else:
            assert a == b, each.name
