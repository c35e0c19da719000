"""What the pages tell to type can be typed, in their order, by somebody who has just arrived."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Pages whose commands need nothing that the page does not make itself.
PAGES = ("first-indicator", "library", "charts", "pictures", "snapshots", "payload-format")


@pytest.fixture
def arrived(tmp_path):
    """A shell in an empty folder, with `chartpact` on its path."""
    command = tmp_path / "bin" / "chartpact"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chartpact "$@"\n')
    command.chmod(0o755)
    env = {key: value for key, value in os.environ.items() if not key.startswith("CHARTPACT_")}
    env["PATH"] = f"{command.parent}{os.pathsep}{env['PATH']}"
    env["XDG_DATA_HOME"] = str(tmp_path / "data")
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder, lambda line: subprocess.run(
        line, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The language of each block, the block, and the words before it."""
    parts = re.split(r"```(\w*)\n(.*?)```\n", page, flags=re.S)
    return list(zip(parts[1::3], parts[2::3], parts[0::3], strict=False))


def written(line: str) -> list[str]:
    """The files that a command makes."""
    return re.findall(r"(?:-o|>) (\S+)", line)


@pytest.mark.parametrize("name", PAGES)
def test_everything_that_a_page_tells_to_type_can_be_typed_in_its_order(name, arrived):
    folder, typed = arrived
    commands = 0
    saved = ""
    for language, block, before in blocks((DOCS / f"{name}.md").read_text()):
        named = re.findall(r"`(\w+\.star)`", before)
        if language == "python" and named:
            saved = named[-1]
            (folder / saved).write_text(block)
        elif language == "python":
            (folder / "program.py").write_text(block)
            done = typed(f'"{sys.executable}" program.py')
            assert done.returncode == 0, (block, done.stderr)
            commands += 1
        elif language == "text":
            done = typed(f"chartpact check {saved}")
            assert (done.returncode, done.stderr) == (4, block)
        else:
            for line in block.splitlines():
                if line.startswith("chartpact ") and "…" not in line:
                    done = typed(line)
                    assert done.returncode == 0, (line, done.stderr)
                    assert all((folder / each).exists() for each in written(line))
                    commands += 1
    assert commands
