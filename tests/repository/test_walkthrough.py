"""What the pages tell to type can be typed, in their order, by somebody who has just arrived."""

import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from chartpact.cli import main

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Pages whose commands need nothing that the page does not make itself.
PAGES = ("first-indicator", "library", "charts", "pictures", "snapshots", "payload-format")
OWN_BARS = "time,open,high,low,close\n" + "".join(
    f"2024-03-{1 + hour // 24:02}T{hour % 24:02}:00Z,{price},{price + 2},{price - 2},{price + 1}\n"
    for hour, price in enumerate(100 + (7 * k) % 23 for k in range(120))
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of somebody who has nothing else."""
    monkeypatch.delenv("CHARTPACT_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "mine.csv").write_text(OWN_BARS)  # the reader's own file
    monkeypatch.chdir(folder)
    return folder


def typed(line: str) -> tuple[int, str]:
    """The exit code of a command, and its errors; the README's are typed into a real shell."""
    command, *words = shlex.split(line, comments=True)
    assert command == "chartpact"
    shown, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(shown), redirect_stderr(errors):
        code = main(words[: words.index(">")] if ">" in words else words)
    if ">" in words:
        [file] = words[words.index(">") + 1 :]
        Path(file).write_text(shown.getvalue())
    return code, errors.getvalue()


def blocks(page: str) -> list[tuple[str, str, str]]:
    """The language of each block, the block, and the words before it."""
    parts = re.split(r"```(\w*)\n(.*?)```\n", page, flags=re.S)
    return list(zip(parts[1::3], parts[2::3], parts[0::3], strict=False))


def written(line: str) -> list[str]:
    """The files that a command makes."""
    return re.findall(r"(?:-o|>) (\S+)", line)


@pytest.mark.parametrize("name", PAGES)
def test_everything_that_a_page_tells_to_type_can_be_typed_in_its_order(name, folder):
    commands = 0
    saved = ""
    for language, block, before in blocks((DOCS / f"{name}.md").read_text()):
        named = re.findall(r"`(\w+\.star)`", before)
        if language == "python" and named:
            saved = named[-1]
            (folder / saved).write_text(block)
        elif language == "python":
            program = [sys.executable, "-c", block]
            done = subprocess.run(program, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (block, done.stderr)
            commands += 1
        elif language == "text":
            assert typed(f"chartpact check {saved}") == (4, block)
        else:
            for line in block.splitlines():
                if "--tv" in line:  # with a TradingView: tests/sources/tradingview
                    continue
                if line.startswith("chartpact ") and "…" not in line:
                    code, errors = typed(line)
                    assert code == 0, (line, errors)
                    assert all((folder / each).exists() for each in written(line))
                    commands += 1
    assert commands
