"""Legends name what they show, and nothing strikes them through."""

import pytest

import chartpact as cp
from chartpact.render.display import Area, Panel, Rects, Shape, Words, bounding_box
from chartpact.render.look import Look
from chartpact.render.picture import compose
from chartpact.render.theme import THEMES

from .scenery import places


@pytest.fixture(scope="module")
def es():
    return cp.load("sample:es-5m")


def texts(chart, **look):
    return [words for _, words in places(compose(chart, Look(**look)))]


def legend(chart, title, **look):
    """The texts of an indicator's legend: its name and what follows."""
    said = texts(chart, **look)
    at = said.index(title)
    return said[at : at + 13]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["ichimoku", "volume_profile", "bbands", "pivot", "keltner"])
def test_no_line_strikes_the_text_of_a_legend(es, name, theme):
    for last in (20, 200, 1000):
        picture = compose(cp.chart(es, [name, "vwap"], last=last), Look(theme=theme, height=420))
        ground = THEMES[theme].background
        grounds = [
            (i, op.area)
            for i, op in enumerate(picture.ops)
            if isinstance(op, Panel) and op.fill == ground
        ]
        assert len(grounds) >= 2
        for i, area in grounds:
            later = [op for op in picture.ops[i:] if isinstance(op, Shape | Rects)]
            assert not [op for op in later if _strikes(op, area)]


def _strikes(op, area: Area) -> bool:
    if isinstance(op, Rects):
        return any(area.meets(Area(x, y, x + w, y + h)) for x, y, w, h in op.boxes.tolist())
    return area.meets(bounding_box(op))


def test_several_values_have_their_names(es):
    said = texts(cp.chart(es, ["cipher_b", "macd", "bbands", "ichimoku"], last=200))
    for name in "WT1,WT2,RSI,MFI,Stoch K,Stoch D,Signal,Histogram,Upper,Lower,Tenkan,Kijun".split(
        ","
    ):
        assert [words for words in said if words.startswith(f"{name} ")], name


def test_the_values_of_the_averages_stand_in_the_order_of_their_name(es):
    _, *values = legend(cp.chart(es, "ema_stack", last=200), "EMA 8 21 50 200")[:5]
    plots = cp.indicator("ema_stack")(es).plots
    assert values == [f"{plot.values[-1]:,.2f}" for plot in plots]


def test_a_single_value_has_the_name_of_its_indicator(es):
    _, value = legend(cp.chart(es, "rsi", last=200), "RSI 14")[:2]
    assert value == f"{cp.indicator('rsi')(es).plots[0].values[-1]:.2f}"


@pytest.mark.parametrize("width", [420, 900])
def test_all_values_of_the_pivots_are_told(es, width):
    for levels, count in ((3, 7), (5, 11)):
        said = texts(cp.chart(es, f"pivot:levels={levels}", last=200), width=width, height=700)
        names = ["P", *(f"{side}{k}" for k in range(1, levels + 1) for side in "RS")]
        assert len(names) == count
        for name in names:
            assert [words for words in said if words.startswith(f"{name} ")], (name, said)


def test_rows_are_few_on_a_low_picture(es):
    picture = compose(cp.chart(es, "pivot:levels=5", last=200), Look(width=420, height=260))
    assert all(isinstance(op.text, str) for op in picture.ops if isinstance(op, Words))
    rows = {op.area.top for op in picture.ops if isinstance(op, Panel) and op.radius == 3}
    assert len(rows) <= 4
