"""What every test can use: the reference data's place, and strict mode."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("CHARTPACT_SHARED", ROOT.parent / "shared"))
STRICT = os.environ.get("CHARTPACT_STRICT", "") not in ("", "0")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; mark the test `needs_shared`."""
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        absent = pytest.mark.skip(reason="the reference data folder is not there")
        for item in items:
            if item.get_closest_marker("needs_shared"):
                item.add_marker(absent)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    unshared = [r.nodeid for r in skipped if "needs_shared" in r.keywords]
    others = [r for r in skipped if "needs_shared" not in r.keywords]
    if unshared:
        terminalreporter.line(f"not run without the reference data: {', '.join(unshared)}")
    for report in others:
        terminalreporter.line(f"skipped: {report.nodeid}: {report.longrepr[2]}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if STRICT and exitstatus == 0 and reporter is not None:
        skipped = reporter.stats.get("skipped", [])
        if any("needs_shared" not in report.keywords for report in skipped):
            session.exitstatus = 1
