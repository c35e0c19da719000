"""Bars and scenes cross the boundary without loss."""

from typing import Any

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact import palette
from chartpact.bars import Bars
from chartpact.catalogue import list_indicators
from chartpact.sandbox import memory_files, packing, wire
from chartpact.scene import (
    Anchor,
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    Box,
    CandlesPlot,
    Cell,
    DivLinePlot,
    DotPlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    Label,
    Line,
    Linefill,
    LinePlot,
    Mark,
    Points,
    Polyline,
    Scene,
    ShapePlot,
    Signals,
    Table,
    Vertex,
)
from chartpact.script.limits import TABLE_CELLS


def crossed(scene: Scene) -> Scene:
    """The scene after it went into a packet and came out of it."""
    columns: list[wire.Column] = []
    document = packing.pack_scene(scene, columns)
    return packing.unpack_scene(*wire.decode(b"".join(wire.encode(document, columns))))


BARS = cp.load("sample:es-5m").last(700)
LOCAL = [each.name for each in list_indicators() if each.category != "external"]


@in_one_test("name", LOCAL)
def test_what_a_builtin_draws_crosses_unchanged(name: str) -> None:
    scene = cp.indicator(name)(BARS)
    assert crossed(scene).to_json() == scene.to_json()


def test_every_kind_of_plot_and_object_crosses_unchanged() -> None:
    series = np.array([1.0, np.nan, 3.5])
    place, later = Anchor(0, 0, 1_700_000_000_000), Anchor(2, 2, None)
    scene = Scene(
        plots=[
            LinePlot(values=series, title="ä\n", color=("#ff0000ff", None, "#00ff00ff"), width=2),
            LinePlot(values=series, ahead=series[:2], style="stepline"),
            BarsPlot(values=series, base=-1.5, color="auto"),
            FillPlot(a=series, b=-series, alpha=0, a_ahead=[1.0], b_ahead=[2.0]),
            DotPlot(points=Points(x=[0, 2], y=[1, 2], size=[3, 4], label=["buy", None])),
            DotPlot(points=Points(x=[], y=[])),
            DotPlot(points=Points(x=[1, 1], y=[1, 2], label="x"), color=("red", "blue")),
            ShapePlot(points=[Mark(0), Mark(2, 1.5, "b")], color=("red", None), size="huge"),
            CandlesPlot(open=series, high=series, low=series, close=series),
            CandlesPlot(
                open=series,
                high=series,
                low=series,
                close=series,
                color=("red", None, "blue"),
                wick_color="gray",
                border_color=("red",) * 3,
            ),
            BackgroundPlot(color=("red", None, None)),
            BarColorPlot(color="#12345678", title="x"),
            ShapePlot(points=[Mark(1)], shape="labelup", location="top", text_color="red"),
            HLinePlot(y=50, style="dashed"),
            HLinePlot(y=51, provisional=True),
            LinePlot(values=series, provisional=True),
            HBarPlot(y=1, height=2, width=0.5, offset=0.1, side="right"),
            DivLinePlot(x1=0, y1=1, x2=2, y2=0.5, style="dotted"),
        ],
        signals=Signals(bar=[0, 2], confirmed_bar=[1, 2], value=[np.nan, 2], name=["a", "b"]),
        labels=[Label(id=1, x=place, y=None, text="<&>", size=14, tooltip="\u2028")],
        lines=[Line(id=2, x1=place, y1=1, x2=later, y2=2, extend="both")],
        boxes=[Box(id=3, left=place, top=2, right=later, bottom=1, bgcolor=None)],
        tables=[
            Table(id=4, position="top_left", columns=1, rows=1, cells=[Cell(id=5, column=0, row=0)])
        ],
        polylines=[
            Polyline(id=6, points=[Vertex(0, 1_700_000_000_000, 1.5), Vertex(7, None, 2)]),
            Polyline(id=7, points=[], curved=True, line_color=None),
            Polyline(id=8, points=[Vertex(1, None, -0.5)], closed=True, provisional=True),
        ],
        linefills=[Linefill(id=9, line1=2, line2=2, color=None)],
        y_range=(-1, 1),
        label="label",
        limits={"labels": 50},
        evicted={"labels": 3},
    )
    assert crossed(scene).to_json() == scene.to_json()
    assert crossed(Scene()).to_json() == Scene().to_json()


