"""`chartpact completion`: what the Tab key offers."""

import argparse
import subprocess

import pytest

from chartpact.__main__ import main, parser

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture
def complete(capsys):
    """What bash offers after a line."""
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def ask(line: str) -> list[str]:
        typed = f'{script}\nCOMP_LINE=$1 COMP_POINT=${{#1}}; _chartpact; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(
            ["bash", "-c", typed, "bash", line], capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return done.stdout.split()

    return ask


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("chartpact ch", ["chart", "check"]),
        ("chartpact chart --th", ["--theme"]),
        ("chartpact chart sample:es-5m --theme ", ["dark", "light"]),
        ("chartpact chart sample:es-5m -i rs", ["rsi", "rsi_mfi_stoch"]),
        ("chartpact chart ", []),  # files, by bash itself
        ("chartpact run mine.star sample:es-", ["es-1m", "es-5m"]),  # bash has the part before
        ("chartpact scripts re", ["restore", "remove"]),
        ("chartpact scripts add --d", ["--db"]),
        ("chartpact completion ", list(SHELLS)),
        ("chartpact serve --log ", ["plain", "json"]),
    ],
)
def test_bash_completes_verbs_options_and_names(complete, line, offered):
    assert complete(line) == offered


def _parsers(top: argparse.ArgumentParser):
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _parsers(below)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_verb_and_option_is_in_the_script_of_each_shell(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for verb in list(_parsers(parser()))[1:]:
        assert verb.prog.split()[-1] in script
        for option in verb._option_string_actions:
            assert (option.lstrip("-") if shell == "fish" else option) in script, (
                verb.prog,
                option,
            )
