"""A job without an answer."""

from chartpact.problem import Failure, Problem


class WorkFailed(Failure):
    """A job was not done: `kind` is busy, time, memory or crash."""


def busy(reason: str) -> WorkFailed:
    """Refuses work now that may be accepted later (back-pressure)."""
    return WorkFailed(Problem("busy", reason, "try again in a moment"))
