"""The page about charts says what is so."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.cli import DONE, main
from chartpact.scene import PLOTS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "charts.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("block", blocks("python"))
def test_its_python_runs(block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/charts.md", "exec"), {})
    assert (tmp_path / "es.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.startswith("ES 5m")


@pytest.mark.parametrize("command", "".join(blocks("sh")).splitlines())
def test_its_commands_run(command, capsys):
    program, *arguments = shlex.split(command)
    assert program == "chartpact"
    assert main(arguments) == DONE
    assert capsys.readouterr().out


def test_its_error_is_the_one_that_is_given():
    shown = json.loads(blocks("json")[0])
    (given,) = cp.chart(cp.load("sample:es-5m"), [shown["id"]]).drawn
    assert given.to_json() == shown


def test_its_json_has_the_keys_that_are_given():
    shown = json.loads(blocks("json")[1])
    given = cp.chart(cp.load("sample:es-5m"), ["rsi"]).to_json()
    assert list(shown) == list(given)
    assert list(shown["indicators"][0]) == list(given["indicators"][0])


@in_one_test("kind", PLOTS)
def test_it_names_every_kind_of_plot(kind):
    assert f"`{kind}`" in PAGE
