import pytest

from chartpact.server.allowance import Allowance, TooMuch


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_minutes_worth_can_be_spent_at_once_and_comes_back_evenly():
    clock = Clock()
    calls = Allowance("calls", 60, clock)
    for _ in range(60):
        calls.spend("ann")
    with pytest.raises(TooMuch, match="you may ask for 60 calls a minute"):
        calls.spend("ann")
    clock.now += 2
    calls.spend("ann", 2)
    with pytest.raises(TooMuch):
        calls.spend("ann")


def test_users_spend_their_own():
    calls = Allowance("calls", 1, Clock())
    calls.spend("ann")
    calls.spend("bob")
    with pytest.raises(TooMuch):
        calls.spend("ann")


def test_one_is_told_how_long_to_wait():
    clock = Clock()
    pixels = Allowance("megapixels", 60, clock)
    pixels.spend("ann", 60)
    with pytest.raises(TooMuch) as refusal:
        pixels.spend("ann", 10)
    assert refusal.value.retry_after_s == pytest.approx(10)
    clock.now += 10
    pixels.spend("ann", 10)


def test_who_was_away_for_long_has_a_minutes_worth_and_no_more():
    clock = Clock()
    calls = Allowance("calls", 60, clock)
    calls.spend("ann")
    clock.now += 3600
    calls.spend("ann", 60)
    with pytest.raises(TooMuch):
        calls.spend("ann")


def test_what_was_reserved_is_settled_by_what_was_used():
    clock = Clock()
    seconds = Allowance("seconds", 20, clock)
    assert seconds.reserve("ann", 5) == 5
    seconds.settle("ann", 5, 1)
    seconds.spend("ann", 19)
    clock.now += 60
    assert seconds.reserve("ann", 5) == 5
    seconds.settle("ann", 5, 30)  # a debt of ten
    with pytest.raises(TooMuch, match="wait 33 s") as refusal:
        seconds.reserve("ann", 1)
    assert refusal.value.retry_after_s == pytest.approx(33)
    clock.now += 33
    seconds.reserve("ann", 1)


def test_no_more_is_reserved_than_a_minute_holds():
    seconds = Allowance("seconds", 2, Clock())
    assert seconds.reserve("ann", 5) == 2


def test_what_was_refused_costs_nothing():
    calls = Allowance("calls", 60, Clock())
    with pytest.raises(TooMuch):
        calls.spend("ann", 61)
    calls.spend("ann", 60)


def test_who_asks_for_more_than_a_minutes_worth_is_told_that_waiting_does_not_help():
    pixels = Allowance("megapixels", 60, Clock())
    with pytest.raises(TooMuch, match="60 megapixels a minute, and this is 100: ask for less"):
        pixels.spend("ann", 100)
    pixels.spend("ann", 60)
    with pytest.raises(TooMuch) as refusal:
        pixels.spend("ann", 100)
    assert refusal.value.retry_after_s == 60


def test_of_very_many_users_those_who_were_away_longest_are_forgotten():
    calls = Allowance("calls", 60, Clock())
    for number in range(100_003):
        calls.spend(f"user {number}")
    assert len(calls._buckets) == 100_000
    assert calls._buckets.get("user 2") is None
