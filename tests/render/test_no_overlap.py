"""Text never covers text: axis labels, legends, tags, dense labels, tables, cards."""

import re
from dataclasses import replace

from tests.cases import in_one_test

import chartpact as cp
from chartpact import palette
from chartpact.render.look import Look
from chartpact.render.numberformat import MINUS
from chartpact.render.picture import compose
from chartpact.scene import Cell, HLinePlot, Label, LinePlot, Scene, Table

from .scenery import at, chart_of, flat_bars, gallery, overlaps, places

LOOKS = [Look(height=700), Look(width=480, height=320), Look(width=1600, height=1000)]
NAMES = [each.name for each in cp.list_indicators()]


@in_one_test("name", gallery.SCENES)
def test_no_text_of_a_scene_covers_another(name):
    for look in LOOKS:
        assert overlaps(compose(gallery.SCENES[name](), look)) == []


@in_one_test("first", range(0, len(NAMES), 6))
def test_no_text_of_builtins_and_an_error_card_covers_another(first):
    bars = cp.load("sample:es-5m")
    for look, last in ((Look(), 200), (Look(width=420, height=700), 60), (Look(width=900), 5)):
        chart = cp.chart(bars, [*NAMES[first : first + 6], "no_such_indicator"], last=last)
        assert overlaps(compose(chart, look)) == []


@in_one_test("sample", ["es-1m", "eurusd-15m", "btc-4h", "btc-1d"])
@in_one_test("tz", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_times_never_touch_at_any_number_of_bars(sample, tz):
    bars = cp.load(f"sample:{sample}")
    for last in (1, 2, 3, 8, 20, 50, 100, 300, 700, 1500, 5000):
        for width in (300, 1200):
            picture = compose(cp.chart(bars, last=last), Look(width=width, tz=tz))
            assert overlaps(picture) == []


def test_twenty_last_values_at_one_height_are_spread_or_left_out():
    plots = [LinePlot(values=[5.0 + i / 1000] * 10, title=f"value {i}") for i in range(20)]
    picture = compose(chart_of(Scene(plots=plots), overlay=False), Look())
    assert overlaps(picture) == []


def test_levels_at_one_height_are_named_once():
    plots = [HLinePlot(y=100.5, title=f"level {i}", color="red") for i in range(9)]
    picture = compose(chart_of(Scene(plots=plots)), Look())
    assert overlaps(picture) == []
    names = [words for _, words in places(picture) if re.fullmatch("level [0-9]", words)]
    assert 1 <= len(names) <= 2  # the legend has them all, with their values


def test_a_label_without_room_keeps_its_mark_and_loses_its_text():
    labels = [Label(id=i, x=at(i % 10), y=100.0, text=f"label number {i}") for i in range(500)]
    picture = compose(chart_of(Scene(labels=labels)), Look())
    assert overlaps(picture) == []
    shown = [words for _, words in places(picture) if words.startswith("label number")]
    assert 10 < len(shown) < 500
    assert "label number 499" in shown  # the newest one is placed first
    assert len([op for op in picture.ops if type(op).__name__ == "Circles"]) == 500 - len(shown)


def test_a_label_that_moved_is_tied_to_its_point():
    labels = [Label(id=i, x=at(5), y=100.0, text="three on one spot") for i in range(3)]
    picture = compose(chart_of(Scene(labels=labels), flat_bars(11)), Look())
    threads = [
        op
        for op in picture.ops
        if type(op).__name__ == "Shape" and op.stroke and op.stroke.color.startswith("#2962ff")
    ]
    assert len(threads) == 2
    assert len({thread.parts[0][0][0] for thread in threads}) == 1  # both start at the point


def test_every_text_lies_within_the_picture():
    for name, make in gallery.SCENES.items():
        picture = compose(make(), Look(width=700, height=420))
        for area, words in places(picture):
            inside = area.left >= 0 and area.right <= 700 and area.top >= -2 and area.bottom <= 422
            assert inside, f"{name}: {words!r} at {area}"


def _table(position: str, columns: int = 3, rows: int = 4) -> Table:
    cells = [
        Cell(id=row * columns + column, column=column, row=row, text=f"{position[:6]} {row}")
        for row in range(rows)
        for column in range(columns)
    ]
    return Table(id=1, position=position, columns=columns, rows=rows, cells=cells)


@in_one_test("look", [Look(width=640, height=400), Look(width=900, height=500)])
def test_nine_tables_share_a_pane_that_is_too_small_for_them(look):
    scene = Scene(tables=[_table(position) for position in palette.POSITIONS])
    picture = compose(chart_of(scene), look)
    said = [words for _, words in places(picture)]
    assert overlaps(picture) == []
    assert all(f"{position[:6]} 3" in said for position in palette.POSITIONS)


@in_one_test("position", palette.POSITIONS)
def test_a_table_as_high_as_its_pane_leaves_the_legend_alone(position):
    picture = compose(chart_of(Scene(tables=[_table(position, 9, 40)], label="Tall")), LOOKS[0])
    assert overlaps(picture) == []
    assert {"Tall", f"{position[:6]} 39"} <= {words for _, words in places(picture)}


def test_a_label_too_long_for_the_pane_is_shortened_and_still_read():
    many = [Label(id=i, x=at(i), y=100.5, text=f"here {i}") for i in range(0, 10, 3)]
    scene = Scene(labels=[Label(id=99, x=at(5), y=100.5, text="long " * 100), *many])
    said = [words for _, words in places(compose(chart_of(scene), LOOKS[0]))]
    assert [each for each in said if each.startswith("long long") and each.endswith("…")]


def test_the_title_ends_before_an_axis_of_long_numbers():
    seen = 0
    for width in range(400, 900, 12):
        picture = compose(cp.chart(flat_bars(price=3e12, tick_size=None)), Look(width=width))
        axis = max(area.left for area, words in places(picture) if words == "3,000,000,000,000")
        for area, words in places(picture):
            if words.endswith("%)"):
                seen += 1
                assert area.right < axis
    assert seen


def test_the_change_is_that_from_the_bar_before_also_where_it_is_out_of_view():
    bars = flat_bars()
    gapped = replace(bars, open=bars.open + 0.25)
    for last in (None, 1):
        picture = compose(cp.chart(gapped, last=last), Look())
        assert f"{MINUS}1.00 ({MINUS}0.99%)" in [words for _, words in places(picture)]


def test_a_fall_of_a_price_below_nought_is_told_as_a_fall():
    said = [words for _, words in places(compose(cp.chart(flat_bars(price=-11)), Look()))]
    assert f"{MINUS}1.00 ({MINUS}10.00%)" in said
