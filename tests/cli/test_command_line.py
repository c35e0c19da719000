import argparse
import io
import os
import re
import shlex
import signal
import subprocess
import sys

import pytest

from chartpact import cli
from chartpact.cli import BAD_INPUT, DONE, main


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == "chartpact 0.1.0\n"


def test_without_a_verb_a_newcomer_sees_what_there_is(capsys):
    assert main([]) == DONE
    shown = " ".join(capsys.readouterr().out.split())  # however wide the screen is
    assert "chart" in shown
    assert "A first try: chartpact chart sample:es-5m" in shown


def test_an_unknown_verb_is_bad_usage_and_names_the_verbs(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["chrat"])
    assert stop.value.code == BAD_INPUT
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "'chrat'" in shown.err
    assert "doctor" in shown.err


@pytest.fixture(scope="module")
def findings():
    """What doctor tells where few files may be open; it tries every layer of the sandbox."""
    limited = 'ulimit -Sn 300; ulimit -Hn 400; exec "$0" -m chartpact doctor'
    command = ["bash", "-c", limited, sys.executable]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == DONE, result.stderr
    return dict(re.split(r"  +", line, maxsplit=1) for line in result.stdout.splitlines()[:9])


def test_doctor_tells_python_numpy_and_the_kernels_in_use(findings):
    assert findings["Python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert {"chartpact", "NumPy", "kernels"} <= set(findings)


def test_doctor_tells_how_many_files_may_be_open_and_what_a_server_raises_it_to(findings):
    told = "300; a server raises it to 400, the most this system permits"
    assert findings["open files"] == told


def test_a_closed_pipe_is_no_error():
    python = shlex.quote(sys.executable)
    command = f"{python} -m chartpact indicators | head -1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == DONE
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        ("symbols", "<&- >&- 2>&-", DONE),
        ("snapshot --bars sample:es-5m -i rsi", "<&-", DONE),
        ("snapshot --bars sample:es-5m -i rsi", ">&-", DONE),
        ("chart sample:none", ">&-", BAD_INPUT),
        ("chart sample:none", "2>&-", BAD_INPUT),
    ],
)
def test_streams_that_are_closed_change_no_exit_code(arguments, closed, code):
    command = f"{shlex.quote(sys.executable)} -m chartpact {arguments} {closed}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.returncode, "Traceback" in result.stderr) == (code, False), result.stderr


@pytest.mark.parametrize("arguments", ["check -", "read ob_ai --snapshot -", "scripts import -"])
def test_a_closed_standard_input_is_told(arguments):
    command = f"{shlex.quote(sys.executable)} -m chartpact {arguments} <&-"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (result.returncode, "standard input is closed" in result.stderr) == (BAD_INPUT, True)


def test_ctrl_c_ends_a_command_without_a_traceback(tmp_path):
    pipe = tmp_path / "script.star"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "chartpact", "check", str(pipe)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        with pipe.open("w"):  # opened when the command reads it
            running.send_signal(signal.SIGINT)
            assert running.stderr.read() == ""
        assert running.wait() == 130


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_progress_bar_moves_on_a_terminal_though_control_characters_are_escaped(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("chartpact.bars.csvfile.SHOW_PROGRESS", 2)
    file = tmp_path / "es.csv"
    rows = "".join(f"{300 * row},5,6,4,5\n" for row in range(4))
    file.write_text(f"time,open,high,low,close\n{rows}")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["chart", str(file), "--symbol", "a\rb", "--summary"]) == DONE
    assert "\rreading bars" in screen.getvalue()
    assert "u000d" not in screen.getvalue()


def test_every_verb_is_in_the_table_by_which_a_command_imports_its_module_alone():
    def names(top: argparse.ArgumentParser) -> set[str]:
        action = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))
        return set(action.choices)

    for noun, verbs in cli.NOUNS.items():
        for verb in verbs:
            assert names(cli.parser(verb=verb)) == set(verbs), noun
    table = {verb for verbs in cli.NOUNS.values() for verb in verbs}
    assert names(cli.parser()) == table | {"completion"}


def test_a_command_that_reads_nothing_does_not_import_the_contracts():
    program = "import sys; from chartpact.__main__ import main; main(['chart', 'sample:es-5m'])"
    loaded = "print(*(name for name in sys.modules if name.startswith('chartpact.contracts')))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; print('-' * 9); {loaded}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.rpartition("---------\n")[2].strip() == ""
