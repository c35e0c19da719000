import os
import signal
import time
from concurrent.futures import wait
from functools import partial

import pytest
from tests.work import chores

from chartpact.server.jobs import ENVIRONMENT
from chartpact.work.failure import WorkFailed
from chartpact.work.lanes import (
    NO_HISTORY,
    PROBATION,
    SLOW_LANE_NICENESS,
    TRUSTED,
    Bounds,
    Probation,
    Workers,
)


def own_niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


@pytest.fixture(scope="module")
def workers():
    bounds = Bounds(wall_s=60, memory_mb=200)
    with Workers(2, bounds=bounds, environment=ENVIRONMENT) as made:
        yield made


@pytest.fixture
def gate(tmp_path):
    """A file that jobs wait for; whoever has not made it before the end of a test does so then."""
    yield tmp_path / "gate"
    (tmp_path / "gate").touch()


def test_a_job_is_done_elsewhere_and_its_answer_comes_back(workers):
    assert workers.submit("ann", partial(chores.add, 2, 3)).result(60) == 5
    assert workers.submit("ann", chores.who).result(60) != os.getpid()


def test_what_a_job_raises_comes_back_as_it_is(workers):
    with pytest.raises(ValueError, match="not like this"):
        workers.submit("ann", chores.refuse).result(60)
    assert workers.submit("ann", partial(chores.add, 1, 1)).result(60) == 2


def test_a_worker_that_dies_fails_its_own_job_and_is_replaced(workers):
    with pytest.raises(WorkFailed) as failure:
        workers.submit("ann", chores.die).result(60)
    assert failure.value.kind == "crash"
    assert workers.submit("ann", partial(chores.add, 1, 1)).result(60) == 2


def test_a_worker_that_is_killed_while_it_waits_costs_nobody_anything():
    with Workers(1) as one:
        pid = one.submit("ann", chores.who).result(30)
        os.kill(pid, signal.SIGKILL)
        ends = time.monotonic() + 30
        while any(worker.alive for worker in one._quick.pool.workers):
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert one.submit("ann", partial(chores.add, 1, 1)).result(30) == 2


def test_a_job_that_overstays_is_ended_and_said_to_have_taken_too_long():
    with Workers(1, bounds=Bounds(wall_s=60)) as one:
        one.submit("ann", chores.who).result(60)
        one._quick.bounds = Bounds(wall_s=1)  # its worker has had time enough to start
        with pytest.raises(WorkFailed, match="longer than 1 s") as failure:
            one.submit("ann", partial(chores.sleep, 600)).result(60)
    assert failure.value.kind == "time"


def test_one_users_long_jobs_do_not_delay_another(workers, gate):
    slow = [workers.submit("ann", partial(chores.wait_for, gate)) for _ in range(3)]
    assert workers.submit("bob", partial(chores.add, 1, 1)).result(60) == 2
    assert not any(each.done() for each in slow)
    gate.touch()
    assert all(each.result(60) for each in slow)


def test_a_long_job_makes_room_for_others_even_where_there_is_one_worker(gate):
    with Workers(1, bounds=Bounds(wall_s=60)) as one:
        one.submit("bob", chores.who).result(60)
        long = one.submit("ann", partial(chores.wait_for, gate))
        assert one.submit("bob", partial(chores.add, 1, 1)).result(60) == 2
        assert not long.done()
        gate.touch()
        assert long.result(60)


def test_long_jobs_that_were_asked_for_before_the_first_was_seen_to_be_long_wait_among_the_slow(
    gate,
):
    with Workers(1, bounds=Bounds(wall_s=60, patience_s=60)) as one:
        one.submit("bob", chores.who).result(60)
        burn = partial(chores.burn_and_wait_for, gate, 0.5)
        long = [one.submit("ann", burn) for _ in range(3)]
        for _ in range(2):
            assert one.submit("bob", partial(chores.add, 1, 1)).result(60) == 2
        assert not any(each.done() for each in long)
        gate.touch()
        assert all(each.result(60) for each in long)


