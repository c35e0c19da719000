"""Dots and signals are kept as columns, and read as the records they stand for."""

import json

import numpy as np
import pytest

from chartpact.scene import (
    DivLinePlot,
    DotPlot,
    LinePlot,
    Point,
    Points,
    Scene,
    SceneError,
    Signal,
    Signals,
)


def test_rows_read_as_a_sequence_of_their_records():
    points = Points(x=np.array([1, 4]), y=[10.5, 20.5], size=6, label="buy")
    assert len(points) == 2
    assert points[0] == Point(1, 10.5, 6, "buy")
    assert points[-1] == Point(4, 20.5, 6, "buy")
    assert list(points) == [Point(1, 10.5, 6, "buy"), Point(4, 20.5, 6, "buy")]
    assert points[1:] == (Point(4, 20.5, 6, "buy"),)
    with pytest.raises(IndexError):
        points[2]


def test_rows_made_of_records_equal_rows_made_of_columns():
    records = (Point(1, 2.0, 3, None), Point(2, 4.0, 3, "sell"))
    assert Points.of_records(records) == Points(
        x=[1, 2], y=[2.0, 4.0], size=3, label=[None, "sell"]
    )
    assert DotPlot(points=records).points == records


def test_rows_refuse_what_their_records_refuse():
    with pytest.raises(SceneError, match=r"Point\.y: .*nan"):
        Points(x=[1], y=[np.nan])
    with pytest.raises(SceneError, match=r"Point\.x: 1\.5 is not a whole number"):
        Points(x=[1.5], y=[1.0])
    with pytest.raises(SceneError, match=r"Point\.size: .*less than 0"):
        Points(x=[1], y=[1.0], size=-1)
    with pytest.raises(SceneError, match=r"Point\.label: 5 is not a text"):
        Points(x=[1], y=[1.0], label=[5])
    with pytest.raises(SceneError, match="1 values for 2 rows"):
        Points(x=[1, 2], y=[1.0])
    with pytest.raises(SceneError, match="is not a Point"):
        DotPlot(points=["x"])
    with pytest.raises(SceneError, match="unknown field 'colour'"):
        Points(x=[1], y=[1.0], colour="red")


def test_rows_survive_json_with_nan_as_null():
    signals = Signals(bar=[3, 5], confirmed_bar=[5, 5], value=[1.25, np.nan], name=["a", "b"])
    scene = Scene(plots=(DotPlot(points=(Point(3, 1.25, 2, "a"),)),), signals=signals)
    data = json.loads(json.dumps(scene.to_json(), allow_nan=False))
    assert data["signals"][1] == {"bar": 5, "confirmed_bar": 5, "value": None, "name": "b"}
    assert data["plots"][0]["points"] == [{"x": 3, "y": 1.25, "size": 2, "label": "a"}]
    assert Scene.from_json(data) == scene


def test_no_rows_are_rows_too():
    assert len(Points()) == 0
    assert Scene().signals == ()
    assert Points(x=np.array([], dtype=np.int64), y=np.array([])).to_json() == []


def test_a_signal_that_became_known_after_the_cut_is_kept_although_its_dot_is_gone():
    dots = DotPlot(points=Points(x=[1, 2], y=[1.0, 1.0], label=["old", "divergence"]))
    signals = Signals(
        bar=[1, 2], confirmed_bar=[2, 5], value=[1.0, 1.0], name=["old", "divergence"]
    )
    cut = Scene(plots=(dots,), signals=signals).cut(4)
    assert cut.signals == (Signal(-2, 1, 1.0, "divergence"),)
    assert cut.plots[0].points == ()


def test_a_cut_scene_counts_its_dots_and_signals_anew():
    scene = Scene(
        plots=(
            DotPlot(points=Points(x=[1, 4], y=[1.0, 2.0]), color=("#ff0000ff", "#00ff00ff")),
            DivLinePlot(x1=0, y1=1, x2=2, y2=2),
            DivLinePlot(x1=1, y1=1, x2=5, y2=2),
        ),
        signals=(Signal(1, 2, 1.0, "early"), Signal(4, 6, None, "late")),
    )
    cut = scene.cut(3)
    assert cut.signals == (Signal(1, 3, None, "late"),)
    assert cut.plots[0].points == (Point(1, 2.0),)
    assert cut.plots[0].color == ("#00ff00ff",)
    assert [(p.x1, p.x2) for p in cut.plots[1:]] == [(-2, 2)]  # the other ended before the cut


def test_a_series_that_nobody_can_change_is_shared_and_any_other_is_copied():
    own = np.array([1.0, 2.0])
    plot = LinePlot(values=own)
    own[0] = 9
    assert plot.values.tolist() == [1.0, 2.0]
    window = own[:]
    window.flags.writeable = False  # still a view of what can change
    plot = LinePlot(values=window)
    own[1] = 9
    assert plot.values.tolist() == [9.0, 2.0]
    own.flags.writeable = False
    assert LinePlot(values=own).values is own
    whole = np.array([1, 2])
    assert LinePlot(values=whole).values.dtype == np.float64
    assert whole.flags.writeable
