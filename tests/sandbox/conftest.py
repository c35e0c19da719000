"""A pool whose children know what `planted.py` can do, and the ways to ask it."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from chartpact.sandbox import wire
from chartpact.sandbox.endings import RunBounds
from chartpact.sandbox.layers import ALL
from chartpact.sandbox.pool import Answered, Pool, Renewal

PLANTED = Path(__file__).with_name("planted.py")
PATIENT_MS = 60_000  # for runs that end by themselves: how busy this machine is decides no test

Ask = Callable[..., Answered]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_spec("chartpact._native") is None:
        absent = pytest.mark.skip(reason="the sandbox needs the C extension, which is not built")
        for item in items:
            if item.path.parent == PLANTED.parent:
                item.add_marker(absent)


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    """A run that was not said to be short may take its time, and so may its zygote."""
    with pytest.MonkeyPatch.context() as patch:
        import_module("chartpact.sandbox.scripts")  # which keeps the real one for scripts
        patient = partial(RunBounds, PATIENT_MS, PATIENT_MS)
        patch.setattr("chartpact.sandbox.pool.RunBounds", patient)
        patch.setattr("chartpact.sandbox.zygote_handle.FORK_S", PATIENT_MS / 1000)
        yield


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    never = Renewal(runs=1 << 30, seconds=1e9, crashes=1 << 30)
    with Pool(2, planted=PLANTED, renewal=never) as pool:
        yield pool


@pytest.fixture
def ask(pool: Pool) -> Ask:
    """Runs a planted kind: `ask("echo", wall_ms=100, key=value)`."""

    def ask(
        kind: str,
        columns: Any = (),
        user: str | None = None,
        wall_ms: int = PATIENT_MS,
        cpu_ms: int = PATIENT_MS,
        layers: int = ALL,
        **job: Any,
    ) -> Answered:
        parts = wire.encode({"kind": kind, **job}, columns)
        return pool.run(parts, RunBounds(cpu_ms, wall_ms, layers=layers), user)

    return ask
