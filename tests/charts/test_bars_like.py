"""A frame, a path or Bars may stand wherever bars are taken, and frames come back."""

import inspect
from dataclasses import fields
from typing import Unpack

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import BarsError
from chartpact.charts import Chart
from chartpact.lookahead import prove
from chartpact.options import read_table
from chartpact.render.candles import KINDS
from chartpact.render.errors import RenderError
from chartpact.render.look import Look
from chartpact.render.options import LookOptions
from chartpact.render.theme import THEMES
from chartpact.scene import Scene, SceneError

SOURCE = """
PARAMS = []
META = {"title": "Middle"}
def compute(ohlcv, params, chart):
    chart.line(ohlcv.hl2, title="Middle")
"""


@pytest.fixture(scope="module")
def bars():
    return cp.load("sample:es-5m")[-300:]


@pytest.fixture(scope="module")
def stand_ins(bars, tmp_path_factory):
    path = tmp_path_factory.mktemp("bars") / "ES_5m.csv"
    frame = bars.to_pandas()
    frame.reset_index().assign(time=bars.time).to_csv(path, index=False)
    return {
        "Bars": bars,
        "path": path,
        "text": str(path),
        "pandas": frame,
        "pandas with a column": frame.reset_index(),
        "pandas with texts as index": frame.set_axis(frame.index.astype(str)),
        "polars": bars.to_polars(),
        "lazy polars": bars.to_polars().lazy(),
        "columns": {name: getattr(bars, name) for name in cp.bars.COLUMNS},
    }


KINDS_OF_BARS = ["Bars", "path", "text", "pandas", "pandas with a column",
                 "pandas with texts as index", "polars", "lazy polars", "columns"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS_OF_BARS)
def test_bars_may_be_anything_that_holds_them(bars, stand_ins, kind):
    source = stand_ins[kind]
    expected = cp.indicator("rsi")(bars)
    assert cp.indicator("rsi")(source) == expected
    drawn = cp.chart(source, ["rsi"])
    assert drawn.drawn[0].scene == expected
    assert drawn.bars.time.tolist() == bars.time.tolist()
    program = cp.script.load(SOURCE)
    assert cp.script.execute(program, source).scene.plots[0].values.tolist() == bars.hl2.tolist()
    assert prove(cp.indicator("rsi"), source, most=3).ok
    assert len(cp.align(source, bars)[0]) == len(bars)


def test_a_frame_of_bars_keeps_its_symbol_with_pandas(bars):
    loaded = cp.load(bars.to_pandas())
    assert (loaded.symbol, loaded.day_roll, loaded.timeframe) == ("ES", bars.day_roll, "5m")
    assert cp.load(bars.to_pandas(), symbol="NQ").symbol == "NQ"
    assert cp.load(bars.to_polars(), symbol="ES").day_roll == bars.day_roll
    assert cp.load(bars.to_polars()).notes == (
        "without a symbol, trading days begin at midnight UTC",
    )
    assert cp.load(bars, symbol="NQ", timeframe="1h").symbol == "NQ"


def test_what_is_no_bars_is_refused_in_a_sentence(bars):
    for value in (5, None, ["x"], bars.to_pandas()["close"], bars.to_polars()["close"]):
        with pytest.raises(BarsError, match="bars are a file's path, sample:NAME, a frame of"):
            cp.chart(value)
    with pytest.raises(BarsError, match="tz is for files and frames, and these are Bars"):
        cp.load(bars, tz="UTC")
    with pytest.raises(BarsError, match="has no time zone"):
        cp.chart(bars.to_pandas().tz_localize(None))


def test_bars_as_frames(bars):
    frame = bars.to_pandas()
    assert str(frame.index.tz) == "UTC"
    assert frame.index.name == "time"
    assert list(frame) == ["open", "high", "low", "close", "volume"]
    assert frame["close"].tolist() == bars.close.tolist()
    frame.loc[:, "close"] = 0  # it is the caller's own
    assert bars.close[0] != 0
    polar = bars.to_polars()
    assert polar["time"].dt.epoch("ms").to_list() == bars.time.tolist()
    assert polar.columns == ["time", "open", "high", "low", "close", "volume"]


