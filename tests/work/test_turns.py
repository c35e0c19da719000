"""Users take turns, and no turn is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartpact.work.turns import Crowded, Turns


class Log:
    """Who was granted a turn, in order."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.granted: list[str | None] = []

    def ask(self, user: str | None) -> None:
        self.turns.ask(user, lambda: self.granted.append(user))


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
