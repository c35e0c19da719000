"""What every test can use: the reference data's place, and strict mode.

With CHARTPACT_STRICT=1 a skipped test fails the run, except those that need the reference data
where it is not there: they are listed in one line.
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("CHARTPACT_SHARED", ROOT.parent / "shared"))
# Nothing of how whoever runs the tests has set the product up, or reaches the network, is theirs.
FOR_TESTS = ("CHARTPACT_NO_NATIVE", "CHARTPACT_SHARED", "CHARTPACT_SOAK_RUNS", "CHARTPACT_STRICT")
for name in list(os.environ):
    own = name.startswith("CHARTPACT_") and name not in FOR_TESTS
    if own or name.lower().endswith("_proxy"):
        del os.environ[name]
# No test asks a server that it has not started itself, nor looks into anybody's library.
for name in ("CHARTPACT_FUTURES_URL", "CHARTPACT_SENTIMENT_URL"):
    os.environ[name] = "http://127.0.0.1:9"
os.environ["CHARTPACT_DB"] = f"sqlite:///{ROOT}/no/such/library.db"
if find_spec("chartpact._native") is None:
    # No sandbox then, and slow kernels in every process: the tests' own scripts are trusted.
    os.environ["CHARTPACT_TRUST_SCRIPTS"] = "1"
    os.environ["PYTHONWARNINGS"] = "ignore:ta kernels:RuntimeWarning"
STRICT = os.environ.get("CHARTPACT_STRICT", "") not in ("", "0")

# Timings never decide a test, and the same examples are tried on every machine.
settings.register_profile(
    "chartpact",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("chartpact")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; mark the test `needs_shared`."""
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        absent = pytest.mark.skip(reason=f"the reference data is not at {SHARED}")
        for item in items:
            if item.get_closest_marker("needs_shared"):
                item.add_marker(absent)


def _skipped(reporter: pytest.TerminalReporter, needs_shared: bool) -> list[pytest.TestReport]:
    return [
        each
        for each in reporter.stats.get("skipped", [])
        # a module that was skipped as a whole has no keywords
        if ("needs_shared" in getattr(each, "keywords", ())) == needs_shared
    ]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    unshared = _skipped(terminalreporter, needs_shared=True)
    if unshared:
        tests = {each.nodeid.partition("[")[0]: None for each in unshared}
        terminalreporter.line(f"not run without the reference data: {', '.join(tests)}")
    for each in _skipped(terminalreporter, needs_shared=False):
        reason = each.longrepr[2] if isinstance(each.longrepr, tuple) else each.longrepr
        terminalreporter.line(f"skipped: {each.nodeid}: {reason}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if STRICT and exitstatus == 0 and _skipped(reporter, needs_shared=False):
        reporter.line("strict: a skipped test is a failure", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
