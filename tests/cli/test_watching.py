"""`--watch`: drawn again on every save, until Ctrl-C."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chartpact.cli import BAD_INPUT, main

SCRIPT = """
PARAMS = []
META = {"title": "Mine"}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, 5), title="SMA")
"""
WATCHING = "watching mine.star (Ctrl-C ends it)\n"


@pytest.mark.slow
@pytest.mark.parametrize("asked", [["run", "mine.star", "sample:es-5m"],
                                   ["chart", "sample:es-5m", "-i", "./mine.star"]])  # fmt: skip
def test_a_saved_script_is_drawn_again_and_its_errors_are_told(tmp_path, asked):
    file, picture = tmp_path / "mine.star", tmp_path / "x.svg"
    file.write_text(SCRIPT)
    command = [sys.executable, "-m", "chartpact", *asked, "-o", "x.svg", "--watch"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        try:
            change_and_end(running, file, picture)
        finally:
            running.kill()


def change_and_end(running: subprocess.Popen[str], file: Path, picture: Path) -> None:
    def lines() -> list[str]:
        """What is told until it watches again."""
        told = []
        while not (told and told[-1].endswith(WATCHING)):
            told.append(running.stderr.readline())
            assert told[-1], told
        return told

    assert lines() == [f"x.svg: drawn; {WATCHING}"]
    first = picture.read_text()
    file.write_text(SCRIPT.replace("Mine", "Yours"))
    assert lines() == [f"x.svg: drawn; {WATCHING}"]
    second = picture.read_text()
    assert ("Yours" in first, "Yours" in second) == (False, True)
    file.write_text(SCRIPT.replace("ta.sma", "ta.smaa"))
    told = "".join(lines())
    assert "smaa" in told
    assert "drawn" not in told
    file.unlink()  # as an editor may do before it writes
    file.write_text(SCRIPT)
    assert lines() == [f"x.svg: drawn; {WATCHING}"]
    assert picture.read_text() == first
    running.send_signal(signal.SIGINT)
    assert running.stderr.read() == ""
    assert running.wait() == 0


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (["run", "-", "sample:es-5m"], "standard input and output cannot be used again"),
        (["chart", "sample:es-5m", "-o", "-"], "standard input and output cannot be used again"),
        (["chart", "sample:es-5m"], "there is no file here that could change"),
    ],
)
def test_what_cannot_change_is_not_watched(capsys, asked, reason):
    assert main([*asked, "--watch"]) == BAD_INPUT
    assert reason in capsys.readouterr().err