def test_a_job_that_only_waits_makes_room_too():
    with Workers(1, bounds=Bounds(patience_s=0.3)) as one:
        one.submit("bob", chores.who).result(30)
        idle = one.submit("ann", partial(chores.sleep, 15))
        assert one.submit("bob", partial(chores.add, 1, 1)).result(30) == 2
        assert not idle.done()


def test_of_two_who_wait_the_one_who_has_used_less_goes_first(gate):
    with Workers(1, bounds=Bounds(patience_s=30)) as one:
        first = one.submit("cleo", partial(chores.wait_for, gate))
        asked = [one.submit("ann", partial(chores.sleep, 0.6)), one.submit("bob", chores.who)]
        ended: list[str] = []
        for user in ("ann", "bob"):
            later = one.submit(user, chores.who)
            later.add_done_callback(lambda _, user=user: ended.append(user))
            asked.append(later)
        gate.touch()
        wait([first, *asked])
        assert ended == ["bob", "ann"]


def test_a_job_that_waited_while_its_users_first_was_seen_to_be_long_gives_way_too():
    with Workers(1) as one:
        one.submit("bob", chores.who).result(30)
        long = one.submit("ann", partial(chores.burn, 1))
        waited = one.submit("ann", chores.niceness)
        assert waited.result(30) == min(own_niceness() + SLOW_LANE_NICENESS, 19)
        assert long.result(30) == 1


def test_whoever_took_long_gives_way_until_their_jobs_are_short_again(workers):
    workers.submit("cleo", partial(chores.burn, 0.5)).result(60)
    nice = [workers.submit("cleo", chores.niceness).result(60) for _ in range(PROBATION + 1)]
    own = own_niceness()
    assert nice == [min(own + SLOW_LANE_NICENESS, 19)] * PROBATION + [own]
    assert workers.submit("dan", chores.niceness).result(60) == own


def test_a_patient_job_is_done_among_the_slow_and_its_length_is_not_held_against_its_user(workers):
    patient = partial(workers.submit, "pat", patient=True)
    assert patient(chores.niceness).result(60) == min(own_niceness() + SLOW_LANE_NICENESS, 19)
    patient(partial(chores.burn, 0.5)).result(60)
    assert workers.submit("pat", chores.niceness).result(60) == own_niceness()


def test_time_that_a_job_waits_is_not_held_against_its_user(workers):
    workers.submit("gus", partial(chores.sleep, 1.2)).result(60)
    assert workers.submit("gus", chores.niceness).result(60) == own_niceness()


def test_what_a_jobs_own_processes_use_counts_as_the_jobs(workers):
    workers.submit("hal", partial(chores.have_burnt, 0.5)).result(60)
    assert workers.submit("hal", chores.niceness).result(60) == min(
        own_niceness() + SLOW_LANE_NICENESS, 19
    )


