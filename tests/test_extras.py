"""What runs without the packages that only the server needs, and what the rest says then."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from chartpact.__main__ import main
from chartpact.extras import SERVER

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Runs commands one after another with these modules as if they were not installed.
WITHOUT = """
import json, sys
absent, commands = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(absent))
from chartpact.__main__ import main
for command in commands:
    code = main(command)
    assert code == 0, (command, code)
"""
COMMANDS = [
    ["chart", "sample:es-5m", "-i", "rsi", "--bars", "60", "-o", "drawn.png"],
    ["indicators", "rsi"],
    ["snapshot", "--bars", "sample:es-5m", "-i", "ob_ai", "-o", "drawn.json"],
    ["read", "ob_ai", "--snapshot", "drawn.json"],
    ["watch", "ob_ai", "--snapshot", "drawn.json", "--reads", "1"],
    ["scripts", "add", "mine", "mine.star"],
    ["scripts", "list"],
]
SCRIPT = """
META = {"title": "Mine"}
PARAMS = []

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, 5))
"""


def distributions(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=;]", text)[0].lower() for text in requirements}


def modules_of(names: set[str]) -> set[str]:
    provided = packages_distributions().items()
    return {
        module for module, owners in provided if names & {owner.lower() for owner in owners}
    } | ({"mcp_types"} if "mcp" in names else set())


def test_what_is_looked_for_is_what_the_extra_adds():
    extra = distributions(PROJECT["optional-dependencies"]["server"])
    assert {*SERVER} <= modules_of(extra)
    assert not modules_of(distributions(PROJECT["dependencies"])) & {*SERVER}


def test_the_library_and_its_commands_need_nothing_of_the_server(tmp_path):
    absent = modules_of(distributions(PROJECT["optional-dependencies"]["server"]))
    assert len(absent) >= 11
    (tmp_path / "mine.star").write_text(SCRIPT)
    asked = json.dumps([sorted(absent), COMMANDS])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, asked],
        cwd=tmp_path,
        env={"CHARTPACT_DB": f"sqlite:///{tmp_path}/library.db", "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["serve", "--no-auth"], "`chartpact serve`"),
        (["mcp"], "`chartpact mcp`"),
        (["user", "list"], "`chartpact user`"),
        (["read", "ob_ai", "--tv-mcp", "true"], "--tv-mcp"),
    ],
)
@pytest.mark.parametrize("absent", ["mcp", "argon2", "uvicorn"])
def test_what_needs_the_server_names_the_one_command_that_installs_it(
    monkeypatch, capsys, command, named, absent
):
    monkeypatch.setitem(sys.modules, absent, None)
    assert main(command) == 2
    assert capsys.readouterr().err == (
        f"chartpact {command[0]}: {named} needs the server: pip install 'chartpact[server]'\n"
    )
