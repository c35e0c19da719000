"""What the README tells to type can be typed, and what it tells to copy can be read."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
SERVER = (ROOT / "docs" / "server.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_every_configuration_of_a_host_can_be_read_and_names_the_server():
    documents = [json.loads(each) for each in blocks(README + SERVER, "json")]
    documents += [tomllib.loads(each) for each in blocks(README + SERVER, "toml")]
    assert len(documents) >= 8
    for each in documents:
        [servers] = each.values()
        [(name, server)] = servers.items()
        assert name == "chartpact"
        address = server.get("url") or server.get("httpUrl")
        if address is None:
            assert server["command"].endswith("chartpact")
            assert server["args"] == ["mcp"]
        else:
            assert address == "http://127.0.0.1:8321/mcp"


def test_every_host_has_its_own_title_before_its_configuration():
    for host in ("Claude Code", "Claude Desktop", "Cursor", "VS Code"):
        assert re.search(rf"^\*\*{host}\*\*", README, re.M), host
        assert re.search(rf"^\*\*{host}\*\*", SERVER, re.M), host


def test_the_first_screen_has_the_tagline_a_picture_and_the_two_commands():
    first_screen = README.partition("\n## ")[0]
    assert len(first_screen.splitlines()) < 25
    tagline, picture, commands = (
        first_screen.index(part)
        for part in (
            "**Indicators you can write, and charts a program can trust.**",
            "<img",
            "make s",
        )
    )
    assert tagline < picture < commands
    assert "make test" in first_screen
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', first_screen)
    assert len(pictures) == 2
    assert all((ROOT / path).exists() for path in pictures)
    assert README.partition("\n## ")[2].startswith("Why\n")


def test_the_first_commands_are_targets_of_the_makefile():
    first = blocks(README, "sh")[0].split()
    assert first[:2] == ["make", "serve"]
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", blocks(README, "sh")[0], re.M):
        assert re.search(rf"^{target}:", makefile, re.M)


@pytest.fixture
def alone(tmp_path):
    """A shell of somebody who has just arrived, in an empty folder."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("CHARTPACT_")}
    env["XDG_DATA_HOME"] = str(tmp_path / "data")
    return lambda command, **more: subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, **more
    )


@pytest.mark.slow
def test_every_command_of_the_readme_can_be_typed_in_its_order(alone):
    lines = [each for block in blocks(README, "sh") for each in block.splitlines()]
    commands = [each for each in lines if each.startswith(".venv/bin/chartpact ")]
    assert len(commands) > 5
    for command in commands:
        python = shlex.quote(sys.executable)
        typed = command.replace(".venv/bin/chartpact", f"{python} -m chartpact")
        done = alone(typed, shell=True)
        assert done.returncode == 0, (command, done.stderr)


def test_the_python_of_the_readme_runs(alone):
    [code] = blocks(README, "python")
    done = alone([sys.executable, "-c", code])
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 100