def test_to_start_a_sandbox_is_not_the_fault_of_the_first_who_needs_it(tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text("import time\nwhile time.process_time() < 1: pass\nTASKS = {}\n")
    with Workers(1, prepare=chores.import_sandbox, bounds=Bounds(wall_s=60)) as one:
        one.submit("bob", chores.who).result(60)
        start = partial(chores.start_sandbox, slow)
        assert one.submit("ann", start, untrusted=True).result(60) > 4 * Bounds().short_s - 0.1
        assert one.submit("ann", chores.niceness).result(60) == own_niceness()


def test_the_script_of_an_untried_user_starts_among_the_quick_only_where_nobody_waits(gate):
    with Workers(2, bounds=Bounds(wall_s=60)) as made:
        made.submit("ann", chores.who).result(60)
        others = [made.submit(user, partial(chores.wait_for, gate)) for user in ("bob", "cleo")]
        crowded = made.submit("dan", chores.niceness, untrusted=True)
        assert crowded.result(60) == min(own_niceness() + SLOW_LANE_NICENESS, 19)
        gate.touch()
        assert made.submit("eve", chores.niceness).result(60) == own_niceness()
        wait(others)
        for user in ("dan", "fay"):  # tried by now, and untried with room
            assert made.submit(user, chores.niceness, untrusted=True).result(60) == os.getpriority(
                os.PRIO_PROCESS, 0
            )


def test_a_slow_worker_is_started_a_while_after_the_quick_ones_and_not_after_the_end():
    with Workers(1) as made:
        made.warm(chores.who, after_s=0.1)
        ends = time.monotonic() + 30
        while not made._slow.pool.idle:
            assert time.monotonic() < ends
            time.sleep(0.01)
        [warm] = made._slow.pool.idle
        made.submit("ann", partial(chores.burn, 0.5)).result(30)
        assert made.submit("ann", chores.who).result(30) == warm.process.pid
    with Workers(1) as made:
        made.warm(chores.who, after_s=0.3)
    time.sleep(0.6)
    assert not made._slow.pool.workers


def test_a_job_that_wants_too_much_memory_is_told_so_and_its_worker_is_replaced(workers):
    assert workers.submit("ann", partial(chores.fill, 50)).result(60) == 50 * 2**20
    with pytest.raises(WorkFailed, match="needs more than 200 MB") as failure:
        workers.submit("ann", partial(chores.fill, 300)).result(60)
    assert failure.value.kind == "memory"
    assert workers.submit("ann", partial(chores.fill, 50)).result(60) == 50 * 2**20


def test_address_space_that_is_only_set_aside_is_not_counted(workers):
    assert workers.submit("ann", partial(chores.set_aside, 2000)).result(60) == 2000 * 2**20


def test_a_parquet_file_is_read_within_little_memory(workers):
    assert workers.submit("ann", partial(chores.read_parquet, 1000)).result(60) == 1000


def test_a_worker_that_has_grown_is_replaced_after_its_job():
    with Workers(1, bounds=Bounds(memory_mb=200)) as one:
        first = one.submit("ann", partial(chores.keep, 10)).result(60)
        assert one.submit("ann", partial(chores.keep, 110)).result(60) == first
        assert one.submit("ann", chores.who).result(60) != first


def test_a_crowd_is_refused_as_busy(gate):
    with Workers(1, most_waiting=2) as small:
        for _ in range(3):
            small.submit("ann", partial(chores.wait_for, gate))
        with pytest.raises(WorkFailed, match="too many requests wait") as failure:
            small.submit("bob", chores.who)
        assert failure.value.kind == "busy"


def test_nothing_is_left_running_after_the_end():
    with Workers(1) as made:
        pid = made.submit("ann", chores.who).result(60)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_jobs_that_wait_when_the_end_comes_are_refused_and_start_nothing():
    with Workers(1) as made:
        jobs = [made.submit("ann", partial(chores.sleep, 600)) for _ in range(3)]
        made.submit("bob", chores.who).cancel()
    for job in jobs:
        with pytest.raises(WorkFailed):
            job.result(60)
    with pytest.raises(WorkFailed, match="shutting down"):
        made.submit("ann", chores.who).result(60)
    assert not any(worker.alive for worker in made._quick.pool.workers | made._slow.pool.workers)


def test_a_user_is_untried_then_good_and_after_a_long_job_so_many_short_ones_away_from_it():
    users = Probation()
    assert users.owed("ann") == NO_HISTORY
    users.was_short("ann")
    assert users.owed("ann") == TRUSTED
    users.took_long("ann")
    for owed in range(PROBATION, TRUSTED, -1):
        assert users.owed("ann") == owed
        users.was_short("ann")
    assert users.owed("ann") == TRUSTED
    assert users.owed("bob") == NO_HISTORY


def test_those_heard_of_longest_ago_are_forgotten():
    users = Probation(most_users=2)
    for user in ("ann", "bob", "ann", "cleo"):
        users.took_long(user)
    assert [users.owed(user) for user in ("ann", "bob", "cleo")] == [
        PROBATION,
        NO_HISTORY,
        PROBATION,
    ]
