"""`make quick`: which tests a change needs."""

from pathlib import Path

import pytest
from tests import quick

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("file", "room"),
    [
        ("src/chartpact/contracts/reading/engine.py", "contracts"),
        ("src/chartpact/cache.py", "cache"),
        ("src/chartpact/native/module.c", "ta"),
        ("tests/cli/test_chart.py", "cli"),
        ("tests/test_syntax.py", "syntax"),
        ("docs/server.md", "repository"),
        ("tests/conftest.py", "repository"),
        ("Makefile", "repository"),
        ("src/chartpact/server/verbs.py", "server"),
        ("src/chartpact/server/auth/grants.py", "auth"),
        ("tests/server/auth/test_flow.py", "auth"),
        ("tests/server/web/test_board.py", "web"),
        ("web/src/main.ts", "web"),
        ("bench/ta.py", None),
    ],
)
def test_a_file_belongs_to_a_room(file, room):
    assert quick.room_of(file) == room


def test_a_room_is_its_tests_and_its_modules():
    assert quick.paths(["contracts"])[:2] == ["tests/contracts", "src/chartpact/contracts"]
    assert quick.paths(["syntax"])[:2] == ["tests/test_syntax.py", "src/chartpact/syntax.py"]


def test_parts_of_the_server_are_rooms_of_their_own():
    assert quick.paths(["auth"])[:2] == ["tests/server/auth", "src/chartpact/server/auth"]
    assert "tests/server" in quick.paths(["server"])
    assert quick.left_out(["server"]) == ["--ignore=tests/server/auth", "--ignore=tests/server/web"]
    assert quick.left_out(["server", "web"]) == ["--ignore=tests/server/auth"]


@pytest.mark.parametrize(
    "folder", sorted({file.parent.name for file in ROOT.glob("tests/*/test_*")})
)
def test_every_folder_of_tests_is_a_room(folder):
    assert f"tests/{folder}" in quick.paths([folder])


def test_a_room_that_is_not_there_is_told(capsys):
    assert quick.main(["contrats"]) == 2
    assert "there is no room 'contrats'" in capsys.readouterr().err
