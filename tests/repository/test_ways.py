"""The ways that docs/architecture.md draws are those that requests take."""

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from traceback import walk_stack

import pytest
from tests.calls import SOURCE, follow, is_ours, missed

from chartpact.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
SCRIPT = """
META = {"title": "Mine", "overlay": True}
PARAMS = [{"name": "length", "type": "int", "default": 14}]

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["length"]))
"""
IN_THE_CHILD = ("sandbox.child", "sandbox.tasks", "script.", "sandbox.packing.pack_scene")


def way(title: str) -> list[str]:
    """The functions of a way, in order."""
    section = PAGE.read_text().split(f"### {title}\n")[1].split("\n#")[0]
    return re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)


RUN = way("`chartpact run mine.star BARS`")
GENERATE_CHART = way("`generate_chart` over MCP")


def functions(module: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{part.name}" for part in node.body if hasattr(part, "name"))


@pytest.mark.parametrize("name", sorted({*RUN, *GENERATE_CHART}))
def test_every_function_of_a_way_is_there(name):
    places = [name.split(".")[:count] for count in range(1, name.count(".") + 1)]
    files = [(SOURCE.joinpath(*parts) / "__init__.py", parts) for parts in places] + [
        (SOURCE.joinpath(*parts).with_suffix(".py"), parts) for parts in places
    ]
    assert any(
        name.removeprefix(".".join(parts) + ".") in functions(file)
        for file, parts in files
        if file.exists()
    )


def test_a_run_takes_the_way_that_is_drawn(tmp_path, monkeypatch, capsys):
    file = tmp_path / "mine.star"
    file.write_text(SCRIPT)
    monkeypatch.setattr(sys, "argv", ["chartpact", "run", str(file), "sample:es-5m"])
    called: list[str] = []
    depths: list[int] = []

    def note(name: str) -> None:
        called.append(name)
        if name == "sandbox.zygote_handle.Zygote.run":
            depths.append(sum(is_ours(frame) for frame, _ in walk_stack(None)))

    sys.setprofile(follow(note))
    try:
        assert main() == 0
    finally:
        sys.setprofile(None)
    assert "Mine" in capsys.readouterr().out
    assert missed([name for name in RUN if not name.startswith(IN_THE_CHILD)], called) == []
    assert len(depths) == 2  # one child reads what the script declares, the other runs it
    assert max(depths) == int(re.search(r"(\d+) functions deep", PAGE.read_text())[1])
