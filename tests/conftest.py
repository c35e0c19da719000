"""What every test can use: the reference data's place, strict mode, and a machine for itself.

With CHARTPACT_STRICT=1 a skipped test fails the run, except those that need the reference data
where it is not there: they are listed in one line.

`make test` runs the suite in several processes. A test marked `alone` starts when the tests that
the other processes run are over, and those processes start no other until it is over itself.
"""

import gc
import logging
import os
import signal
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from tests.postgres import Postgres

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("CHARTPACT_SHARED", ROOT.parent / "shared"))
# Nothing of how whoever runs the tests has set the product up, or reaches the network, is theirs.
FOR_TESTS = ("CHARTPACT_CASE", "CHARTPACT_EXHAUSTIVE", "CHARTPACT_NO_NATIVE", "CHARTPACT_SHARED",
             "CHARTPACT_SOAK_KILLS", "CHARTPACT_SOAK_RUNS", "CHARTPACT_STRICT",
             "CHARTPACT_TEST_DATABASE", "CHARTPACT_WRITE_GOLDENS")  # fmt: skip
for name in list(os.environ):
    own = name.startswith("CHARTPACT_") and name not in FOR_TESTS
    if own or name.lower().endswith("_proxy"):
        del os.environ[name]
# No test asks a server that it has not started itself, nor looks into anybody's library or cache.
os.environ["CHARTPACT_SOURCES"] = ""  # which replaces an exchange and Yahoo
os.environ["CHARTPACT_CACHE"] = "off"
for name in ("CHARTPACT_FUTURES_URL", "CHARTPACT_SENTIMENT_URL"):
    os.environ[name] = "http://127.0.0.1:9"
os.environ["CHARTPACT_DB"] = f"sqlite:///{ROOT}/no/such/library.db"
os.environ["CHARTPACT_WARM"] = "off"  # a server starts its workers when it needs them
if find_spec("chartpact._native") is None:
    # No sandbox then, and slow kernels in every process: the tests' own scripts are trusted.
    os.environ["CHARTPACT_TRUST_SCRIPTS"] = "1"
    os.environ["PYTHONWARNINGS"] = "ignore:ta kernels:RuntimeWarning"
STRICT = os.environ.get("CHARTPACT_STRICT", "") not in ("", "0")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The tests start hundreds of interpreters, which would compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
MOST_PROCESSES = 4  # each of them has to collect the tests
# Several processes share the files in this order: the long ones first, to end at the same time.
LONGEST = ("server", "repository", "sandbox", "contracts", "script", "pacts", "library", "work")

# Timings never decide a test, and the same examples are tried on every machine.
# (As in `tests.effort`; this file alone is copied by the tests of strict mode.)
settings.register_profile(
    "chartpact",
    deadline=None,
    derandomize=True,
    max_examples=75 if os.environ.get("CHARTPACT_EXHAUSTIVE") else 25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("chartpact")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data; mark the test `needs_shared`."""
    return SHARED


@pytest.fixture(scope="session")
def postgres() -> "Postgres":
    """A PostgreSQL server for this process of the run."""
    from tests.postgres import own_server

    return own_server()


def pytest_runtest_teardown() -> None:
    """Takes away what `main` logs with: its stream is the test's, and is closed after it."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if type(handler.formatter).__module__ == "chartpact.server.logs":
            root.removeHandler(handler)
            root.setLevel(logging.WARNING)


RUN = pytest.StashKey[TemporaryDirectory[str]]()


class Machine:
    """A lock between the processes of one run: held by all of them, or by one alone."""

    def __init__(self, folder: str) -> None:
        self._door, self._floor = (
            os.open(Path(folder, name), os.O_CREAT | os.O_RDWR) for name in ("door", "floor")
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock

        alone = item.get_closest_marker("alone") is not None
        flock(self._door, LOCK_EX)  # kept while one waits to be alone, so that nobody overtakes it
        flock(self._floor, LOCK_EX if alone else LOCK_SH)
        flock(self._door, LOCK_UN)
        try:
            return (yield)
        finally:
            flock(self._floor, LOCK_UN)


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until the tests are collected: what is imported and collected stays
    if hasattr(config, "workerinput"):  # this is one of several processes
        os.environ["TESTS_RUN"] = config.workerinput["run"]
        config.pluginmanager.register(Machine(config.workerinput["run"]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: tests of a server mostly wait for it.

    One core is left free where the suite gives way to others: a sandbox gives way as its owner
    does, in a session of its own, and gets no time beside tests that keep every core busy.
    """
    from chartpact.work.cores import count_cores

    gives_way = os.getpriority(os.PRIO_PROCESS, 0) > 0
    return max(1, min(count_cores() + 1 - 2 * gives_way, MOST_PROCESSES))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells each process of a run the folder of what they share."""
    if RUN not in node.config.stash:
        folder = node.config.stash[RUN] = TemporaryDirectory()
        node.config.add_cleanup(folder.cleanup)
    node.workerinput["run"] = node.config.stash[RUN].name


def _length(item: pytest.Item) -> int:
    room = item.path.relative_to(ROOT).parts[1]  # of tests/ROOM/…
    return LONGEST.index(room) if room in LONGEST else len(LONGEST)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_length)
    if not SHARED.is_dir():
        absent = pytest.mark.skip(reason=f"the reference data is not at {SHARED}")
        for item in items:
            if item.get_closest_marker("needs_shared"):
                item.add_marker(absent)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Doctests of the package alone: a test file that they cannot import would count as skipped."""
    return [each for each in (yield) if type(each) is pytest.Module]


def pytest_collection_finish() -> None:
    gc.freeze()  # thousands of tests, which no later garbage collection need look through
    gc.set_threshold(50_000)  # most of what a test makes is no garbage, and is short-lived
    gc.enable()


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
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")  # not in each process
    if STRICT and exitstatus == 0 and reporter and _skipped(reporter, needs_shared=False):
        reporter.line("strict: a skipped test is a failure", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
