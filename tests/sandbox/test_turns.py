"""Runs are admitted as cores allow, and users take turns."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartpact.sandbox import wire
from chartpact.sandbox.pool import Allowance, Answered, Pool, RunFailed, cores
from chartpact.sandbox.turns import Crowded, Turns

from .conftest import PLANTED
from .processes import running, wait_until

ECHO = wire.encode({"kind": "echo"})
SLEEP = wire.encode({"kind": "sleep"})
LOOP = wire.encode({"kind": "loop"})


class Log:
    """Who was granted a turn, in order."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.granted: list[str | None] = []

    def ask(self, user: str | None) -> None:
        self.turns.ask(user, lambda: self.granted.append(user))


def test_there_are_as_many_turns_as_cores() -> None:
    assert Pool().turns.turns == cores() >= 1


def test_users_who_wait_take_turns() -> None:
    log = Log(Turns(1))
    for user in ["ann"] * 4 + ["bob", "cid", "bob"]:
        log.ask(user)
    for _ in range(6):
        log.turns.done(log.granted[-1])
    assert log.granted == ["ann", "bob", "cid", "ann", "bob", "ann", "ann"]


def test_long_turns_are_paid_by_the_user_who_takes_them() -> None:
    log = Log(Turns(1))
    for user in ["ann"] * 3 + ["bob"] * 6:
        log.ask(user)
    for _ in range(8):
        log.turns.done(log.granted[-1], 1.0 if log.granted[-1] == "ann" else 0.25)
    assert log.granted == ["ann", *["bob"] * 4, "ann", *["bob"] * 2, "ann"]


def test_who_was_away_has_saved_up_no_turns() -> None:
    log = Log(Turns(1))
    log.ask("ann")
    log.ask("bob")
    log.turns.done("ann", 1.0)
    for _ in range(3):
        log.ask("bob")
    for _ in range(2):
        log.turns.done("bob", 1.0)
    for user in ("cid", "cid", "bob"):
        log.ask(user)
    for _ in range(4):
        log.turns.done(log.granted[-1], 1.0)
    assert log.granted == ["ann", "bob", "bob", "bob", "cid", "bob", "cid", "bob"][:8]


def test_turns_that_nobody_else_wanted_are_not_held_against_anybody() -> None:
    """Ann worked all night beside a run that never ended; in the morning she is not the last."""
    log = Log(Turns(2))
    log.ask("night")
    for _ in range(100):
        log.ask("ann")
        log.turns.done("ann", 1.0)
    del log.granted[:]
    log.ask("cid")
    for _ in range(10):
        for user in ("bob", "cid", "ann"):
            log.ask(user)
    for _ in range(9):
        log.turns.done(log.granted[-1], 1.0)
    assert log.granted.count("ann") >= 3


def test_no_account_is_kept_of_users_who_are_gone() -> None:
    log = Log(Turns(2))
    log.ask("ann")
    for number in range(3000):
        log.ask(f"user {number}")
        log.turns.done(f"user {number}", 0.001)
    assert len(log.turns._spent) <= 1001
    log.turns.done("ann", 1.0)
    assert log.turns._spent == {}
    assert log.turns._level == 0


def test_of_very_many_who_are_gone_who_owes_most_is_remembered() -> None:
    log = Log(Turns(2))
    log.ask("here")
    log.ask("owes")
    log.turns.done("owes", 100.0)
    for number in range(3000):
        log.ask(f"user {number}")
        log.turns.done(f"user {number}", 0.001)
    assert log.turns._spent["owes"] >= 100


def test_one_user_never_has_all_turns() -> None:
    log = Log(Turns(4))
    for _ in range(10):
        log.ask("ann")
    assert log.granted == ["ann"] * 2
    log.ask("bob")
    assert log.granted == ["ann"] * 2 + ["bob"]


def test_the_local_user_may_have_all_turns() -> None:
    log = Log(Turns(4))
    for _ in range(10):
        log.ask(None)
    assert log.granted == [None] * 4