def test_scenes_as_frames(bars):
    scene = cp.indicator("rsi")(bars)
    frame = scene.to_pandas()
    np.testing.assert_array_equal(frame["RSI"], scene.plots[0].values)
    assert isinstance(frame.index, pd.RangeIndex)
    assert scene.to_pandas(bars.time).index.equals(bars.to_pandas().index)
    assert scene.to_polars(bars.time).columns == ["time", "RSI"]
    with pytest.raises(SceneError, match="the scene has 300 bars, and 299 times were given"):
        scene.to_pandas(bars.time[1:])
    assert len(Scene().to_pandas()) == 0


def test_signals_stand_in_frames_where_they_became_known(bars):
    scene = cp.indicator("cipher_b")(bars)
    frame = scene.to_pandas()
    late = [signal for signal in scene.signals if signal.confirmed_bar > signal.bar]
    assert late
    for signal in scene.signals:
        assert not np.isnan(frame[f"signal {signal.name}"][signal.confirmed_bar])
    names = {signal.name for signal in scene.signals}
    shown = sum(frame[f"signal {name}"].notna().sum() for name in names)
    assert shown == len({(signal.name, signal.confirmed_bar) for signal in scene.signals})


def test_charts_as_frames(bars):
    chart = cp.chart(bars, ["rsi", "rsi:period=7", "bbands", "nothing"], last=50)
    frame = chart.to_pandas()
    assert len(frame) == 50
    assert {"close", "rsi: RSI", "rsi:period=7: RSI"} <= set(frame)
    assert isinstance(chart.to_polars(), pl.DataFrame)


def test_a_frame_needs_its_library(bars, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="to_pandas needs pandas, which is not installed"):
        bars.to_pandas()


# ---------------------------------------------------------------------------------------- notebooks


def test_a_chart_in_a_notebook_fits_its_cell(bars):
    chart = cp.chart(bars, ["rsi"], theme="light", size=(640, 360))
    svg = chart._repr_svg_()
    assert 'viewBox="0 0 640 360"' in svg
    assert 'style="max-width:100%;height:auto"' in svg
    assert chart.svg(theme="light", size="640x360").split("<title>")[1] == svg.split("<title>")[1]
    png, shown = chart._repr_png_()
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (1280, 720)
    assert shown == {"width": 640}


def test_a_large_chart_is_shown_pixel_by_pixel(bars):
    png, shown = cp.chart(bars, size=(2400, 400))._repr_png_()
    assert (int.from_bytes(png[16:20], "big"), shown) == (2400, {"width": 2400})


def test_what_a_chart_was_told_holds_until_a_picture_is_told_otherwise(bars):
    chart = cp.chart(bars, theme="light", size=(640, 360), volume="none")
    assert 'viewBox="0 0 640 360"' in chart.svg()
    assert 'viewBox="0 0 800 500"' in chart.svg(size=(800, 500))
    assert 'viewBox="0 0 800 ' in chart.svg(width=800)
    assert chart.svg() != chart.svg(theme="dark")
    with pytest.raises(RenderError, match="'pink' is not a theme"):
        cp.chart(bars, theme="pink")


def test_the_repr_of_a_chart_is_short(bars):
    chart = cp.chart(bars, ["rsi", "nothing"])
    assert repr(chart) == "<Chart ES 5m, 300 bars: rsi, nothing (failed)>"
    many = cp.chart(bars, [f"rsi:period={n}" for n in range(2, 12)])
    assert repr(many).endswith("rsi:period=7, and 4 more>")
    assert len(repr(many)) < 160


@in_one_test("draw", [cp.chart, *(getattr(Chart, name) for name in ("svg", "png", "save"))])
def test_the_options_of_pictures_are_those_of_the_table_that_an_editor_completes(draw):
    parameters = inspect.signature(draw).parameters.values()
    (look,) = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    assert look.annotation == Unpack[LookOptions]


def test_the_table_of_options_has_what_pictures_take():
    table = read_table(LookOptions)
    assert set(table) == {"size", *(field.name for field in fields(Look))}
    assert set(table["theme"].choices) == set(THEMES)
    assert set(table["kind"].choices) == set(KINDS)


def test_an_option_that_no_picture_has_is_refused(bars):
    with pytest.raises(RenderError, match="a picture has no 'colour'"):
        cp.chart(bars, colour="red")


def test_dir_shows_the_public_names_alone():
    assert dir(cp) == sorted(cp.__all__)
    assert all(hasattr(cp, name) for name in dir(cp))
