"""Runs are admitted as cores allow, and users take turns."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartpact.script.sandbox import wire
from chartpact.script.sandbox.pool import Allowance, Pool, RunFailed, cores
from chartpact.script.sandbox.turns import Crowded, Turns

from .conftest import PLANTED


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


def test_one_users_endless_loops_do_not_keep_the_others_waiting() -> None:
    loop, echo = wire.encode({"kind": "loop"}), wire.encode({"kind": "echo"})
    with Pool(2, planted=PLANTED) as pool, ThreadPoolExecutor(6) as threads:
        pool.zygote()
        slow = [threads.submit(pool.run, loop, Allowance(wall_ms=300), "ann") for _ in range(5)]
        time.sleep(0.05)
        for _ in range(3):
            pool.run(echo, user="bob")
        assert sum(run.done() for run in slow) <= 2
        for run in slow:
            assert isinstance(run.exception(), RunFailed)


def test_waiting_ends_as_busy() -> None:
    with Pool(1, planted=PLANTED, patience_s=0.05) as pool, ThreadPoolExecutor(1) as threads:
        pool.zygote()
        slow = threads.submit(pool.run, wire.encode({"kind": "loop"}), Allowance(wall_ms=300))
        time.sleep(0.05)
        with pytest.raises(RunFailed, match="no turn") as failed:
            pool.run(wire.encode({"kind": "echo"}))
        assert failed.value.kind == "busy"
        assert isinstance(slow.exception(), RunFailed)
        assert pool.run(wire.encode({"kind": "echo"})).document == {"kind": "echo"}


def test_who_is_interrupted_while_waiting_gives_the_turn_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:  # noqa: ARG002
            raise KeyboardInterrupt

    echo = wire.encode({"kind": "echo"})
    with Pool(1, planted=PLANTED, patience_s=5) as pool, ThreadPoolExecutor(1) as threads:
        pool.zygote()
        with monkeypatch.context() as patch:
            patch.setattr("chartpact.script.sandbox.pool.threading.Event", Interrupted)
            with pytest.raises(KeyboardInterrupt):  # granted at once
                pool.run(echo)
        slow = threads.submit(pool.run, wire.encode({"kind": "loop"}), Allowance(wall_ms=300))
        time.sleep(0.05)
        with monkeypatch.context() as patch:
            patch.setattr("chartpact.script.sandbox.pool.threading.Event", Interrupted)
            with pytest.raises(KeyboardInterrupt):  # still waiting
                pool.run(echo)
        assert isinstance(slow.exception(), RunFailed)
        assert pool.run(echo).document == {"kind": "echo"}
        assert pool.turns._running == pool.turns._waiting == {}


def test_a_turn_costs_the_time_it_took() -> None:
    with Pool(2, planted=PLANTED) as pool, ThreadPoolExecutor(1) as threads:
        pool.zygote()
        keeps = threads.submit(pool.run, wire.encode({"kind": "loop"}), Allowance(900), "cid")
        time.sleep(0.05)
        with pytest.raises(RunFailed):
            pool.run(wire.encode({"kind": "loop"}), Allowance(wall_ms=500), "ann")
        pool.run(wire.encode({"kind": "echo"}), user="bob")
        spent = dict(pool.turns._spent)
        assert isinstance(keeps.exception(), RunFailed)
        assert spent["ann"] >= 0.5
        assert spent["bob"] < spent["ann"]


def test_the_clock_starts_with_the_run_not_with_the_waiting() -> None:
    with Pool(1, planted=PLANTED) as pool, ThreadPoolExecutor(2) as threads:
        pool.zygote()
        slow = threads.submit(pool.run, wire.encode({"kind": "loop"}), Allowance(wall_ms=300))
        time.sleep(0.05)
        short = pool.run(wire.encode({"kind": "echo"}), Allowance(wall_ms=100))
        assert short.document == {"kind": "echo"}
        assert isinstance(slow.exception(), RunFailed)


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
