"""A chart becomes a picture that stands alone."""

import struct
import xml.etree.ElementTree as ET

import pytest

import chartpact as cp
from chartpact import render
from chartpact.cli import main
from chartpact.render import RenderError

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def chart():
    return cp.chart(cp.load("sample:es-5m"), ["rsi", "nothing_like_it"], last=120)


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", png[16:24])


def test_the_svg_is_a_document_of_the_size_asked_for(chart):
    root = ET.fromstring(chart.svg(width=900, height=500))
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == "0 0 900 500"
    assert (
        chart.svg(size="900x500") == chart.svg(size=(900, 500)) == chart.svg(width=900, height=500)
    )


def test_the_png_has_the_pixels_asked_for(chart):
    assert size_of(chart.png(width=640, height=400)) == (640, 400)
    assert size_of(chart.png(width=640, height=400, scale=2)) == (1280, 800)


def test_the_title_tells_symbol_timeframe_source_and_that_the_data_is_synthetic(chart):
    words = [each.text for each in ET.fromstring(chart.svg()).iter(f"{SVG}text")]
    assert "ES · 5m · sample:es-5m" in words
    assert "synthetic" in words


def test_a_broken_indicator_has_a_card_in_a_pane_of_its_own(chart):
    root = ET.fromstring(chart.svg())
    cards = [g for g in root.iter(f"{SVG}g") if g.get("class") == "pane error"]
    words = " ".join(each.text for each in cards[0].iter(f"{SVG}text"))
    assert len(cards) == 1
    assert "there is no indicator 'nothing_like_it'" in words


def test_save_goes_by_the_ending_of_the_path(chart, tmp_path):
    assert chart.save(tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    assert chart.save(str(tmp_path / "a.svg")).read_text().startswith("<svg")
    with pytest.raises(RenderError, match=r"'a.gif' ends neither in .png nor in .svg"):
        chart.save(tmp_path / "a.gif")


@pytest.mark.parametrize(
    ("look", "complaint"),
    [
        ({"width": 4097}, "width of 4097 is not between 160 and 4096"),
        ({"height": 3000, "scale": 2}, "height of 3000 at a scale of 2"),
        ({"height": 10}, "height of 10"),
        ({"width": 300.5}, "not a whole number"),
        ({"theme": "pink"}, "use dark or light"),
        ({"kind": "kagi"}, "use candles, heikin_ashi, bars, line"),
        ({"tz": "Mars/Olympus"}, "no time zone"),
        ({"volume": "loud"}, "use pane, overlay, none"),
        ({"size": "huge"}, "write it as 1200x800"),
        ({"size": (1, 2, 3)}, "write it as 1200x800"),
        ({"size": 1200}, "write it as 1200x800"),
        ({"scale": "2"}, "between 0.25 and 4"),
        ({"sise": "800x600"}, "has no 'sise': it takes size, width, height"),
    ],
)
def test_a_look_that_cannot_be_is_refused_with_what_would_be_right(chart, look, complaint):
    with pytest.raises(RenderError, match=complaint):
        render.svg(chart, **look)


def test_the_command_draws_to_a_file(tmp_path, capsys):
    out = tmp_path / "chart.png"
    args = ["chart", "sample:es-5m", "-i", "rsi", "-o", str(out), "--size", "800x500"]
    assert main([*args, "--theme", "light", "--bars", "50", "--tz", "America/New_York"]) == 0
    assert size_of(out.read_bytes()) == (800, 500)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (["-o", "x.gif"], "neither in .png nor in .svg"),
        (["-o", "x.png", "--size", "big"], "write it as 1200x800"),
        (["-o", "x.png", "--size", "9000x100"], "between 160 and 4096"),
        (["-o", "no/such/folder/x.svg"], "there is no folder 'no/such/folder': make it first"),
        (["--from", "yesterday"], "write 2024-03-05"),
        (["--from", "2999-01-01"], "no bar between"),
        (["--tz", "Nowhere", "--from", "2024-03-05"], "no time zone"),
        (["--bars", "0"], "at least one bar"),
    ],
)
def test_the_command_refuses_what_it_cannot_draw_in_one_sentence(extra, complaint, capsys):
    assert main(["chart", "sample:es-5m", *extra]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_from_and_to_choose_the_bars_in_the_zone_of_the_axis(capsys):
    import json

    args = ["chart", "sample:es-5m", "--json", "--tz", "America/New_York"]
    assert main([*args, "--from", "2024-03-05 09:30", "--to", "2024-03-05 10:00"]) == 0
    times = json.loads(capsys.readouterr().out)["time"]
    assert times[0] == 1709649000000  # 14:30 UTC
    assert times[-1] == 1709650800000
    assert main([*args, "--to", "2024-03-05", "--bars", "3"]) == 0
    times = json.loads(capsys.readouterr().out)["time"]
    assert len(times) == 3
    assert times[-1] < 1709701200000  # midnight in New York


@pytest.mark.parametrize("target", ["", "chart.gif", "no/such/place/chart.svg"])
def test_a_chart_that_cannot_be_saved_says_nothing_on_stdout(target, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["chart", "sample:es-5m", "--json", "-o", target]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