def test_a_series_that_plots_share_crosses_once_and_is_shared_again() -> None:
    series = np.arange(5.0)
    series.flags.writeable = False
    columns: list[wire.Column] = []
    scene = Scene(plots=[LinePlot(values=series), FillPlot(a=series, b=series)])
    document = packing.pack_scene(scene, columns)
    assert [document["plots"][1][name] for name in "ab"] == [document["plots"][0]["values"]] * 2
    assert sum(len(column) == 5 for column in columns) == 1


def test_more_words_than_a_byte_counts_cross_too() -> None:
    names = tuple(f"signal {i % 300}" for i in range(1000))
    bars = np.arange(1000)
    scene = Scene(signals=Signals(bar=bars, confirmed_bar=bars, value=bars, name=names))
    assert crossed(scene).signals == scene.signals


def test_bars_cross_unchanged() -> None:
    for bars in (BARS, BARS.last(0), Bars([0], [1], [1], [1], [1], [np.nan])):
        columns: list[wire.Column] = [np.zeros(3)]
        document = packing.pack_bars(bars, columns)
        found, read = wire.decode(b"".join(wire.encode(document, columns)))
        assert packing.unpack_bars(found, read) == bars


@in_one_test("counts", [[2, 0, 3], [2, 0], [-1, 3, 2], [2.0, 0, 2], [True, 1, 2]])
def test_plots_take_the_dots_there_are_and_all_of_them(counts: list[Any]) -> None:
    scene = Scene(
        plots=tuple(
            DotPlot(points=Points(x=np.arange(count), y=np.arange(count), label=name))
            for count, name in ((2, "a"), (0, "b"), (2, "c"))
        )
    )
    columns: list[wire.Column] = []
    packet = b"".join(wire.encode(packing.pack_scene(scene, columns), columns))
    document, columns = wire.decode(packet)
    assert packing.unpack_scene(document, columns) == scene
    document["plots"] = [{"kind": "dot", "points": count, "color": "red"} for count in counts]
    with pytest.raises(wire.WireError):
        packing.unpack_scene(document, columns)


@in_one_test("counts", [[2, 0, 3], [2, 0], [-1, 3, 2], [2.0, 0, 2], [True, 1, 2]])
def test_polylines_take_the_points_there_are_and_all_of_them(counts: list[Any]) -> None:
    points = [Vertex(1, None, 1.0), Vertex(2, None, 2.0)]
    scene = Scene(polylines=[Polyline(id=k, points=points[:k]) for k in (2, 0, 2)])
    columns: list[wire.Column] = []
    packet = b"".join(wire.encode(packing.pack_scene(scene, columns), columns))
    document, columns = wire.decode(packet)
    assert packing.unpack_scene(document, columns) == scene
    at = list(Polyline.field_types).index("points")
    document["polylines"][at] = counts
    with pytest.raises(wire.WireError):
        packing.unpack_scene(document, columns)


def test_a_scene_keeps_little_more_of_its_packet_than_it_is_made_of() -> None:
    columns: list[wire.Column] = []
    document = packing.pack_scene(Scene(plots=(LinePlot(values=np.arange(50.0)),)), columns)
    for extra, kept in (([], 400), ([np.zeros(20)], 400 + 160), ([np.zeros(5000)], 400)):
        packet = b"".join(wire.encode(document, [*columns, *extra]))
        found, numbers = wire.decode(memoryview(packet)[:])
        owner = packing.unpack_scene(found, numbers).plots[0].values  # type: ignore[attr-defined]
        np.testing.assert_array_equal(owner, np.arange(50.0))
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        assert memoryview(owner).nbytes <= kept


def test_nine_full_tables_are_not_too_many_values_for_an_answer() -> None:
    cells = tuple(
        Cell(number, number % 40, number // 40, f"a, [{number}]") for number in range(TABLE_CELLS)
    )
    tables = tuple(
        Table(number, position, 40, TABLE_CELLS // 40, cells=cells)
        for number, position in enumerate(palette.POSITIONS)
    )
    packed = wire.encode(packing.pack_scene(Scene(tables=tables), []))
    assert not wire.has_more_values(bytes(packed[0]), memory_files._MOST_VALUES)
