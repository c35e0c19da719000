"""Zygotes are started, lost, replaced and renewed; nothing is left behind."""

import ctypes
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

import pytest
from tests.effort import EXHAUSTIVE

from chartpact.sandbox import wire
from chartpact.sandbox.endings import REFUSAL, Exit, RunBounds, RunFailed
from chartpact.sandbox.layers import ALL, SECCOMP
from chartpact.sandbox.memory_files import create_answer
from chartpact.sandbox.pool import Pool, Renewal, process_pool
from chartpact.sandbox.zygote_handle import SandboxError, Zygote

from .conftest import PLANTED
from .processes import (
    alive,
    at_rest,
    children,
    descriptors,
    in_session,
    memory_files,
    resident_kib,
    running,
    send,
    wait_until,
)

ECHO = wire.encode({"kind": "echo"})
SLEEP = wire.encode({"kind": "sleep"})
NOTHING = wire.encode({"kind": "nothing"})


NEVER = Renewal(runs=1 << 30, seconds=1e9, crashes=1 << 30)


@pytest.fixture(scope="module")
def pools() -> Iterator[tuple[Pool, Pool]]:
    """Pools of one turn and of two, for the tests that leave working zygotes in them."""
    with (
        Pool(1, planted=PLANTED, renewal=NEVER) as single,
        Pool(2, planted=PLANTED, renewal=NEVER) as double,
    ):
        yield single, double


@pytest.fixture
def single(pools: tuple[Pool, Pool]) -> Pool:
    """A pool of one turn, of which nothing runs: not even the last run of another test."""
    assert at_rest(pools[0].zygote().pid)
    return pools[0]


@pytest.fixture
def double(pools: tuple[Pool, Pool]) -> Pool:
    """A pool of two turns, likewise."""
    assert at_rest(pools[1].zygote().pid)
    return pools[1]


def test_the_zygote_has_one_thread_no_terminal_and_only_what_it_needs(double: Pool) -> None:
    pid = double.zygote().pid
    assert len(os.listdir(f"/proc/{pid}/task")) == 1
    assert os.getsid(pid) == pid
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert resident_kib(pid) < 80_000
    for stream in (0, 1):
        assert os.readlink(f"/proc/{pid}/fd/{stream}") == "/dev/null"
    limits = Path(f"/proc/{pid}/limits").read_text()
    assert re.search(r"Max open files +(\d+)", limits).group(1) == "44"  # type: ignore[union-attr]
    modules = set(double.run(wire.encode({"kind": "modules"})).document)
    collects, frozen = double.run(wire.encode({"kind": "surroundings"})).document["collector"]
    assert not collects and frozen > 10_000  # a collection would touch every page there is
    heavy = {"asyncio", "ssl", "pandas", "pyarrow", "polars", "sqlalchemy", "numpy.random", "tqdm"}
    assert modules & heavy == set()


def test_a_pool_starts_lazily_and_closes_cleanly() -> None:
    before = descriptors(os.getpid())
    pool = Pool(2)
    assert descriptors(os.getpid()) == before
    pool.run(NOTHING)
    pid = pool.zygote().pid
    pool.close()
    assert not alive(pid)
    assert descriptors(os.getpid()) == before
    with pytest.raises(SandboxError, match="closed"):
        pool.run(NOTHING)
    pool.close()


def test_the_default_pool_is_one() -> None:
    assert process_pool() is process_pool()


def test_a_zygote_killed_with_runs_under_way_answers_them_all_and_leaves_no_orphan() -> None:
    with Pool(4, planted=PLANTED) as pool, ThreadPoolExecutor(4) as threads:
        zygote = pool.zygote()
        runs = [threads.submit(pool.run, SLEEP, RunBounds(wall_ms=30_000)) for _ in range(4)]
        assert wait_until(lambda: len(running(zygote.pid)) == 4)
        orphans = children(zygote.pid)
        os.kill(zygote.pid, signal.SIGKILL)
        wait(runs)
        for run in runs:
            assert isinstance(error := run.exception(), RunFailed)
            assert error.kind == "busy"
            assert "restarted" in error.message
        assert wait_until(lambda: not any(map(alive, orphans)))
        assert pool.run(ECHO).document == {"kind": "echo"}
        assert pool.zygote() is not zygote


