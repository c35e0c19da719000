"""What the pages tell to type can be typed, one thing after the other, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from chartpact.cli import DONE, main

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("charts", "pictures", "snapshots", "payload-format", "library", "first-indicator")


def blocks(page: str) -> list[tuple[str, str]]:
    text = (DOCS / f"{page}.md").read_text()
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def typed(block: str) -> list[list[str]]:
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return [words for words in lines if words[:1] == ["chartpact"] and "…" not in words]


def type_in(words: list[str], capsys) -> None:
    """Runs one command; what it prints goes where > says."""
    command, file = (words[1:-2], words[-1]) if words[-2:-1] == [">"] else (words[1:], None)
    code, printed = main(command), capsys.readouterr()
    assert code == DONE, (command, printed.err)
    if file is not None:
        Path(file).write_text(printed.out)


@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_page_tells_to_type_can_be_typed(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{tmp_path}/library.db")
    tried = 0
    for language, block in blocks(page):
        if language == "python" and "def compute" in block:
            Path("distance.star").write_text(block)  # the name under which it is to be saved
        elif language == "python" and "chartpact" in block:
            exec(compile(block, page, "exec"), {})
            tried += 1
        elif language in ("", "sh", "bash"):
            for words in typed(block):
                type_in(words, capsys)
                tried += 1
    assert tried
