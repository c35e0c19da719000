import pytest

from chartpact.server.limits import Allowance, TooMuch


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