def test_children_that_wait_die_with_their_zygote_whatever_they_do(single: Pool) -> None:
    zygote = single.zygote().pid
    assert at_rest(zygote)
    waiting = children(zygote)
    for child in waiting:
        os.kill(child, signal.SIGSTOP)  # it does not see the end of its socket
    os.kill(zygote, signal.SIGKILL)
    assert wait_until(lambda: not any(map(alive, waiting)))
    assert single.run(ECHO).document == {"kind": "echo"}


def test_a_child_whose_zygote_died_before_it_could_follow_ends() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                import_module("chartpact._native").sandbox_await(
                    theirs.fileno(), -1, os.getpid(), create_answer(4096)
                )  # nobody's child but ours
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -(REFUSAL + 5)


def test_a_child_killed_from_outside_is_an_error_and_the_next_run_is_served(single: Pool) -> None:
    with ThreadPoolExecutor(1) as threads:
        single.zygote()
        run = threads.submit(single.run, SLEEP)
        assert wait_until(lambda: len(running(single.zygote().pid)) == 1)
        os.kill(running(single.zygote().pid)[0], signal.SIGKILL)
        error = run.exception()
        assert isinstance(error, RunFailed) and error.kind == "memory"  # as the OOM killer would
        assert single.run(ECHO).document == {"kind": "echo"}


def test_a_child_killed_while_it_waits_costs_nobody_a_run(single: Pool) -> None:
    single.run(ECHO)
    runs = single.zygote().runs
    assert at_rest(single.zygote().pid)
    for child in children(single.zygote().pid):
        os.kill(child, signal.SIGKILL)
    assert wait_until(lambda: not any(map(alive, children(single.zygote().pid))))
    assert single.run(ECHO).document == {"kind": "echo"}
    assert single.zygote().runs == runs + 1


def test_a_child_killed_before_it_read_its_request_is_a_run_that_ended(single: Pool) -> None:
    zygote = single.zygote()
    assert at_rest(zygote.pid)
    for child in children(zygote.pid):
        os.kill(child, signal.SIGSTOP)
    with pytest.raises(RunFailed) as failed:
        single.run(ECHO, RunBounds(wall_ms=100))
    assert failed.value.kind == "busy"
    for child in children(zygote.pid):
        send(child, signal.SIGCONT)
    assert single.run(ECHO).document == {"kind": "echo"}
    assert single.zygote() is zygote


def test_a_child_that_waits_holds_three_descriptors_and_a_run_none(single: Pool) -> None:
    single.run(ECHO)
    assert at_rest(single.zygote().pid)
    unfiltered = RunBounds(layers=ALL & ~SECCOMP)  # so that a run may look
    found = single.run(wire.encode({"kind": "descriptors"}), unfiltered).document
    assert found == {"open": [], "tried": 256}


@pytest.mark.slow
def test_a_stuck_zygote_is_replaced_and_every_run_is_served(double: Pool) -> None:
    stuck = double.zygote()
    stuck._channel.settimeout(1.0)
    assert at_rest(stuck.pid)
    os.kill(stuck.pid, signal.SIGSTOP)
    for _ in range(2):  # these children were made before
        assert double.run(ECHO).document == {"kind": "echo"}
    assert alive(stuck.pid)
    assert double.run(ECHO).document == {"kind": "echo"}
    assert not alive(stuck.pid)


