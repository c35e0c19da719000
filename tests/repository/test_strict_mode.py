"""How the suite is run: strict mode, on which `.ci/run` relies, and several processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
SEVERAL = ("-p", "xdist", "--numprocesses=2", "--dist=loadfile")


def run_pytest(
    folder: Path, *options: str, files: dict[str, str], **env: str
) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir()
    (folder / "tests" / "conftest.py").write_text(CONFTEST.read_text())
    for name, test in files.items():
        (folder / "tests" / name).write_text(
            f"import pytest, time\n{test}\ndef test_good(): pass\n"
        )
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  needs_shared\n  alone\n")
    plain = {key: value for key, value in os.environ.items() if not key.startswith("CHARTPACT_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests"],
        cwd=folder,
        env=plain | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


SKIPPING = {
    "test_it.py": "@pytest.mark.skip(reason='no browser here')\ndef test_page(): pass\n",
    "test_too.py": "pytest.skip('no compiler here', allow_module_level=True)",
}
SHARED = {"test_it.py": "@pytest.mark.needs_shared\ndef test_golden(shared): pass\n"}


@pytest.mark.parametrize("options", [(), SEVERAL], ids=["one process", "several"])
def test_a_skip_passes_and_names_its_reason_be_it_of_a_test_or_of_a_module(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    result = run_pytest(tmp_path, *options, files=SKIPPING)
    assert result.returncode == 0
    assert "skipped: tests/test_it.py::test_page: Skipped: no browser here" in result.stdout
    assert "skipped: tests/test_too.py: Skipped: no compiler here" in result.stdout


@pytest.mark.parametrize("options", [(), SEVERAL], ids=["one process", "several"])
def test_a_skip_fails_in_strict_mode(tmp_path: Path, options: tuple[str, ...]) -> None:
    result = run_pytest(tmp_path, *options, files=SKIPPING, CHARTPACT_STRICT="1")
    assert result.returncode == 1
    assert "strict: a skipped test is a failure" in result.stdout


@pytest.mark.parametrize("strict", ["", "1"])
def test_missing_reference_data_is_listed_in_one_line_and_passes(tmp_path: Path, strict: str):
    env = {"CHARTPACT_STRICT": strict, "CHARTPACT_SHARED": str(tmp_path / "nowhere")}
    result = run_pytest(tmp_path, files=SHARED, **env)
    assert result.returncode == 0, result.stdout
    assert "not run without the reference data: tests/test_it.py::test_golden" in result.stdout


def test_a_test_file_that_cannot_be_imported_fails_the_run(tmp_path: Path) -> None:
    options = ("--doctest-modules", "--doctest-ignore-import-errors", "--import-mode=importlib")
    files = {"test_it.py": "from os import no_such_name", "test_too.py": ""}
    result = run_pytest(tmp_path, *options, files=files)
    assert result.returncode == pytest.ExitCode.INTERRUPTED
    assert "ERROR tests/test_it.py" in result.stdout


ALONE = """
def note(text):
    with open("log", "a") as log:
        log.write(text + "\\n")

def test_others_run():
    while not os.path.exists("log"):
        time.sleep(0.01)

@pytest.mark.alone
def test_alone():
    note("begins")
    time.sleep(0.5)
    note("ends")
"""
OTHERS = """
@pytest.mark.parametrize("number", range(40))
def test_other(number):
    with open("log", "a") as log:
        log.write("other\\n")
        log.flush()
        time.sleep(0.05)
        log.write("other\\n")
"""


def test_while_a_test_runs_alone_no_other_process_runs_one(tmp_path: Path) -> None:
    files = {"test_alone.py": f"import os\n{ALONE}", "test_others.py": OTHERS}
    result = run_pytest(tmp_path, *SEVERAL, files=files)
    assert result.returncode == 0, result.stdout
    lines = (tmp_path / "log").read_text().split()
    begins, ends = lines.index("begins"), lines.index("ends")
    assert (begins % 2, ends) == (0, begins + 1)
    assert 0 < begins < 80, "the others were not under way"
