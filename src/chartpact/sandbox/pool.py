"""Runs jobs in fresh, hardened processes: admits them fairly, ends them in time, reads answers."""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chartpact.sandbox import wire
from chartpact.sandbox.endings import (
    Exit,
    RunBounds,
    RunFailed,
    check_ending,
    host_is_busy,
    no_answer,
)
from chartpact.sandbox.layers import unavailable
from chartpact.sandbox.memory_files import Sealed, read_answer
from chartpact.sandbox.zygote_handle import FORK, SandboxError, Zygote
from chartpact.work.cores import count_cores
from chartpact.work.forks import after_fork
from chartpact.work.once import once_per_process
from chartpact.work.turns import Crowded, Turns, User

log = logging.getLogger(__name__)

Shared = Callable[[], Sealed | None]  # called when the turn has come, so that waiting holds nothing


@dataclass(frozen=True)
class Renewal:
    """When a zygote is replaced: its children share one memory layout, which must not be learnt."""

    runs: int = 5000
    seconds: float = 1800
    crashes: int = 3


@dataclass(frozen=True)
class Answered:
    """What a run answered; nothing of it is checked yet."""

    document: Any
    columns: list[wire.Column]
    cpu_ms: float = 0.0  # that the run used


class Pool:
    """A zygote, started when first needed, and turns at it.

    `planted` is a test's module with code past the language guard.
    """

    def __init__(
        self,
        turns: int | None = None,
        *,
        patience_s: float = 30.0,
        renewal: Renewal | None = None,
        planted: Path | None = None,
    ) -> None:
        self.turns = Turns(turns or count_cores())
        self.patience_s = patience_s
        self.renewal = renewal or Renewal()
        self.cpu_s = 0.0  # processor time that its runs have used
        self.starts = self.losses = 0  # of zygotes
        self._planted = planted
        self._reset()
        after_fork(self.forget)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._renewing: threading.Thread | None = None
        self._closed = False

    @cached_property
    def unavailable(self) -> str:
        """Why no script can be run in a sandbox here; "" when it can."""
        return unavailable()

    def run(
        self,
        parts: Sequence[wire.Part],
        allowance: RunBounds | None = None,
        user: User = None,
        shared: Shared = lambda: None,
    ) -> Answered:
        """Runs the job in this packet and the one it may share, and waits for its answer."""
        try:
            with self.turns.hold(user, self.patience_s):
                return self._perform(parts, shared, allowance or RunBounds())
        except Crowded as crowded:
            raise host_is_busy(str(crowded)) from None

    def _perform(
        self, parts: Sequence[wire.Part], shared: Shared, allowance: RunBounds
    ) -> Answered:
        try:
            with Sealed("job", parts) as job:
                ended, answer = self._run_child(job, shared(), allowance)
            try:
                return _read(ended, answer, allowance)
            except RunFailed as failed:
                failed.ended = ended
                raise
            finally:
                os.close(answer)
        except OSError as error:  # out of descriptors, processes or memory
            log.error("no run could be started: %s", error)
            raise host_is_busy(f"no run could be started: {error.strerror}") from None

    def _run_child(
        self, job: Sealed, shared: Sealed | None, allowance: RunBounds
    ) -> tuple[Exit, int]:
        for _ in range(2):
            zygote = self.zygote()
            try:
                ended, answer = zygote.run(job, shared, allowance)
            except SandboxError as lost:
                if lost.kind == FORK:
                    raise host_is_busy(f"no process could be started: {lost}") from None
                self._replace(zygote, lost)
                if not lost.again:
                    reason = "the sandbox was restarted in the middle of the run"
                    raise host_is_busy(reason) from None
            else:
                self._count(zygote, ended)
                self.cpu_s += ended.cpu_ms / 1000
                return ended, answer
        raise host_is_busy("the sandbox does not start runs")

    def zygote(self) -> Zygote:
        """The one that serves now."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            if self._zygote is None:
                self._zygote = self._start()
            return self._zygote

    def _start(self) -> Zygote:
        self.starts += 1
        return Zygote(self.turns.turns, self._planted)

    def _replace(self, zygote: Zygote, lost: SandboxError) -> None:
        with self._lock:
            if self._zygote is zygote:
                self._zygote = None
                self.losses += 1
                log.warning("the sandbox is started anew: %s", lost)
        zygote.kill()

    def _count(self, zygote: Zygote, ended: Exit) -> None:
        """Counts crashes, and starts the renewal of a zygote when it is due."""
        if ended.crashed:
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
            new = self._start()
        except (OSError, SandboxError) as error:
            # The old one goes on, and the next run tries again.
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
            renewing = self._renewing
        if renewing is not None:
            renewing.join()
        if zygote is not None:
            zygote.close()

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


def _read(ended: Exit, answer: int, allowance: RunBounds) -> Answered:
    check_ending(ended, allowance)
    try:
        return Answered(*read_answer(answer, allowance.answer), ended.cpu_ms)
    except wire.WireError as error:
        raise no_answer(error) from None


process_pool = once_per_process(Pool)  # for callers that hand in none
