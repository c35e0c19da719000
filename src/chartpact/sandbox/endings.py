"""How a run's process ended, and what its author reads about it."""

import logging
import signal
from dataclasses import dataclass

from chartpact.problem import Problem
from chartpact.sandbox.layers import ALL
from chartpact.sandbox.messages import OUT_OF_MEMORY
from chartpact.script.errors import NOT_YOUR_FAULT
from chartpact.work.failure import WorkFailed, busy

log = logging.getLogger(__name__)

REFUSAL = 40  # a step of the hardening that fails ends the process by signal 40 + its number
_STEPS = 9


class RunFailed(WorkFailed):
    """A run without an answer: `kind` is time, busy, memory or crash."""

    ended: "Exit | None" = None


@dataclass(frozen=True)
class Exit:
    """How a run's process ended, and what it used."""

    signal: int  # 0 when it ended by itself
    code: int
    killed: bool  # by its owner, at the limit of wall time
    wall_ms: float
    cpu_ms: float
    peak_kib: int
    faults: int = 0  # pages of memory it was the first to touch: what a run costs

    @property
    def refused(self) -> int:
        """The step of its hardening that failed, which no run can pretend; 0 if none did."""
        return self.signal - REFUSAL if REFUSAL < self.signal <= REFUSAL + _STEPS else 0

    @property
    def crashed(self) -> bool:
        """Whether it died of something other than a kill or a layer that the host lacks."""
        return self.signal not in (0, signal.SIGKILL) and not self.refused


@dataclass(frozen=True)
class RunBounds:
    """What one run may use, and how long its answer may be.

    The wall time is a backstop, for a run that gets no processor time or asks for none. A run has
    every layer of protection on, except where the layers themselves are probed.
    """

    cpu_ms: int = 1000
    wall_ms: int = 3000
    memory: int = 64 << 20
    answer: int = 4 << 20
    layers: int = ALL


def host_is_busy(reason: str) -> RunFailed:
    return RunFailed(busy(f"this host is busy: {reason}").problem)


def no_answer(reason: object) -> RunFailed:
    message = f"the script's process left no usable answer: {reason}"
    return RunFailed(Problem("crash", message, NOT_YOUR_FAULT))


def check_ending(ended: Exit, allowance: RunBounds) -> None:
    """Raises the error of a run that did not end well."""
    if ended.killed:
        raise _too_slow(ended, allowance)
    if ended.signal == signal.SIGKILL:  # not ours: one of its own timers, or the host
        if ended.cpu_ms >= allowance.cpu_ms or ended.wall_ms >= allowance.wall_ms:
            raise _too_slow(ended, allowance)
        raise _out_of_memory(allowance)
    if ended.refused:
        raise _not_hardened(ended.refused)
    if ended.signal:
        known = ended.signal in {*signal.Signals}
        name = signal.Signals(ended.signal).name if known else f"signal {ended.signal}"
        message = f"the script's process crashed ({name})"
        raise RunFailed(Problem("crash", message, NOT_YOUR_FAULT))
    if ended.code == OUT_OF_MEMORY:
        raise _out_of_memory(allowance)


def _too_slow(ended: Exit, allowance: RunBounds) -> RunFailed:
    if ended.cpu_ms < allowance.cpu_ms:
        used = f"{ended.cpu_ms:.0f} ms of processor time"
        return host_is_busy(f"within {allowance.wall_ms} ms the script got {used}")
    message = f"the script did not finish within {allowance.cpu_ms} ms of processor time"
    hint = "use ta functions instead of loops over bars, or fewer bars"
    return RunFailed(Problem("time", message, hint))


def _out_of_memory(allowance: RunBounds) -> RunFailed:
    message = f"the script needs more than {allowance.memory >> 20} MB"
    hint = "keep fewer lists and series at a time, or use fewer bars"
    return RunFailed(Problem("memory", message, hint))


def _not_hardened(step: int) -> RunFailed:
    log.critical("a run was refused: step %d of its hardening failed", step)
    message = f"the script was not run: step {step} of securing its process failed"
    return RunFailed(Problem("crash", message, "this host needs attention"))
