"""Runs jobs in fresh, hardened processes: admits them fairly, ends them in time, reads answers."""

import atexit
import logging
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartpact.sandbox import wire
from chartpact.sandbox.layers import ALL
from chartpact.sandbox.process import Exit, ForkFailed, Lost, Unavailable, Zygote
from chartpact.script.errors import NOT_YOUR_FAULT
from chartpact.work.cores import count_cores
from chartpact.work.turns import Crowded, Turns, User

log = logging.getLogger(__name__)

Shared = Callable[[], wire.Sealed | None]  # called when the turn has come: whoever waits has none

_OUT_OF_MEMORY = 4


class RunFailed(Exception):
    """A run without an answer: `kind` is time, busy, memory or crash; `ended` tells of its end."""

    def __init__(self, kind: str, message: str, hint: str, ended: Exit | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.ended = ended


@dataclass(frozen=True)
class Allowance:
    """What one run may use, and how much it may say."""

    wall_ms: int = 1000
    memory: int = 64 << 20
    answer: int = 4 << 20


@dataclass(frozen=True)
class Renewal:
    """When a zygote is replaced: its children share one memory layout, which must not be learnt."""

    runs: int = 5000
    seconds: float = 1800
    crashes: int = 3


@dataclass(frozen=True)
class Answered:
    """What a run answered, still to be judged."""

    document: Any
    columns: list[wire.Column]


def _nothing() -> None:
    """What a job shares that shares nothing."""


class Pool:
    """A zygote, started when first needed, and turns at it."""

    def __init__(
        self,
        turns: int | None = None,
        *,
        patience_s: float = 30.0,
        renewal: Renewal | None = None,
        planted: Path | None = None,
        layers: int = ALL,
    ) -> None:
        self.turns = Turns(turns or count_cores())
        self.patience_s = patience_s
        self.renewal = renewal or Renewal()
        self._planted = planted  # a test's module: code past the language guard
        self._layers = layers  # all, except for a probe of one of them
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._renewing: threading.Thread | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._closed = False

    # ------------------------------------------------------------------------------- running

    def run(
        self,
        parts: Sequence[wire.Part],
        allowance: Allowance | None = None,
        user: User = None,
        shared: Shared = _nothing,
    ) -> Answered:
        """Runs the job in this packet, and in one that it shares, and waits for its answer."""
        turn = threading.Event()
        self._ask(user, turn.set)
        try:
            in_time = turn.wait(self.patience_s)
        except BaseException:  # whoever waited was interrupted
            if not self.turns.withdraw(user, turn.set):
                self.turns.done(user, 0.0)
            raise
        if not in_time and self.turns.withdraw(user, turn.set):
            raise _busy(f"no turn came free within {self.patience_s:g} s")
        started = time.monotonic()
        try:
            return self._perform(parts, shared, allowance or Allowance())
        finally:
            self.turns.done(user, time.monotonic() - started)

    def submit(
        self, parts: Sequence[wire.Part], allowance: Allowance | None = None, user: User = None
    ) -> "Future[Answered]":
        """The same without waiting, for event loops: `asyncio.wrap_future(pool.submit(…))`."""
        answer: Future[Answered] = Future()
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self.turns.turns, "chartpact-sandbox")
            executor = self._executor

        def work() -> None:
            started = time.monotonic()
            try:
                if answer.set_running_or_notify_cancel():
                    answer.set_result(self._perform(parts, _nothing, allowance or Allowance()))
            except BaseException as error:  # noqa: BLE001  (it belongs to whoever asks)
                answer.set_exception(error)
            finally:
                self.turns.done(user, time.monotonic() - started)

        def granted() -> None:
            executor.submit(work)

        self._ask(user, granted)
        return answer

    def _ask(self, user: User, granted: Callable[[], None]) -> None:
        try:
            self.turns.ask(user, granted)
        except Crowded:
            raise _busy("too many runs are waiting") from None

    def _perform(self, parts: Sequence[wire.Part], shared: Shared, given: Allowance) -> Answered:
        try:
            with wire.Sealed("job", parts) as job:
                ended, answer = self._ran(job, shared(), given)
            try:
                return _answered(ended, answer, given)
            except RunFailed as failed:
                failed.ended = ended
                raise
            finally:
                os.close(answer)
        except OSError as error:  # out of descriptors, processes or memory
            log.error("no run could be started: %s", error)
            raise _busy(f"no run could be started: {error.strerror}") from None

    def _ran(
        self, job: wire.Sealed, shared: wire.Sealed | None, given: Allowance
    ) -> tuple[Exit | None, int]:
        for _ in range(2):
            zygote = self.zygote()
            try:
                limits = given.answer, given.wall_ms, given.memory >> 10
                ended, answer = zygote.run(job, shared, *limits)
            except ForkFailed as error:
                raise _busy(f"no process could be started: {error}") from None
            except Lost as lost:
                self._replace(zygote, lost)
                if not lost.again:
                    raise _busy("the sandbox was restarted in the middle of the run") from None
            else:
                self._after(zygote, ended)
                return ended, answer
        raise _busy("the sandbox does not start runs")

    # ------------------------------------------------------------------------------- zygotes

    def zygote(self) -> Zygote:
        """The one that serves now."""
        with self._lock:
            if self._closed:
                raise Unavailable("the sandbox is closed")
            if self._zygote is None:
                self._zygote = self._new()
            return self._zygote

    def _new(self) -> Zygote:
        return Zygote(self.turns.turns, self._planted, self._layers)

    def _replace(self, zygote: Zygote, lost: Lost) -> None:
        with self._lock:
            if self._zygote is zygote:
                self._zygote = None
                log.warning("the sandbox is started anew: %s", lost)
        zygote.kill()

    def _after(self, zygote: Zygote, ended: Exit | None) -> None:
        # A kill is no crash, nor is a host that lacks a layer.
        if ended is not None and ended.signal not in (0, signal.SIGKILL) and not ended.refused:
            zygote.crashes += 1
        due = (
            zygote.runs >= self.renewal.runs
            or zygote.crashes >= self.renewal.crashes
            or time.monotonic() - zygote.born >= self.renewal.seconds
        )
        if due:
            with self._lock:
                if self._zygote is not zygote or self._renewing or self._closed:
                    return
                self._renewing = threading.Thread(target=self._renew, args=(zygote,), daemon=True)
            self._renewing.start()

    def _renew(self, old: Zygote) -> None:
        try:
            new = self._new()
        except (OSError, Unavailable) as error:  # the old one goes on, and the next run tries again
            log.error("the sandbox could not be renewed: %s", error)
            with self._lock:
                self._renewing = None
            return
        with self._lock:
            self._renewing = None
            if self._zygote is old and not self._closed:
                self._zygote, surplus = new, old
            else:
                surplus = new
        surplus.retire()

    def close(self) -> None:
        """Ends everything; runs under way are lost."""
        with self._lock:
            self._closed = True
            zygote, self._zygote = self._zygote, None
            executor, self._executor = self._executor, None
            renewing = self._renewing
        if renewing is not None:
            renewing.join()
        if zygote is not None:
            zygote.close()
        if executor is not None:
            executor.shutdown(cancel_futures=True)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def forget(self) -> None:
        """In a fork of the owner: starts anew when needed."""
        if self._zygote is not None:
            self._zygote.forget()
        self.turns = Turns(self.turns.turns)
        self._reset()