def test_there_is_an_end_to_waiting_room() -> None:
    log = Log(Turns(1, most_waiting=2))
    for user in ("ann", "ann", "bob"):
        log.ask(user)
    with pytest.raises(Crowded):
        log.ask("cid")


def test_one_user_never_fills_the_waiting_room() -> None:
    log = Log(Turns(1, most_waiting=20))
    for _ in range(6):
        log.ask("ann")
    with pytest.raises(Crowded):
        log.ask("ann")
    log.ask("bob")
    for _ in range(14):
        log.ask(None)
    with pytest.raises(Crowded):
        log.ask("cid")
    assert log.turns._waiting.keys() == {"ann", "bob", None}


def test_who_stops_waiting_is_not_granted_a_turn() -> None:
    turns = Turns(1)
    log = Log(turns)
    log.ask("ann")

    def granted() -> None:
        raise AssertionError

    turns.ask("bob", granted)
    assert turns.withdraw("bob", granted)
    assert not turns.withdraw("bob", granted)
    turns.done("ann")
    assert log.granted == ["ann"]


@given(
    turns=st.integers(1, 5),
    steps=st.lists(st.one_of(st.sampled_from(["ann", "bob", "cid", None]), st.integers(0, 99))),
)
def test_no_turn_is_lost_nor_given_twice(turns: int, steps: list[str | int | None]) -> None:
    """A name asks for a turn, a number ends one of those under way."""
    queue = Turns(turns)
    running: list[str | None] = []
    asked = ended = 0
    for step in steps:
        if isinstance(step, int):
            if running:
                ended += 1
                queue.done(running.pop(step % len(running)))
        else:
            asked += 1
            queue.ask(step, lambda user=step: running.append(user))  # type: ignore[misc]
        assert len(running) <= turns
        for user in ("ann", "bob", "cid"):
            assert running.count(user) <= queue.per_user
        waiting = asked - ended - len(running)
        if len(running) < turns and waiting:  # only those who have their share are kept waiting
            assert all(running.count(user) == queue.per_user for user in queue._waiting)
    while running:
        ended += 1
        queue.done(running.pop())
    assert ended == asked


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
                    os.kill(child, signal.SIGKILL)
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
            pool.run(LOOP, Allowance(wall_ms=500), "ann")
        began = time.monotonic()
        pool.run(ECHO, user="bob")
        assert pool.turns._spent["bob"] <= time.monotonic() - began
        assert pool.turns._spent["ann"] >= 0.5


def test_the_clock_starts_with_the_run_not_with_the_waiting() -> None:
    with Pool(1, planted=PLANTED) as pool, ThreadPoolExecutor(1) as threads:
        with occupied(pool):
            short = threads.submit(pool.run, ECHO, Allowance(wall_ms=1000))
            assert wait_until(lambda: bool(pool.turns._waiting))
            time.sleep(1.1)
        assert short.result().document == {"kind": "echo"}


def test_an_event_loop_can_wait_for_runs() -> None:
    async def several(pool: Pool) -> list[int]:
        jobs = [wire.encode({"kind": "echo", "i": i}) for i in range(20)]
        futures = [
            asyncio.wrap_future(pool.submit(job, user=f"u{i % 3}")) for i, job in enumerate(jobs)
        ]
        failing = asyncio.wrap_future(pool.submit(wire.encode({"kind": "segfault"})))
        answers = [(await future).document["i"] for future in futures]
        with pytest.raises(RunFailed):
            await failing
        return answers

    with Pool(2, planted=PLANTED) as pool:
        assert asyncio.run(several(pool)) == list(range(20))
        cancelled = pool.submit(wire.encode({"kind": "loop"}), Allowance(wall_ms=100))
        waiting = [pool.submit(wire.encode({"kind": "echo"})) for _ in range(4)]
        waiting[-1].cancel()
        assert waiting[0].result().document == {"kind": "echo"}
        assert isinstance(cancelled.exception(), RunFailed)
