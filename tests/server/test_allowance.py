import asyncio

import pytest
from tests.postgres import url_for

from chartpact.library.database import open_database
from chartpact.server.allowance import Allowance, Ledger, LoanMeter, TooMuch


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
    seconds = LoanMeter(Allowance("seconds", 20, clock), None)
    assert asyncio.run(seconds.reserve("ann", 5)) == 5
    seconds.settle("ann", 5, 1)
    asyncio.run(seconds.spend("ann", 19))
    clock.now += 60
    assert asyncio.run(seconds.reserve("ann", 5)) == 5
    seconds.settle("ann", 5, 30)  # a debt of ten
    with pytest.raises(TooMuch, match="wait 33 s") as refusal:
        asyncio.run(seconds.reserve("ann", 1))
    assert refusal.value.retry_after_s == pytest.approx(33)
    clock.now += 33
    asyncio.run(seconds.reserve("ann", 1))


@pytest.mark.parametrize(("used", "left"), [(0.0, 20), (0.5, 15), (12.0, 8)])
def test_work_that_was_ended_costs_what_it_used_and_no_less_than_was_reserved(used, left):
    seconds = LoanMeter(Allowance("seconds", 20, Clock()), None)
    asyncio.run(seconds.reserve("ann", 5))
    seconds.settle_loss("ann", 5, used)
    asyncio.run(seconds.spend("ann", left))
    with pytest.raises(TooMuch):
        asyncio.run(seconds.spend("ann", 0.1))


def test_no_more_is_reserved_than_a_minute_holds():
    seconds = LoanMeter(Allowance("seconds", 2, Clock()), None)
    assert asyncio.run(seconds.reserve("ann", 5)) == 2


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


# ------------------------------------------------------------------------ of several processes


@pytest.fixture(params=["sqlite", "postgresql"])
def processes(request, tmp_path):
    """The ledgers of two processes on one database, and their clock."""
    clock = Clock()
    url = url_for(tmp_path, kind=request.param)
    databases = [open_database(url) for _ in range(2)]
    ledgers = [Ledger(database, clock) for database in databases]
    yield ledgers, clock
    for ledger, database in zip(ledgers, databases, strict=True):
        ledger.close()
        database.close()


def count_until_refused(meters: list[LoanMeter], amount: float = 1) -> int:
    """How often one user may spend, by turns in every process."""

    async def count() -> int:
        spent = 0
        while True:
            for meter in meters:
                try:
                    await meter.spend("ann", amount)
                except TooMuch:
                    return spent
                spent += 1

    return asyncio.run(count())


def test_processes_take_from_one_bucket(processes):
    ledgers, clock = processes
    meters = [LoanMeter(Allowance("calls", 60), ledger) for ledger in ledgers]
    assert 57 <= count_until_refused(meters) <= 60  # a process may hold a loan of three
    clock.now += 30
    assert 27 <= count_until_refused(meters) <= 33
    asyncio.run(meters[1].spend("bob"))


def test_few_tries_are_counted_one_by_one_in_all_processes(processes):
    ledgers, _ = processes
    tries = [
        LoanMeter(Allowance("sign-ins", 5), ledger, "sign_in by account") for ledger in ledgers
    ]
    assert count_until_refused(tries) == 5
    others = [
        LoanMeter(Allowance("sign-ins", 5), ledger, "sign_in by address") for ledger in ledgers
    ]
    assert count_until_refused(others) == 5  # though the words are the same


def test_a_debt_in_one_process_is_paid_to_the_shared_bucket(processes):
    ledgers, _ = processes
    one, other = (LoanMeter(Allowance("seconds", 20), ledger) for ledger in ledgers)
    assert asyncio.run(one.reserve("ann", 1)) == 1
    one.settle("ann", 1, 15)
    asyncio.run(one.spend("ann", 1))  # it borrows what it owes, too
    assert count_until_refused([other]) <= 4


def test_full_buckets_are_forgotten(processes):
    ledgers, clock = processes
    assert ledgers[0].take("calls of ann", 60, 60, 1) == (60, 60)
    assert ledgers[1].take("calls of ann", 60, 60, 1) == (0, 0)
    clock.now += 3600
    ledgers[1].purge()
    assert ledgers[0].take("calls of ann", 60, 1, 1) == (1, 60)
