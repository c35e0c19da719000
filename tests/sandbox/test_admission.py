"""Runs are admitted as cores allow, and users take turns."""

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from chartpact.sandbox import wire
from chartpact.sandbox.endings import RunBounds, RunFailed
from chartpact.sandbox.pool import Answered, Pool
from chartpact.work.cores import count_cores

from .conftest import PLANTED
from .processes import running, send, wait_until

ECHO = wire.encode({"kind": "echo"})
SLEEP = wire.encode({"kind": "sleep"})
LOOP = wire.encode({"kind": "loop"})


def test_there_are_as_many_turns_as_count_cores() -> None:
    assert Pool().turns.turns == count_cores() >= 1


@contextmanager
def occupied(
    pool: Pool, user: str | None = None, runs: int = 1
) -> Iterator[list["Future[Answered]"]]:
    """Runs of this user that go on for as long as they are needed, of which one is under way."""
    zygote = pool.zygote().pid
    with ThreadPoolExecutor(runs) as threads:
        going = [threads.submit(pool.run, SLEEP, user=user) for _ in range(runs)]
        try:
            assert wait_until(lambda: len(running(zygote)) == 1)
            yield going
        finally:
            while not all(each.done() for each in going):
                for child in running(zygote):
                    send(child, signal.SIGKILL)
                time.sleep(0.01)
        assert all(isinstance(each.exception(), RunFailed) for each in going)


def test_one_users_endless_runs_do_not_keep_the_others_waiting() -> None:
    with Pool(2, planted=PLANTED) as pool, occupied(pool, "ann", 5) as endless:
        for _ in range(3):
            pool.run(ECHO, user="bob")
        assert not any(run.done() for run in endless)


def test_waiting_ends_as_busy() -> None:
    with Pool(1, planted=PLANTED, patience_s=0.05) as pool:
        with occupied(pool), pytest.raises(RunFailed, match="no turn") as failed:
            pool.run(ECHO)
        assert failed.value.kind == "busy"
        assert pool.run(ECHO).document == {"kind": "echo"}


def test_who_is_interrupted_while_waiting_gives_the_turn_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002
            raise KeyboardInterrupt

    def interrupted() -> None:
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr("chartpact.sandbox.pool.threading.Event", Interrupted)
            pool.run(ECHO)

    with Pool(1, planted=PLANTED) as pool:
        interrupted()  # its turn was granted at once
        with occupied(pool):
            interrupted()  # it still waited for one
        assert pool.run(ECHO).document == {"kind": "echo"}
        assert pool.turns._running == pool.turns._waiting == {}


def test_a_turn_costs_the_time_it_took() -> None:
    with Pool(2, planted=PLANTED) as pool, occupied(pool, "cid"):
        with pytest.raises(RunFailed):
            pool.run(LOOP, RunBounds(wall_ms=500), "ann")
        began = time.monotonic()
        pool.run(ECHO, user="bob")
        assert pool.turns._spent["bob"] <= time.monotonic() - began
        assert pool.turns._spent["ann"] >= 0.5


def test_the_clock_starts_with_the_run_not_with_the_waiting() -> None:
    with Pool(1, planted=PLANTED) as pool, ThreadPoolExecutor(1) as threads:
        with occupied(pool):
            short = threads.submit(pool.run, ECHO, RunBounds(wall_ms=1000))
            assert wait_until(lambda: bool(pool.turns._waiting))
            time.sleep(1.1)
        assert short.result().document == {"kind": "echo"}


def test_an_event_loop_can_wait_for_runs() -> None:
    async def several(pool: Pool) -> list[int]:
        jobs = [wire.encode({"kind": "echo", "i": i}) for i in range(20)]
        runs = [asyncio.to_thread(pool.run, job, user=f"u{i % 3}") for i, job in enumerate(jobs)]
        failing = asyncio.to_thread(pool.run, wire.encode({"kind": "segfault"}))
        *answers, failure = await asyncio.gather(*runs, failing, return_exceptions=True)
        assert isinstance(failure, RunFailed)
        return [answer.document["i"] for answer in answers if isinstance(answer, Answered)]

    with Pool(2, planted=PLANTED) as pool:
        assert asyncio.run(several(pool)) == list(range(20))
