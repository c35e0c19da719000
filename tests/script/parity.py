"""Whether two scenes are the same to whoever sees them or reads their numbers."""

from dataclasses import fields

import numpy as np

from chartpact.scene import CHANNELS, DotPlot, Plot, Scene

NEAR = 1e-9


def assert_same(ours: Scene, theirs: Scene) -> None:
    assert [plot.kind for plot in ours.plots] == [plot.kind for plot in theirs.plots]
    for mine, other in zip(ours.plots, theirs.plots, strict=True):
        assert_same_plot(mine, other)
    assert [(s.bar, s.confirmed_bar, s.name) for s in ours.signals] == [
        (s.bar, s.confirmed_bar, s.name) for s in theirs.signals
    ]
    assert np.allclose(
        [s.value for s in ours.signals], [s.value for s in theirs.signals], rtol=0, atol=NEAR
    )
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
            assert np.array_equal(np.isnan(a), np.isnan(b)), each.name
            assert np.allclose(a, b, rtol=0, atol=NEAR, equal_nan=True), each.name
        elif isinstance(a, float):
            assert abs(a - b) <= NEAR, each.name
        else:
            assert a == b, each.name
