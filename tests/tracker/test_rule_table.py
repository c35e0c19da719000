"""The table of the tracker's rules names a test for each, and the tests are there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADR = ROOT / "docs" / "adr" / "0019-following-state.md"
FILES = {
    "step": "tests/tracker/test_step.py",
    "journal": "tests/library/test_journal.py",
    "watch": "tests/cli/test_watch.py",
    "engine": "tests/contracts/test_engine.py",
}


def test_each_of_the_25_rules_names_tests_that_are_there():
    rows = re.findall(r"^\| ([0-9]+) \| .+ \| (.+) \|$", ADR.read_text(), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 26))
    for number, cell in rows:
        for part in cell.split("; "):
            where, _, tests = part.partition(": ")
            known = re.findall(r"^def (test_\w+)", (ROOT / FILES[where]).read_text(), re.MULTILINE)
            named = re.findall(r"`(\w+)`", tests)
            assert named, number
            assert set(named) <= set(known), (number, set(named) - set(known))
