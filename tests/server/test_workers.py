import os
from concurrent.futures import wait
from functools import partial

import pytest
from tests.server import chores

from chartpact.server.workers import Workers, WorkFailed


@pytest.fixture(scope="module")
def workers():
    with Workers(2, wall_s=2) as made:
        yield made


def test_a_job_is_done_elsewhere_and_its_answer_comes_back(workers):
    assert workers.submit("ann", partial(chores.add, 2, 3)).result(30) == 5
    assert workers.submit("ann", chores.who).result(30) != os.getpid()


def test_what_a_job_raises_comes_back_as_it_is(workers):
    with pytest.raises(ValueError, match="not like this"):
        workers.submit("ann", chores.refuse).result(30)
    assert workers.submit("ann", partial(chores.add, 1, 1)).result(30) == 2


def test_a_worker_that_dies_fails_its_own_job_and_is_replaced(workers):
    with pytest.raises(WorkFailed) as failure:
        workers.submit("ann", chores.die).result(30)
    assert failure.value.kind == "crash"
    assert workers.submit("ann", partial(chores.add, 1, 1)).result(30) == 2


def test_a_job_that_overstays_is_ended_and_said_to_have_taken_too_long(workers):
    with pytest.raises(WorkFailed, match="longer than 2 s") as failure:
        workers.submit("ann", partial(chores.sleep, 60)).result(30)
    assert failure.value.kind == "time"


def test_one_users_long_jobs_do_not_delay_another(workers):
    slow = [workers.submit("ann", partial(chores.sleep, 1.5)) for _ in range(3)]
    assert workers.submit("bob", partial(chores.add, 1, 1)).result(30) == 2
    assert not slow[1].done()  # ann's second job only begins when her first is over
    wait(slow)


def test_a_crowd_is_refused_as_busy():
    with Workers(1, most_waiting=2) as small:
        for _ in range(3):
            small.submit("ann", partial(chores.sleep, 0.1))
        with pytest.raises(WorkFailed, match="too many requests wait") as failure:
            small.submit("bob", chores.who)
        assert failure.value.kind == "busy"


def test_nothing_is_left_running_after_the_end():
    with Workers(1) as made:
        pid = made.submit("ann", chores.who).result(30)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_jobs_that_wait_when_the_end_comes_are_refused_and_start_nothing():
    with Workers(1) as made:
        jobs = [made.submit("ann", partial(chores.sleep, 5)) for _ in range(3)]
        made.submit("bob", chores.who).cancel()
    for job in jobs:
        with pytest.raises(WorkFailed):
            job.result(30)
    with pytest.raises(WorkFailed, match="shutting down"):
        made.submit("ann", chores.who).result(30)
    assert all(not worker._process.is_alive() for worker in made._all)
