"""However a run ends, its owner gets a value, and the next run is served."""

import fcntl
import mmap
import os
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chartpact.sandbox import layers, memory_files, messages, wire, zygote_handle
from chartpact.sandbox.endings import REFUSAL, Exit, RunBounds, RunFailed
from chartpact.sandbox.pool import Pool

from .conftest import Ask
from .processes import at_rest, children, running, wait_until

_native = pytest.importorskip("chartpact._native", reason="the C extension is not built")


@pytest.fixture(autouse=True)
def _the_next_run_is_served(ask: Ask) -> object:
    yield
    assert ask("echo", word="alive").document["word"] == "alive"


def test_a_job_and_its_columns_arrive_and_return(ask: Ask) -> None:
    columns = [
        np.array([1.5, np.nan, np.inf]),
        np.arange(3),
        np.empty(0),
        np.frombuffer(b"abc", np.uint8),
    ]
    answered = ask("echo", columns, text="ä🚀")
    assert answered.document == {"kind": "echo", "text": "ä🚀"}
    for sent, returned in zip(columns, answered.columns, strict=True):
        np.testing.assert_array_equal(sent, returned)


def test_half_of_a_surrogate_pair_arrives_and_is_refused_on_its_way_back(ask: Ask) -> None:
    with pytest.raises(RunFailed, match="half of a surrogate pair"):
        ask("echo", text="\ud800")


@pytest.mark.parametrize("kind", ["segfault", "abort", "illegal_instruction", "deep_stack"])
def test_a_crash_is_reported_as_one_whatever_the_signal(ask: Ask, kind: str) -> None:
    with pytest.raises(RunFailed, match="crashed") as failed:
        ask(kind)
    assert failed.value.kind == "crash"


TOO_LATE = ("time", "busy")  # which of them depends on what else this machine has to do


def test_an_endless_loop_is_killed(ask: Ask) -> None:
    began = time.monotonic()
    with pytest.raises(RunFailed) as failed:
        ask("loop", wall_ms=300)
    assert failed.value.kind in TOO_LATE
    assert 0.3 <= time.monotonic() - began < 20


def test_a_run_ends_when_its_own_processor_time_is_used_up(ask: Ask) -> None:
    with pytest.raises(RunFailed, match="300 ms of processor time") as failed:
        ask("loop", cpu_ms=300)
    assert failed.value.kind == "time"
    ended = failed.value.ended
    assert ended is not None and not ended.killed and 300 <= ended.cpu_ms < 600


def test_what_a_run_used_is_counted_without_its_rehearsal(pool: Pool, ask: Ask) -> None:
    before = pool.cpu_s
    ask("echo")
    idle = pool.cpu_s - before
    with pytest.raises(RunFailed):
        ask("loop", cpu_ms=200)
    assert 0 < idle < 0.2 <= pool.cpu_s - before - idle


def ends_with(monkeypatch: pytest.MonkeyPatch, pool: Pool, ended: Exit) -> None:
    def run(*_: object) -> tuple[Exit, int]:
        return ended, memory_files.create_answer(4096)

    monkeypatch.setattr(type(pool.zygote()), "run", run)


@pytest.mark.parametrize(
    ("cpu_ms", "kind"), [(1100, "time"), (1000, "time"), (999, "busy"), (0, "busy")]
)
def test_a_slow_script_and_a_busy_host_are_told_apart_by_processor_time(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, cpu_ms: float, kind: str
) -> None:
    ended = Exit(signal=9, code=0, killed=True, wall_ms=3001, cpu_ms=cpu_ms, peak_kib=1)
    ends_with(monkeypatch, pool, ended)
    with pytest.raises(RunFailed) as failed:
        pool.run(wire.encode({"kind": "nothing"}), RunBounds())
    assert failed.value.kind == kind
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("wall_ms", "cpu_ms", "kind"), [(2200, 2000, "time"), (6200, 3, "busy"), (5, 4, "memory")]
)
def test_a_kill_that_was_not_ours_is_told_by_when_it_came(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, wall_ms: float, cpu_ms: float, kind: str
) -> None:
    """Late: the child's own timer or processor limit. Early: the host ran out of memory."""
    ended = Exit(signal=9, code=0, killed=False, wall_ms=wall_ms, cpu_ms=cpu_ms, peak_kib=1)
    ends_with(monkeypatch, pool, ended)
    with pytest.raises(RunFailed) as failed:
        pool.run(wire.encode({"kind": "nothing"}), RunBounds())
    assert failed.value.kind == kind
    monkeypatch.undo()


