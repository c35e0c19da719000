"""Text never covers text: axis labels, legends, tags, dense labels, tables, cards."""

import pytest

import chartpact as cp
from chartpact.render.look import Look
from chartpact.render.picture import compose
from chartpact.scene import HLinePlot, Label, LinePlot, Scene

from .scenery import at, chart_of, flat_bars, gallery, overlaps, places

LOOKS = [Look(height=700), Look(width=480, height=320), Look(width=1600, height=1000)]
NAMES = [each.name for each in cp.list_indicators()]


@pytest.mark.parametrize("name", gallery.SCENES)
def test_no_text_of_a_scene_covers_another(name):
    for look in LOOKS:
        assert overlaps(compose(gallery.SCENES[name](), look)) == []


@pytest.mark.parametrize("first", range(0, len(NAMES), 6))
def test_no_text_of_builtins_and_an_error_card_covers_another(first):
    bars = cp.load("sample:es-5m")
    for look, last in ((Look(), 200), (Look(width=420, height=700), 60), (Look(width=900), 5)):
        chart = cp.chart(bars, [*NAMES[first : first + 6], "no_such_indicator"], last=last)
        assert overlaps(compose(chart, look)) == []


@pytest.mark.parametrize("sample", ["es-1m", "eurusd-15m", "btc-4h", "btc-1d"])
@pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Asia/Kathmandu"])
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
    assert 1 <= sum("level" in words for _, words in places(picture)) <= 2


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