@pytest.mark.slow
def test_a_stuck_zygote_is_replaced_when_a_run_fails(
    double: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = double.zygote()
    assert at_rest(stuck.pid)
    os.kill(stuck.pid, signal.SIGSTOP)
    with monkeypatch.context() as patch, pytest.raises(RunFailed) as failed:
        patch.setattr("chartpact.sandbox.zygote_handle.FORK_S", 0.5)
        double.run(SLEEP, RunBounds(wall_ms=100))
    assert failed.value.kind == "busy"
    assert not alive(stuck.pid)
    assert double.run(ECHO).document == {"kind": "echo"}


def test_a_host_without_room_for_a_process_is_called_busy(tmp_path: Path) -> None:
    full, planted = tmp_path / "full", tmp_path / "planted.py"
    planted.write_text(
        "import errno, os\n"
        "fork, TASKS = os.fork, {}\n"
        "def while_there_is_room():\n"
        f"    if os.path.exists({str(full)!r}):\n"
        "        raise BlockingIOError(errno.EAGAIN, 'no')\n"
        "    return fork()\n"
        "os.fork = while_there_is_room\n",
        encoding="utf-8",
    )
    with Pool(1, planted=planted) as pool:
        zygote = pool.zygote()
        full.touch()
        with pytest.raises(RunFailed, match="no process could be started") as failed:
            for _ in range(3):  # two were made ahead, at most
                pool.run(NOTHING)
        assert failed.value.kind == "busy"
        full.unlink()

        def served() -> bool:
            try:
                pool.run(NOTHING)
            except RunFailed:
                return False
            return True

        assert wait_until(served)
        assert pool.zygote() is zygote
        assert len(children(zygote.pid)) <= 2


def test_a_process_with_thousands_of_open_files_runs_scripts_too() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(max(soft, 3000), hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(most // 2)]
    try:
        with Pool(1, planted=PLANTED) as pool:
            assert pool.run(ECHO).document == {"kind": "echo"}
            with pytest.raises(RunFailed) as failed:
                pool.run(SLEEP, RunBounds(wall_ms=50))
            assert failed.value.kind == "busy"
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def room_for(left: int) -> Iterator[None]:
    """This process can open so many more files, and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    most = highest + 1 + left
    resource.setrlimit(resource.RLIMIT_NOFILE, (most if hard < 0 else min(most, hard), hard))
    filled = []
    try:
        with suppress(OSError):
            while True:
                filled.append(os.open("/dev/null", os.O_RDONLY))
        for _ in range(left):  # there are as many, wherever the numbers in use have gaps
            os.close(filled.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in filled:
            os.close(fd)


def busy_or_served(pool: Pool) -> str:
    try:
        assert pool.run(ECHO).document == {"kind": "echo"}
    except RunFailed as failed:
        return failed.kind
    return "served"


def test_a_process_that_can_open_no_more_files_is_busy_and_leaves_nothing_open(
    single: Pool,
) -> None:
    single.run(ECHO)
    before = descriptors(os.getpid())
    for left in range(6):  # wherever in a run they end
        with room_for(left):
            found = busy_or_served(single)
        assert found == ("busy" if left < 4 else "served")
        assert wait_until(lambda: descriptors(os.getpid()) == before)
        assert busy_or_served(single) == "served"


def test_a_sandbox_that_cannot_open_what_it_starts_with_is_busy_and_leaves_nothing_open() -> None:
    before = descriptors(os.getpid())
    with Pool(1, planted=PLANTED) as pool:
        for left in (2, 3, 4, 5, 6):
            with room_for(left):
                assert busy_or_served(pool) == "busy"
            assert descriptors(os.getpid()) == before
        assert busy_or_served(pool) == "served"


def test_a_renewal_that_fails_is_tried_again(single: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    first = single.zygote()

    def refused(*_: object) -> None:
        raise SandboxError("planted on purpose")

    monkeypatch.setattr(single, "renewal", Renewal(runs=first.runs + 1))
    with monkeypatch.context() as patch:
        patch.setattr("chartpact.sandbox.pool.Zygote", refused)
        single.run(NOTHING)
        assert wait_until(lambda: single._renewing is None)
        single.run(NOTHING)
        assert wait_until(lambda: single._renewing is None)
    assert single.zygote() is first
    single.run(NOTHING)
    assert wait_until(lambda: single.zygote() is not first)
    assert wait_until(lambda: not alive(first.pid))


def test_a_zygote_is_renewed_after_so_many_runs(
    single: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = single.zygote()
    identity = single.run(wire.encode({"kind": "identity"})).document
    monkeypatch.setattr(single, "renewal", Renewal(runs=first.runs + 5))
    for _ in range(5):
        assert single._renewing is None
        single.run(ECHO)
    assert wait_until(lambda: single.zygote() is not first)
    assert wait_until(lambda: not alive(first.pid))
    assert single.run(wire.encode({"kind": "identity"})).document != identity


def test_a_zygote_that_is_replaced_ends_with_its_last_run(
    double: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as threads:
        first = double.zygote()
        monkeypatch.setattr(double, "renewal", Renewal(runs=first.runs + 2))
        run = threads.submit(double.run, SLEEP, RunBounds(wall_ms=20_000))
        assert wait_until(lambda: len(running(first.pid)) == 1)
        (sleeping,) = running(first.pid)
        double.run(ECHO)
        assert wait_until(lambda: double.zygote() is not first)
        assert alive(first.pid) and not run.done()
        os.kill(sleeping, signal.SIGKILL)
        assert isinstance(run.exception(), RunFailed)
        assert wait_until(lambda: not alive(first.pid))


def test_a_zygote_is_renewed_in_time(single: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    first = single.zygote()
    age = time.monotonic() - first.born
    monkeypatch.setattr(single, "renewal", Renewal(seconds=age + 3600))
    single.run(NOTHING)
    assert single._renewing is None
    monkeypatch.setattr(single, "renewal", Renewal(seconds=age))
    single.run(NOTHING)
    assert wait_until(lambda: single.zygote() is not first)
    assert wait_until(lambda: not alive(first.pid))


def test_a_zygote_is_renewed_after_a_few_crashes_and_not_for_slow_scripts(
    single: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = wire.encode({"kind": "segfault"})
    loop = wire.encode({"kind": "loop"})
    first = single.zygote()
    monkeypatch.setattr(single, "renewal", Renewal(crashes=first.crashes + 2))
    for _ in range(3):
        with pytest.raises(RunFailed):
            single.run(loop, RunBounds(wall_ms=20))
    assert single._renewing is None
    assert single.zygote() is first
    for _ in range(2):
        with pytest.raises(RunFailed):
            single.run(crash)
    assert wait_until(lambda: single.zygote() is not first)
    assert wait_until(lambda: not alive(first.pid))


def test_runs_that_were_killed_by_whomever_or_refused_do_not_renew_a_zygote(
    single: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy host the child's own timer is there before its owner."""
    zygote = single.zygote()
    monkeypatch.setattr(single, "renewal", Renewal(crashes=zygote.crashes + 1))
    for ending in (signal.SIGKILL, REFUSAL + 8):
        ended = Exit(signal=ending, code=0, killed=False, wall_ms=241, cpu_ms=20, peak_kib=1)
        answer = ended, create_answer(4096)
        monkeypatch.setattr(Zygote, "run", lambda *_, answer=answer: answer)
        with pytest.raises(RunFailed):
            single.run(NOTHING)
        assert single._renewing is None
        assert single.zygote() is zygote


def test_a_pool_started_by_a_thread_outlives_it() -> None:
    with Pool(1) as pool:
        starter = threading.Thread(target=pool.zygote)
        starter.start()
        starter.join()
        pid = pool.zygote().pid
        time.sleep(0.05)
        pool.run(NOTHING)
        assert pool.zygote().pid == pid


OWNER = """
    import os, sys, threading, time
    from pathlib import Path
    from chartpact.sandbox import wire
    from chartpact.sandbox.endings import RunBounds
    from chartpact.sandbox.pool import Pool
    pool = Pool(4, planted=Path(sys.argv[1]))
    pool.zygote()
    for _ in range(3):
        threading.Thread(
            target=pool.run, args=(wire.encode({"kind": "sleep"}), RunBounds(wall_ms=20_000)),
            daemon=True,
        ).start()
    time.sleep(0.3)
    {extra}
    print(pool.zygote().pid, flush=True)
    time.sleep(60)
"""


def owner(extra: str = "") -> tuple["subprocess.Popen[str]", int]:
    program = textwrap.dedent(OWNER).replace("{extra}", extra)
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", program, str(PLANTED)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@pytest.mark.slow
# SIGTERM has no handler, and ends an owner as SIGKILL does.
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT] + [signal.SIGTERM] * EXHAUSTIVE)
def test_the_owners_death_leaves_no_orphan(ending: signal.Signals) -> None:
    process, zygote = owner()
    assert wait_until(lambda: len(running(zygote)) == 3)
    family = [zygote, *children(zygote)]
    process.send_signal(ending)
    process.communicate()
    assert wait_until(lambda: not any(map(alive, family)))


def test_a_fork_of_the_owner_does_not_keep_the_zygote_alive() -> None:
    process, zygote = owner("os.fork() or (os.close(1), time.sleep(600), os._exit(0))")
    (fork,) = [child for child in children(process.pid) if child != zygote]
    try:
        process.kill()
        process.communicate()
        assert wait_until(lambda: not alive(zygote))
        assert alive(fork)
    finally:
        os.kill(fork, signal.SIGKILL)


def test_a_fork_of_the_owner_starts_a_zygote_of_its_own(single: Pool) -> None:
    single.run(ECHO)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if single.run(ECHO).document == {"kind": "echo"} else 2
            single.close()
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert single.run(ECHO).document == {"kind": "echo"}


def test_an_interpreter_that_ends_closes_its_default_pool() -> None:
    program = (
        "from chartpact.sandbox import pool, wire\n"
        "pool.process_pool().run(wire.encode({'kind': 'nothing'}))\n"
        "print(pool.process_pool().zygote().pid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert not alive(int(done.stdout))


def test_a_zygote_that_cannot_start_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise ValueError('planted on purpose')")
    before = descriptors(os.getpid())
    pool = Pool(1, planted=broken)
    with pytest.raises(SandboxError, match="ValueError: planted on purpose"):
        pool.run(NOTHING)
    pool.close()
    assert descriptors(os.getpid()) == before


def test_a_zygote_with_a_second_thread_refuses(tmp_path: Path) -> None:
    threaded = tmp_path / "threaded.py"
    threaded.write_text(
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()\n"
        "TASKS = {}\n"
    )
    with Pool(1, planted=threaded) as pool, pytest.raises(SandboxError, match="2 threads"):
        pool.run(NOTHING)


def test_a_zygote_whose_memory_can_be_written_and_executed_refuses(tmp_path: Path) -> None:
    """A run could bring its own machine code, which no layer looks at."""
    careless = tmp_path / "careless.py"
    careless.write_text("import mmap\nTASKS, mmap.kept = {}, mmap.mmap(-1, 4096, prot=7)\n")
    with Pool(1, planted=careless) as pool, pytest.raises(SandboxError, match="own machine code"):
        pool.run(NOTHING)


HOSTILE = (
    [{"kind": kind} for kind in ("segfault", "abort", "nothing_said", "garbage", "deep_stack")]
    + [{"kind": "loop"}, {"kind": "sleep"}, {"kind": "hoard"}, {"kind": "answer_then_loop"}]
    + [{"kind": "raises", "what": what} for what in ("exception", "exit", "nasty", "memory")]
    + [{"kind": "too_much", "numbers": 1 << 19}, {"kind": "beyond_the_end"}, {"kind": "x32_call"}]
)


def many_runs(pool: Pool, runs: int, threads: int) -> int:
    """Runs so many, a third of them hostile; how many failed, each in a structured way."""

    def one(i: int) -> bool:
        job = HOSTILE[i // 3 % len(HOSTILE)] if i % 3 == 0 else {"kind": "echo", "i": i}
        try:
            answered = pool.run(wire.encode(job), RunBounds(wall_ms=50 if i % 3 == 0 else 1000))
        except RunFailed as failed:
            assert failed.message and failed.hint
            return True
        assert i % 3 == 0 or answered.document["i"] == i
        return False

    with ThreadPoolExecutor(threads) as executor:
        return sum(executor.map(one, range(runs)))


@pytest.mark.slow
def test_many_runs_a_third_of_them_hostile_leave_nothing_behind() -> None:
    runs = int(os.environ.get("CHARTPACT_SOAK_RUNS", "150"))
    with Pool(2, planted=PLANTED, renewal=Renewal(runs=2 * runs, crashes=runs)) as pool:
        many_runs(pool, 100, 8)
        zygote = pool.zygote().pid
        assert at_rest(zygote)
        before = descriptors(os.getpid()), descriptors(zygote)
        resident, own = resident_kib(zygote), resident_kib(os.getpid())
        failed = many_runs(pool, runs, 8)
        assert failed >= runs // 4
        assert pool.zygote().pid == zygote
        assert at_rest(zygote)
        assert running(zygote) == []
        assert sorted(in_session(zygote)) == sorted([zygote, *children(zygote)])
        assert wait_until(lambda: (descriptors(os.getpid()), descriptors(zygote)) == before)
        assert wait_until(lambda: memory_files([os.getpid(), zygote]) == 0)
        assert memory_files(children(zygote)) == 2  # where those that wait will answer
        assert resident_kib(zygote) - resident < 1024
        assert resident_kib(os.getpid()) - own < 32 * 1024
    assert wait_until(lambda: not any(map(alive, in_session(zygote))))


@pytest.mark.slow
def test_renewal_under_load_loses_no_run() -> None:
    with Pool(2, planted=PLANTED, renewal=Renewal(runs=40)) as pool:
        echo = [wire.encode({"kind": "echo", "i": i}) for i in range(100)]
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(pool.run, echo))
        assert [answer.document["i"] for answer in answers] == list(range(100))
        assert wait_until(lambda: pool._renewing is None)
        assert pool.starts > 1
        assert wait_until(lambda: len(children(os.getpid())) >= 1)
        mine = [child for child in children(os.getpid()) if child == pool.zygote().pid]
        assert len(mine) == 1


def oom_score(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def test_runs_yield_to_the_server_and_go_first_when_memory_runs_out(single: Pool) -> None:
    with ThreadPoolExecutor(1) as threads:
        zygote = single.zygote()
        run = threads.submit(single.run, SLEEP, RunBounds(20_300, 20_300))
        assert wait_until(lambda: len(running(zygote.pid)) == 1)
        child = running(zygote.pid)[0]
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, child) == min(own + 10, 19)
        assert oom_score(child) == max(oom_score(os.getpid()), 800)
        limits = Path(f"/proc/{child}/limits").read_text()
        assert re.search(r"Max cpu time +22 +22 ", limits)
        none = "core file size|processes|file size|open files|locked memory|msgqueue size"
        for name in none.split("|"):
            assert re.search(rf"Max {name} +0 +0 ", limits), name
        os.kill(child, signal.SIGKILL)
        assert isinstance(run.exception(), RunFailed)


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="the kernel does not share by sessions"
)
@pytest.mark.slow
def test_whose_owner_gives_way_gives_way_too_in_a_session_of_its_own(single: Pool) -> None:
    code = """
        import os
        from pathlib import Path
        from chartpact.sandbox.pool import Pool
        os.nice(4)
        with Pool(1) as pool:
            print(Path(f"/proc/{pool.zygote().pid}/autogroup").read_text())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert told.stdout.split()[-1] == str(max(min(own + 4, 19), 0))
    beside = Path(f"/proc/{single.zygote().pid}/autogroup").read_text()
    assert beside.split()[-1] == str(max(min(own, 19), 0))


def test_a_zygote_has_no_network_where_the_host_permits_it(single: Pool) -> None:
    zygote = single.zygote()
    here, there = (os.readlink(f"/proc/{pid}/ns/net") for pid in (os.getpid(), zygote.pid))
    assert (here != there) == ("network" in zygote.report["namespaces"])
    assert (here != there) or not may_leave_the_network()


def may_leave_the_network() -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(0x40000000) == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0


def test_an_owner_who_is_interrupted_leaves_no_run_behind(
    single: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> bytes:
        assert wait_until(lambda: len(running(zygote.pid)) == 1)
        raise KeyboardInterrupt

    zygote = single.zygote()
    monkeypatch.setattr("chartpact.sandbox.zygote_handle._notice", interrupted)
    with pytest.raises(KeyboardInterrupt):
        single.run(SLEEP, RunBounds(wall_ms=20_000))
    monkeypatch.undo()
    assert wait_until(lambda: running(zygote.pid) == [])
    assert single.run(ECHO).document == {"kind": "echo"}
    assert single.zygote() is zygote