def test_a_signal_without_a_name_is_a_crash_too(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Exit(signal=55, code=0, killed=False, wall_ms=5, cpu_ms=5, peak_kib=1)
    ends_with(monkeypatch, pool, ended)
    with pytest.raises(RunFailed, match="signal 55") as failed:
        pool.run(wire.encode({"kind": "nothing"}))
    assert failed.value.kind == "crash"
    monkeypatch.undo()


@pytest.mark.parametrize("step", range(1, 10))
def test_a_hardening_that_fails_is_loud_and_runs_nothing(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, step: int
) -> None:
    ended = Exit(signal=REFUSAL + step, code=0, killed=False, wall_ms=1, cpu_ms=1, peak_kib=1)
    ends_with(monkeypatch, pool, ended)
    with pytest.raises(RunFailed, match=f"step {step} of securing") as failed:
        pool.run(wire.encode({"kind": "nothing"}))
    assert failed.value.kind == "crash"
    assert caplog.records[-1].levelname == "CRITICAL"
    monkeypatch.undo()


@pytest.mark.parametrize("kind", ["sleep", "stop_itself"])
def test_a_run_that_got_no_processor_time_is_not_called_slow(ask: Ask, kind: str) -> None:
    with pytest.raises(RunFailed, match="host is busy") as failed:
        ask(kind, wall_ms=100)
    assert failed.value.kind == "busy"


def test_a_stopped_child_is_killed_like_any_other(
    pool: Pool, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = zygote_handle._notice

    def stopped(*given: Any) -> bool:
        assert wait_until(lambda: bool(running(pool.zygote().pid)))
        os.kill(running(pool.zygote().pid)[0], signal.SIGSTOP)
        return waits(*given)

    monkeypatch.setattr(zygote_handle, "_notice", stopped)
    with pytest.raises(RunFailed):
        ask("sleep", wall_ms=1000)
    monkeypatch.undo()


def test_64_mb_over_the_start_can_be_had_and_no_more(ask: Ask) -> None:
    assert ask("allocate", bytes=50 << 20).document == 50 << 20
    with pytest.raises(RunFailed, match="more than 64 MB") as failed:
        ask("allocate", bytes=70 << 20)
    assert failed.value.kind == "memory"
    with pytest.raises(RunFailed) as failed:
        ask("hoard")
    assert failed.value.kind == "memory"
    assert 60 << 20 < ask("hoard_and_hide").document <= 72 << 20  # and what the heap had free


def test_what_a_run_may_have_does_not_grow_with_its_job_or_its_answer(pool: Pool) -> None:
    job = {"kind": "allocate", "bytes": 70 << 20}
    parts = wire.encode(job, [np.zeros(1 << 20)])
    with pytest.raises(RunFailed, match="more than 64 MB"):
        pool.run(parts, RunBounds(answer=50 << 20))


UNANSWERED = 3  # by the outermost frame: whoever gets past it goes on as a second zygote


@pytest.mark.parametrize("what", "exception exit interrupt nasty recursion generator".split())
def test_an_exception_of_any_family_ends_the_child_and_nothing_else(ask: Ask, what: str) -> None:
    with pytest.raises(RunFailed) as failed:
        ask("raises", what=what)
    assert failed.value.kind == "crash"
    assert failed.value.ended is not None and failed.value.ended.code == UNANSWERED
    assert "/a/host/path" not in str(failed.value)


def test_errors_inside_error_handlers_do_not_make_a_second_zygote(pool: Pool, ask: Ask) -> None:
    with pytest.raises(RunFailed):
        ask("hooks")
    assert wait_until(lambda: len(children(pool.zygote().pid)) == 2)  # those that wait
    assert [
        grandchild for child in children(pool.zygote().pid) for grandchild in children(child)
    ] == []


@pytest.mark.parametrize("kind", ["nothing_said", "garbage"])
def test_no_answer_and_garbage_are_crashes(ask: Ask, kind: str) -> None:
    with pytest.raises(RunFailed, match="no usable answer") as failed:
        ask(kind)
    assert failed.value.kind == "crash"


def test_more_than_fits_is_refused_in_the_child(ask: Ask) -> None:
    answered = ask("too_much", numbers=1 << 19)
    assert answered.document["error"]["kind"] == "size"
    assert "4 MB" in answered.document["error"]["message"]


def test_writing_beyond_the_answer_harms_only_the_writer(ask: Ask) -> None:
    with pytest.raises(RunFailed) as failed:
        ask("beyond_the_end")
    assert failed.value.kind == "crash"


def test_an_answer_counts_only_from_a_child_that_is_done(ask: Ask) -> None:
    with pytest.raises(RunFailed) as failed:
        ask("answer_then_loop", wall_ms=200)
    assert failed.value.kind in TOO_LATE


def test_a_run_that_feigns_its_end_is_killed_whatever_it_answered(pool: Pool, ask: Ask) -> None:
    assert ask("answer_and_feign_death").document == {"early": True}
    assert wait_until(lambda: running(pool.zygote().pid) == [])
    with pytest.raises(RunFailed) as failed:
        ask("feign_death_unanswered", wall_ms=200)
    assert failed.value.kind in TOO_LATE
    assert running(pool.zygote().pid) == []


@pytest.mark.parametrize("kind", ["answer_but_hide_its_end", "give_its_notice_back"])
def test_a_run_that_hides_its_end_is_answered_all_the_same(ask: Ask, kind: str) -> None:
    assert ask(kind).document == {"hidden": True}


def test_a_run_cannot_keep_its_owner_awake(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    waits, looked = _native.sandbox_wait, []

    def counted(*given: int) -> bool:
        looked.append(given)
        return bool(waits(*given))

    monkeypatch.setattr(_native, "sandbox_wait", counted)
    with pytest.raises(RunFailed) as failed:
        ask("wake_for_nothing", wall_ms=1000)
    monkeypatch.undo()
    assert failed.value.kind in TOO_LATE
    assert len(looked) <= 1000 / zygote_handle._GLANCE_MS + zygote_handle._SPURIOUS


@pytest.mark.parametrize("code", [0, 1, 5, 101, 109, 255])
def test_a_run_cannot_pretend_that_its_hardening_failed(
    ask: Ask, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    for step in (1, 9):
        with pytest.raises(RunFailed, match="no usable answer"):
            ask("exit_as_if_refused", step=step, code=code)
    assert not caplog.records


def test_what_was_rehearsed_is_nobodys_answer(pool: Pool, ask: Ask) -> None:
    for _ in range(3):
        assert at_rest(pool.zygote().pid)
        time.sleep(0.1)  # they rehearse
        with pytest.raises(RunFailed, match="no usable answer"):
            ask("nothing_said")


def test_a_job_cannot_be_changed_by_its_run(ask: Ask) -> None:
    with pytest.raises(RunFailed, match="crashed"):
        ask("change_the_job")


def test_what_a_run_does_to_shared_bars_no_other_run_sees(pool: Pool) -> None:
    bars = {"bars": {"first": 0}}
    shared = memory_files.Sealed("bars", wire.encode(bars, [np.array([1.0, 2.0])]))

    def found(write: bool) -> Any:
        parts = wire.encode({"kind": "change_the_bars", "write": write})
        return pool.run(parts, shared=lambda: shared).document

    assert found(True) == {"before": [1.0, 2.0], "after": [0.0, 2.0]}
    assert found(False) == {"before": [1.0, 2.0], "after": [1.0, 2.0]}


MANY = 600_000  # values, more than any answer has


@pytest.mark.parametrize(
    "text",
    [
        b"[[" + b"[]," * MANY + b"[]],[]]",
        b"[[" + b'{"a":1},' * MANY + b"1],[]]",
        b'[["\\"",' + b"1.5," * MANY + b"1],[]]",
        b'"' + b'\\"' * 3_000_000 + b"," * MANY,
        b'"' + b'\\"' * 3_000_000 + b"\\",
        b'"' * 3_000_000 + b"," * MANY + b"[" * MANY,
    ],
    ids=["lists", "dicts", "numbers", "a text without end", "an end escaped", "quotes"],
)
def test_an_answer_of_more_values_than_a_scene_has_is_refused_before_any_is_made(
    text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    if b"[[" in text[:2]:  # the others are no JSON
        monkeypatch.setattr("chartpact.sandbox.memory_files.read_packet", lambda *_: made.append(1))
    began = time.process_time()
    with pytest.raises(wire.WireError):
        read_back(struct.pack("<8sQQ", b"cpact\x00\x01\n", len(text), 0) + text)
    assert not made
    assert time.process_time() - began < 5


def test_texts_may_hold_as_many_commas_and_brackets_as_they_like() -> None:
    drawn = {"text": ',[{\\"' * 200_000}
    assert read_back(b"".join(wire.encode(drawn)))[0] == drawn


def read_back(packet: bytes) -> Any:
    fd = memory_files.create_answer(8 << 20)
    try:
        os.pwrite(fd, packet, 8)
        return memory_files.read_answer(fd, 8 << 20)
    finally:
        os.close(fd)


def test_whoever_keeps_a_series_of_an_answer_keeps_no_text_with_it() -> None:
    packet = b"".join(wire.encode("x" * 100_000, [np.arange(3.0)]))
    document, (column,) = read_back(packet)
    assert (document, column.tolist()) == ("x" * 100_000, [0.0, 1.0, 2.0])
    assert isinstance(column.base, bytes) and len(column.base) == column.nbytes


def _packet(text: bytes, columns: bytes = b"", *, magic: bytes = b"cpact\x00\x01\n") -> str:
    return (struct.pack("<8sQQ", magic, len(text), len(columns)) + text + columns).hex()


@pytest.mark.parametrize(
    "packet",
    [
        pytest.param(_packet(b"[1,[]]", magic=b"cpact\x00\x02\n"), id="another version"),
        pytest.param(_packet(b"[" * 100_000), id="deep JSON"),
        pytest.param(_packet(b"\xff\xfe"), id="no UTF-8"),
        pytest.param(_packet(b"[NaN,[]]"), id="NaN in the JSON"),
        pytest.param(_packet(b'{"a":1}'), id="not a document"),
        pytest.param(_packet(b'[1,[["d",2]]]', bytes(8)), id="a column beyond the end"),
        pytest.param(_packet(b'[1,[["d",-1]]]', bytes(8)), id="a negative column"),
        pytest.param(_packet(b'[1,[["d",true]]]', bytes(8)), id="a column of True"),
        pytest.param(_packet(b'[1,[["O",1]]]', bytes(8)), id="a column of objects"),
        pytest.param(_packet(b'[1,[["d",1],["d",1]]]', bytes(8)), id="two columns in one"),
        pytest.param(_packet(b"[1,[]]", bytes(8)), id="bytes nobody claims"),
        pytest.param(_packet(b"[1,[" + b'["d",0],' * 5000 + b'["d",0]]]'), id="too many columns"),
        pytest.param(
            struct.pack("<8sQQ", b"cpact\x00\x01\n", 1 << 63, 1 << 63).hex(), id="huge lengths"
        ),
        pytest.param(
            struct.pack("<8sQQ", b"cpact\x00\x01\n", 6, (4 << 20) - 24).hex(), id="beyond the file"
        ),
        pytest.param(_packet(b'["' + b"9" * 5000 + b'",[]]')[:200], id="cut short"),
        pytest.param(_packet(b"[" + b"9" * 5000 + b",[]]"), id="a number of 5000 digits"),
    ],
)
def test_a_forged_packet_is_refused(ask: Ask, packet: str) -> None:
    with pytest.raises(RunFailed, match="no usable answer"):
        ask("forged", packet=packet)


def test_a_packet_larger_than_allowed_is_not_even_read() -> None:
    fd = memory_files.create_answer(1 << 20)
    try:
        os.pwrite(fd, struct.pack("<8sQQ", b"cpact\x00\x01\n", 1 << 19, 0), 8)
        with pytest.raises(wire.WireError, match="more than it may"):
            memory_files.read_answer(fd, 1 << 20, most_json=1 << 10)
    finally:
        os.close(fd)


def test_what_the_wire_cannot_carry_is_an_error_of_the_sender() -> None:
    with pytest.raises(KeyError):
        wire.encode({}, [np.array([object()])])
    with pytest.raises(ValueError, match="JSON"):
        wire.encode({"x": float("nan")})


def test_memory_files_are_sealed() -> None:
    sealed = memory_files.Sealed("job", wire.encode({"kind": "nothing"}))
    job, answer = sealed.fd, memory_files.create_answer(8192)
    memory_files.confine(answer, 4096)
    try:
        for change in (
            lambda: os.pwrite(job, b"x", 0),
            lambda: os.ftruncate(job, 1),
            lambda: os.ftruncate(job, sealed.size + 1),
            lambda: os.ftruncate(answer, 1),
            lambda: os.ftruncate(answer, 1 << 20),
            lambda: fcntl.fcntl(answer, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE),
            lambda: os.fchmod(answer, 0o777) if never_executable() else os.pwrite(job, b"x", 0),
        ):
            with pytest.raises(PermissionError):
                change()
        assert not os.get_inheritable(job)
    finally:
        os.close(answer)


def test_a_small_allowance_takes_no_page_from_a_child_that_still_rehearses() -> None:
    answer = memory_files.create_answer(1 << 20)
    try:
        assert memory_files.confine(answer, 4096) == 4096 + 8
        with mmap.mmap(answer, 1 << 20) as rehearsal:
            rehearsal[-1] = 1  # SIGBUS if the file had shrunk
    finally:
        os.close(answer)


def never_executable() -> bool:
    """Whether this kernel has memory files that can never be made executable: Linux 6.3."""
    try:
        os.close(os.memfd_create("chartpact", os.MFD_ALLOW_SEALING | 8))
    except OSError:
        return False
    return True


def test_received_descriptors_are_not_inherited() -> None:
    left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with left, right, Path("/dev/null").open() as file:
        messages.send(left, b"hello", [file.fileno()])
        message, (fd,) = messages.receive(right)
        assert message == b"hello"
        assert not os.get_inheritable(fd)
        os.close(fd)


def test_an_allowance_is_kept_by_the_child_itself_when_nobody_kills_it(pool: Pool) -> None:
    """The SIGKILL timers in the child need no server: at twice the wall time and 200 ms."""
    job = memory_files.Sealed("job", wire.encode({"kind": "loop"}))
    _, pidfd, fd, answer = pool.zygote()._take()
    size = memory_files.confine(answer, 4096)
    with socket.socket(fileno=fd) as child:
        child.settimeout(60)
        limits = 60_000, 50, 65536, layers.ALL
        messages.send(child, messages.REQUEST.pack(job.size, 0, size, *limits), [job.fd])
        began = time.monotonic()
        message, _ = messages.receive(child)
        status = messages.EXITED.unpack(message)[1]
        assert os.WTERMSIG(status) == signal.SIGKILL
        assert 0.25 < time.monotonic() - began < 20
    for each in (answer, pidfd):
        os.close(each)


def test_the_default_allowance_is_the_promised_one() -> None:
    assert RunBounds() == RunBounds(1000, 3000, memory=64 << 20, answer=4 << 20)
