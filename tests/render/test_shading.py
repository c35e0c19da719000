"""Sessions are shaded where a picture is asked for it."""

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.render import RenderError, shading
from chartpact.render.display import Rects
from chartpact.render.look import Look
from chartpact.render.picture import compose
from chartpact.render.theme import DARK
from chartpact.ta import wallclock

from .scenery import flat_bars


@pytest.fixture(scope="module")
def es():
    return cp.load("sample:es-5m").last(600)


@pytest.mark.parametrize("text", ["0930-1600", "0930-1600 America/New_York"])
def test_what_lies_outside_the_hours_is_shaded(es, text):
    shaded = shading.shaded(es, text, "UTC")
    hour = wallclock.hour(es.time, "America/New_York")
    minute = wallclock.minute(es.time, "America/New_York")
    clock = hour * 100 + minute
    np.testing.assert_array_equal(shaded, (clock < 930) | (clock >= 1600))


def test_the_zone_may_be_another(es):
    np.testing.assert_array_equal(
        shading.shaded(es, "0800-0900 UTC", "Asia/Tokyo"), es.time // 3_600_000 % 24 != 8
    )


def test_a_symbol_whose_day_has_no_zone_goes_by_the_zone_of_the_axis():
    bars = flat_bars(300, step_ms=300_000, timeframe="5m")
    assert bars.day_roll == "UTC midnight"
    tokyo, there = (shading.shaded(bars, *how) for how in (
        ("0900-1500", "Asia/Tokyo"), ("0900-1500 Asia/Tokyo", "UTC")
    ))  # fmt: skip
    np.testing.assert_array_equal(tokyo, there)
    assert 0 < tokyo.sum() < 300


def test_days_shade_every_second_trading_day(es):
    shaded = shading.shaded(es, "days", "UTC")
    days = np.unique(es.trading_day)
    assert [shaded[es.trading_day == day].any() for day in days] == [
        i % 2 == 1 for i in range(len(days))
    ]


def test_the_shade_covers_the_bars_in_every_pane(es):
    plain, shaded = (compose(cp.chart(es, "rsi"), Look(sessions=s)) for s in (None, "0930-1600"))
    rects = [op for op in shaded.ops if isinstance(op, Rects) and op.fill == DARK.shade]
    assert len(rects) == 3
    assert len(shaded.ops) == len(plain.ops) + 3
    assert len({tuple(map(tuple, op.boxes[:, [0, 2]])) for op in rects}) == 1


def test_daily_bars_have_no_sessions():
    assert not shading.shaded(
        flat_bars(50, step_ms=86_400_000, timeframe="1D"), "0930-1600", "UTC"
    ).any()


@in_one_test("text", ["9:30", "0930", "0930-1600 Nowhere/Town", "", 5])
def test_what_is_no_session_is_refused(text):
    with pytest.raises(RenderError, match=r"days|zone"):
        Look(sessions=text)