def _answered(ended: Exit | None, fd: int, given: Allowance) -> Answered:
    if ended is not None:
        _judge(ended, given)
    try:
        document, columns = wire.read_answer(fd, given.answer)
    except wire.WireError as error:
        raise RunFailed(
            "crash", f"the script's process left no usable answer: {error}", NOT_YOUR_FAULT
        ) from None
    return Answered(document, columns)


def _judge(ended: Exit, given: Allowance) -> None:
    if ended.killed:
        raise _too_slow(ended, given)
    if ended.signal:
        raise _crashed(ended, given)
    if ended.code == _OUT_OF_MEMORY:
        raise _out_of_memory(given)


def _busy(why: str) -> RunFailed:
    return RunFailed("busy", f"this host is busy: {why}", "try again in a moment")


def _too_slow(ended: Exit, given: Allowance) -> RunFailed:
    if ended.cpu_ms < given.wall_ms / 2:
        return _busy(
            f"within {given.wall_ms} ms the script got {ended.cpu_ms:.0f} ms of processor time"
        )
    return RunFailed(
        "time",
        f"the script did not finish within {given.wall_ms} ms",
        "use ta functions instead of loops over bars, or fewer bars",
    )


def _out_of_memory(given: Allowance) -> RunFailed:
    return RunFailed(
        "memory",
        f"the script needs more than {given.memory >> 20} MB",
        "keep fewer lists and series at a time, or use fewer bars",
    )


def _crashed(ended: Exit, given: Allowance) -> RunFailed:
    if ended.signal == signal.SIGKILL:  # not ours: its own timer, its CPU limit, or the host
        if ended.cpu_ms >= given.wall_ms / 2 or ended.wall_ms >= given.wall_ms:
            return _too_slow(ended, given)
        return _out_of_memory(given)
    if step := ended.refused:
        log.critical("a run was refused: step %d of its hardening failed", step)
        return RunFailed(
            "crash",
            f"the script was not run: step {step} of securing its process failed",
            "this host needs attention: `chartpact doctor` tells more",
        )
    known = ended.signal in {*signal.Signals}
    name = signal.Signals(ended.signal).name if known else f"signal {ended.signal}"
    return RunFailed("crash", f"the script's process crashed ({name})", NOT_YOUR_FAULT)


# ------------------------------------------------------------------------------------ the default

_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()
_default: Pool | None = None
_default_lock = threading.Lock()


def default() -> Pool:
    """The pool of this process."""
    global _default  # noqa: PLW0603
    with _default_lock:
        if _default is None:
            _default = Pool()
            atexit.register(_default.close)
        return _default


def _after_fork() -> None:
    global _default_lock  # noqa: PLW0603
    _default_lock = threading.Lock()
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
