"""The page about making an indicator machine-readable in 20 minutes, followed step by step."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.sources.tradingview import models
from tests.sources.tradingview.browser import ABSENT, PROGRAM, Browser

from chartpact.cli import BAD_INPUT, DONE, main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "machine-readable-in-20-minutes.md"
ADDRESS = "http://127.0.0.1:9222"
UP, DOWN = 0xFF819908, 0xFF4536F2  # of the page's encodings


def structure(last="BOS", color=UP, cell=UP):
    """The chart of a structure indicator with a dashboard."""
    graphics = {
        "indexes": [40, 90, 119],
        "dwglabels": [
            models.label(0, 0, 110, "CHoCH", ci=DOWN),
            models.label(1, 1, 121.5, last, ci=color),
            models.label(2, 1, 130.0, "EQH", st="n", ci=None),
        ],
        "dwglines": [models.line(1, 0, 101, 1, 101, st="dsh")],
        "dwgboxes": [
            models.box(1, 0, 118.0, 2, 115.0, c=DOWN),
            models.box(2, 1, 112.0, 2, 110.5, c=UP, t="FVG"),
        ],
        "dwgtables": [models.table(1, "top_right", 1, 2)],
        "dwgtablecells": [
            models.cell(1, 1, 0, 0, "Trend", None),
            models.cell(2, 1, 0, 1, "", cell),
        ],
    }
    return models.chart(models.study("s1", "My Structure", graphics), models.study("v", "Volume"))


class Reader:
    """Somebody who does what the page says, in its order, in an empty folder."""

    def __init__(self, address, capsys):
        self.address, self.capsys = address, capsys
        self.commands, self.out, self.err = [], "", ""

    def follow(self, text):
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        kinds = [kind for kind, _ in blocks]
        for (kind, body), after in zip(blocks, [*kinds[1:], ""], strict=True):
            match kind:
                case "sh":
                    for command in body.splitlines():
                        # A text is what a refusal says; anything else succeeds.
                        assert self.run(command) == (BAD_INPUT if after == "text" else DONE), (
                            command,
                            self.err,
                        )
                case "text":
                    assert body.strip() in self.err
                case "yaml" if body.startswith("contract:"):
                    Path("my_structure.yaml").write_text(body)
                case "yaml":
                    assert body in Path("my_structure.yaml").read_text()
                case "json":
                    self.compare(json.loads(body))

    def run(self, command):
        program, *arguments = shlex.split(command.replace(ADDRESS, self.address))
        assert program == "chartpact"
        self.commands.append(command)
        if "--tv" in arguments:
            arguments += ["--tv-timeout", "60"]
        if arguments[0] == "watch":
            arguments += ["--reads", "1"]
        code = main(arguments)
        self.out, self.err = self.capsys.readouterr()
        return code

    def compare(self, shown):
        """Checks what the page shows against what was printed, or else against the snapshot."""
        if self.out:
            printed = json.loads(self.out.splitlines()[-1])
        else:
            labels = json.loads(Path("drawn.json").read_text())["studies"][0]["labels"]
            [printed] = [label for label in labels if label["id"] == shown["id"]]
        assert {key: printed[key] for key in shown} == shown


def test_a_new_user_gets_from_the_chart_to_its_state(tmp_path, monkeypatch, capsys):
    if PROGRAM is None:
        pytest.skip(ABSENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{tmp_path}/library.db")
    browser = Browser(tmp_path / "chromium")
    try:
        tab = browser.open(structure())
        user = Reader(browser.url, capsys)
        user.follow(PAGE.read_text())
        verbs = [command.split()[1] for command in user.commands]
        assert verbs == ["snapshot", "contract", "contract", "contract", "read", "read", "watch"]
        read, watch = user.commands[-2:]

        tab.set_chart(structure("CHoCH", DOWN, DOWN))
        assert user.run(read) == DONE
        state = json.loads(user.out)["state"]
        assert (state["bias"], state["last_event"], state["last_side"]) == (
            ("SHORT", "change", "down")
        )
        assert user.run(watch) == DONE
        change = json.loads(user.out)
        assert (change["kind"], change["from"], change["to"]) == ("changed", "LONG", "SHORT")
        tab.set_chart(structure(cell=models.GREEN))  # somebody changed a colour
        assert user.run(read) == 3
        [violation] = json.loads(user.out)["violations"]
        assert (violation["kind"], violation["path"]) == ("malformed", "elements.trend.reads.side")
    finally:
        browser.stop()
