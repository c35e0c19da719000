"""Advice is for the door it is given at: only the shell's own modules name its commands."""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.cases import in_one_test

from chartpact.__main__ import parser

SOURCE = Path(__file__).resolve().parents[2] / "src" / "chartpact"
# The verbs of the shell, what starts the workers of one, data frames, which only Python asks for,
# and the page that tells people how to connect a client.
OF_THE_SHELL = (
    "cli/",
    "extras.py",
    "library/local.py",
    "frames.py",
    "server/command.py",
    "server/user_command.py",
    "server/connect_page.py",
)
VERBS = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
COMMAND = re.compile(
    rf"[`'](.venv/bin/)?chartpact ({'|'.join(VERBS)})\b|(?<![\w-])--[a-z]|pip install"
)


def told(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of a module that is no docstring."""
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings:
            yield node.lineno, node.value


MODULES = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if not path.relative_to(SOURCE).as_posix().startswith(OF_THE_SHELL)
]


@in_one_test("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_message_that_can_reach_another_door_names_a_command_of_the_shell(path):
    named = [(line, text) for line, text in told(path) if COMMAND.search(text)]
    assert not named


def test_a_command_would_be_found():
    for text in ("`chartpact doctor` tells", "(--bars-tz)", "pip install 'chartpact[x]'"):
        assert COMMAND.search(text)
    assert not COMMAND.search("a chartpact indicator: write 1 -- 2")
