"""Pictures from a shell: which bars they show, and where they go."""

import io
import json
import sys

import pytest

from chartpact.bars import samples
from chartpact.cli import BAD_INPUT, DONE, SCRIPT_ERROR, main

SAMPLE = "sample:es-5m"
SCRIPT = """
PARAMS = []
META = {"title": "Mine", "overlay": True}

def compute(ohlcv, params, chart):
    print("seen from", ohlcv.first_visible)
    chart.line(ta.sma(ohlcv.close, 5), title="SMA")
"""


@pytest.fixture
def svg(tmp_path):
    """The picture that a command draws."""

    def draw(*arguments: str) -> str:
        file = tmp_path / "x.svg"
        assert main([*arguments, "-o", str(file)]) == DONE
        return file.read_text()

    return draw


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "mine.star"
    file.write_text(SCRIPT)
    return str(file)


def times(capsys, *arguments: str) -> list[int]:
    assert main(["chart", SAMPLE, "--json", *arguments]) == DONE
    return json.loads(capsys.readouterr().out)["time"]


def test_a_picture_shows_200_bars_unless_asked_and_json_has_all(svg, capsys, tmp_path):
    plain = svg("chart", SAMPLE)
    assert plain == svg("chart", SAMPLE, "--bars", "200")
    whole = svg("chart", SAMPLE, "--all")
    assert whole == svg("chart", SAMPLE, "--bars", str(len(samples.bars(SAMPLE))))
    assert whole != plain
    both = times(capsys, "-o", str(tmp_path / "both.svg"))
    assert len(both) == len(samples.bars(SAMPLE))
    assert (tmp_path / "both.svg").read_text() == plain


def test_a_script_is_drawn_by_run_as_by_chart(svg, script, capsys):
    drawn = svg("run", script, SAMPLE)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "seen from 2560\n")
    assert "Mine" in drawn
    assert (
        svg("run", script, SAMPLE, "--all") != drawn == svg("run", script, SAMPLE, "--bars", "200")
    )
    assert main(["run", script, SAMPLE, "--bars", "10", "--json"]) == DONE
    shown = capsys.readouterr()
    assert "seen from 2750" in shown.err
    answer = json.loads(shown.out)
    assert answer["bars"] == len(answer["scene"]["plots"][0]["values"]) == 10


def test_a_script_that_fails_draws_nothing(tmp_path, capsys):
    broken = tmp_path / "broken.star"
    broken.write_text(SCRIPT.replace("ta.sma", "ta.smaa"))
    assert main(["run", str(broken), SAMPLE, "-o", str(tmp_path / "x.png")]) == SCRIPT_ERROR
    assert "did you mean" in capsys.readouterr().err
    assert not (tmp_path / "x.png").exists()


def test_two_of_from_to_and_bars_say_which_bars_are_shown(capsys):
    every = samples.bars(SAMPLE).time.tolist()
    march5, march6 = 1_709_596_800_000, 1_709_683_200_000
    counted = times(capsys, "--from", "2024-03-05", "--bars", "50")
    first = next(k for k, time in enumerate(every) if time >= march5)
    assert counted == every[first : first + 50]
    last = times(capsys, "--to", "2024-03-05", "--bars", "50")
    assert last == [time for time in every if time < march6][-50:]
    between = times(capsys, "--from", "2024-03-05", "--to", "2024-03-05")
    assert between == [time for time in every if march5 <= time < march6]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--from", "2024-03-05", "--to", "2024-03-06", "--bars", "5"], "say too much"),
        (["--from", "2024-03-05", "--all"], "--all and --from contradict each other"),
        (["-o", "-", "--json"], "the picture alone goes to standard output"),
        (["-o", "x.gif"], "ends neither in .png nor in .svg: say which by --format"),
    ],
)
def test_what_contradicts_itself_is_refused(capsys, arguments, reason):
    assert main(["chart", SAMPLE, *arguments]) == BAD_INPUT
    shown = capsys.readouterr()
    assert (shown.out, reason in shown.err) == ("", True)


@pytest.mark.parametrize("verb", ["chart", "run"])
def test_a_picture_goes_to_standard_output_by_a_dash(capsysbinary, script, verb):
    command = ["chart", SAMPLE] if verb == "chart" else ["run", script, SAMPLE]
    assert main([*command, "-o", "-", "--size", "300x200"]) == DONE
    assert capsysbinary.readouterr().out.startswith(b"\x89PNG")
    assert main([*command, "-o", "-", "--format", "svg"]) == DONE
    assert capsysbinary.readouterr().out.startswith(b"<svg")


def test_a_terminal_gets_no_picture(capsys, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["chart", SAMPLE, "-o", "-"]) == BAD_INPUT
    assert "a terminal shows no picture" in capsys.readouterr().err
    assert screen.getvalue() == ""


def test_bars_come_from_standard_input_by_a_dash(monkeypatch, capsys, script):
    rows = "".join(f"{300 * row},5,6,4,{5 + row % 2}\n" for row in range(30))
    data = f"time,open,high,low,close\n{rows}".encode()

    def typed() -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    typed()
    assert main(["chart", "-", "-i", "rsi:period=3", "--json", "--symbol", "ES"]) == DONE
    chart = json.loads(capsys.readouterr().out)
    assert (chart["symbol"], chart["timeframe"], len(chart["time"])) == ("ES", "5m", 30)
    typed()
    assert main(["run", script, "-", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["bars"] == 30
    typed()
    assert main(["run", "-", "-"]) == BAD_INPUT
    assert "cannot both come from standard input" in capsys.readouterr().err
