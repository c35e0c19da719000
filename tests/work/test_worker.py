"""One worker process: what its owner can rely on, whatever becomes of it."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from functools import partial

import pytest
from tests.work import chores

from chartpact.problem import Problem
from chartpact.work.failure import WorkFailed
from chartpact.work.pool import WorkerPool
from chartpact.work.worker import Setup, Worker

WALL_S = 60.0


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(Setup(), spare=2)
    yield made
    made.close()


def do(pool: WorkerPool, job, wall_s: float = WALL_S):
    with pool.lend() as worker:
        done = worker.do(job, wall_s)
    return done.result()


def test_a_pool_starts_nobody_before_the_first_job(pool):
    assert not pool.workers


def test_one_worker_does_one_job_after_another(pool):
    assert do(pool, chores.who) == do(pool, chores.who) != os.getpid()


def test_a_failure_comes_back_whole(pool):
    with pytest.raises(WorkFailed) as failure:
        do(pool, chores.fail)
    assert failure.value.problem == Problem("busy", "not now", "later", line=3)


def test_an_answer_of_many_megabytes_comes_back(pool):
    assert len(do(pool, partial(bytes, 20 << 20))) == 20 << 20


def test_a_worker_is_started_with_what_it_is_to_have():
    setup = Setup(niceness=3, environment={"CHARTPACT_TEST": "there"})
    made = WorkerPool(setup, spare=1)
    try:
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert do(made, chores.niceness) == min(own + 3, 19)
        assert do(made, partial(os.getenv, "CHARTPACT_TEST")) == "there"
    finally:
        made.close()


def test_what_a_job_prints_does_not_reach_the_owners_standard_output():
    """Which belongs to the protocol of a server on standard input and output."""
    code = """
        from functools import partial
        from chartpact.work.worker import Setup, Worker
        worker = Worker(Setup())
        worker.get_ready(60)
        worker.do(partial(print, "noise"), 60)
        worker.end()
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == ""


def test_a_worker_that_does_not_even_read_is_given_up(pool):
    do(pool, chores.who)
    [stopped] = pool.idle
    os.kill(stopped.process.pid, signal.SIGSTOP)
    with pytest.raises(WorkFailed, match=r"longer than 0\.3 s") as failure:
        do(pool, partial(len, bytes(10 << 20)), wall_s=0.3)
    assert failure.value.kind == "time"
    assert not pool.workers


def test_an_interrupt_of_the_owner_does_not_end_its_workers(pool):
    pid = do(pool, chores.who)
    assert os.getpgid(pid) != os.getpgrp()
    assert os.getsid(pid) == os.getsid(0)  # niceness counts within a session


def test_a_worker_whose_owner_is_killed_ends():
    code = """
        import os, signal
        from chartpact.work.worker import Setup, Worker
        worker = Worker(Setup())
        worker.get_ready(60)
        print(worker.process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    pid = int(ran.stdout)
    ends = time.monotonic() + 30
    while alive(pid):
        assert time.monotonic() < ends
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_only_a_few_workers_stay_idle(pool):
    with pool.lend(), pool.lend(), pool.lend():
        assert len(pool.workers) == 3
    assert len(pool.idle) == len(pool.workers) == 2


def test_ending_the_idle_leaves_the_pool_usable(pool):
    first = do(pool, chores.who)
    pool.end_idle()
    assert not pool.workers
    assert do(pool, chores.who) != first


def test_a_closed_pool_starts_nobody(pool):
    pool.close()
    with pytest.raises(WorkFailed, match="shutting down"):
        do(pool, chores.who)


def test_a_job_under_way_fails_when_its_pool_is_closed_which_is_no_fault_to_log(pool, caplog):
    with pytest.raises(WorkFailed) as failure, pool.lend() as worker:
        worker.start(partial(chores.sleep, 600), WALL_S)
        pool.close()
        worker.finish()
    assert failure.value.kind == "busy"
    assert caplog.records == []


def test_a_worker_that_cannot_prepare_is_a_crash_not_a_hang():
    worker = Worker(Setup(prepare=chores.refuse, silent=True))
    with pytest.raises(WorkFailed) as failure:
        worker.get_ready(WALL_S)
    worker.end()
    assert failure.value.kind == "crash"


def test_a_fork_of_the_owner_has_no_workers_and_leaves_the_owners_alone(pool):
    pid = do(pool, chores.who)
    child = os.fork()
    if child == 0:
        os._exit(0 if not pool.workers and not pool.idle else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert do(pool, chores.who) == pid
