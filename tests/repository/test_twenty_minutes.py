"""The page about making an indicator machine-readable in 20 minutes, followed step by step."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.sources.tradingview import models
from tests.sources.tradingview.browser import ABSENT, PROGRAM, Browser

from chartpact.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "machine-readable-in-20-minutes.md"
ADDRESS = "http://127.0.0.1:9222"
UP, DOWN = 0xFF819908, 0xFF4536F2  # of the page's encodings


def structure(last="BOS", color=UP, cell=UP):
    """The chart of a structure indicator with a dashboard."""
    marks = [("CHoCH", DOWN), (last, color)]
    graphics = {
        "indexes": [40, 90, 119],
        "dwglabels": [models.label(n, n, 100 + n, *look[:1], ci=look[1])
                      for n, look in enumerate(marks)],
        "dwglines": [models.line(1, 0, 101, 1, 101, st="dsh")],
        "dwgboxes": [models.box(1, 0, 105, 2, 101)],
        "dwgtables": [models.table(1, "top_right", 1, 2)],
        "dwgtablecells": [models.cell(1, 1, 0, 0, "Trend", None),
                          models.cell(2, 1, 0, 1, "", cell)],
    }  # fmt: skip
    return models.chart(models.study("s1", "My Structure", graphics), models.study("v", "Volume"))


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_a_new_user_gets_from_the_chart_to_its_state(tmp_path, monkeypatch, capsys):
    if PROGRAM is None:
        pytest.skip(ABSENT)
    monkeypatch.chdir(tmp_path)
    [contract] = blocks("yaml")
    record, reading = map(json.loads, blocks("json"))
    (tmp_path / "my_structure.yaml").write_text(contract)
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) == 4
    browser = Browser(tmp_path / "chromium")
    try:
        tab = browser.open(structure())
        for command in commands:
            program, *arguments = shlex.split(command.replace(ADDRESS, browser.url))
            assert program == "chartpact"
            timeout = ["--tv-timeout", "60"] if "--tv" in arguments else []
            assert main([*arguments, *timeout]) == 0, command
        printed = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert {key: printed[key] for key in reading} == reading
        drawn = json.loads((tmp_path / "drawn.json").read_text())
        assert record.keys() <= drawn["studies"][0]["labels"][0].keys()

        last = [*shlex.split(commands[-1].replace(ADDRESS, browser.url))[1:], "--tv-timeout", "60"]
        tab.set_chart(structure("CHoCH", DOWN, DOWN))
        assert main(last) == 0
        state = json.loads(capsys.readouterr().out)["state"]
        assert state == {"trend": "down", "last_event": "change", "last_side": "down"}
        tab.set_chart(structure(cell=models.GREEN))  # somebody changed a colour
        assert main(last) == 3
        [violation] = json.loads(capsys.readouterr().out)["violations"]
        assert (violation["kind"], violation["path"]) == ("malformed", "elements.trend.reads.side")
    finally:
        browser.stop()
