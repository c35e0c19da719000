"""Strict mode: what `.ci/run` relies on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"


def run_pytest(folder: Path, test: str, **env: str) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir()
    (folder / "tests" / "conftest.py").write_text(CONFTEST.read_text())
    (folder / "tests" / "test_it.py").write_text(f"import pytest\n{test}\ndef test_good(): pass\n")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = needs_shared\n")
    plain = {key: value for key, value in os.environ.items() if not key.startswith("CHARTPACT_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=folder,
        env=plain | env,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


SKIPPING = "@pytest.mark.skip(reason='no browser here')\ndef test_page(): pass\n"
SHARED = "@pytest.mark.needs_shared\ndef test_golden(shared): pass\n"


def test_a_skip_passes_and_names_its_reason(tmp_path: Path) -> None:
    result = run_pytest(tmp_path, SKIPPING)
    assert result.returncode == 0
    assert "skipped: tests/test_it.py::test_page: Skipped: no browser here" in result.stdout


def test_a_module_may_be_skipped_as_a_whole(tmp_path: Path) -> None:
    whole = "pytest.skip('no compiler here', allow_module_level=True)"
    result = run_pytest(tmp_path, whole)
    assert "skipped: tests/test_it.py: Skipped: no compiler here" in result.stdout
    assert result.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_skip_fails_in_strict_mode(tmp_path: Path) -> None:
    result = run_pytest(tmp_path, SKIPPING, CHARTPACT_STRICT="1")
    assert result.returncode == 1
    assert "strict" in result.stdout


@pytest.mark.parametrize("strict", ["", "1"])
def test_missing_reference_data_is_listed_in_one_line_and_passes(tmp_path: Path, strict: str):
    absent = str(tmp_path / "nowhere")
    result = run_pytest(tmp_path, SHARED, CHARTPACT_STRICT=strict, CHARTPACT_SHARED=absent)
    assert result.returncode == 0, result.stdout
    assert "not run without the reference data: tests/test_it.py::test_golden" in result.stdout
