"""What can be wrong with a script, as a problem that its author can act on."""

from collections.abc import Mapping
from typing import Any

from chartpact.problem import Failure, Problem

STEPS = ("parse", "check", "presence", "dry_run", "run")
KINDS = "syntax forbidden name type value budget memory time crash size busy".split()
WARNING_KINDS = (*KINDS, "lookahead")
NOT_YOUR_FAULT = "this is a fault in chartpact: please report it, with the script"

_MOST_FRAMES = 8

TRUTH, OPERAND = "truth", "operand"  # causes of faults


class ScriptError(Failure):
    """A script cannot be used or run: in which step, where, why, and what to write instead.

    Lines and columns count characters from 1; they are None where the place is not known.
    `internal` describes a failure of chartpact itself, for the host's log.

    >>> ScriptError("run", "name", "there is no 'emaa'", line=3, column=9).to_json()["line"]
    3
    """

    def __init__(
        self,
        step: str,
        kind: str,
        message: str,
        hint: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        internal: str = "",
    ) -> None:
        if step not in STEPS or kind not in KINDS:
            raise ValueError(f"{step!r} and {kind!r} are not a step and a kind of script error")
        super().__init__(Problem(kind, message, hint, step, line, column))
        self.internal = internal

    @property
    def step(self) -> str:
        return str(self.problem.step)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScriptError":
        """The error that `to_json` wrote; every field is checked."""
        return cls(
            str(data["step"]),
            str(data["kind"]),
            str(data["message"]),
            str(data["hint"]),
            line=_position(data["line"]),
            column=_position(data["column"]),
        )

    def at(self, step: str) -> "ScriptError":
        """The same error in another step."""
        error = ScriptError.from_json({**self.to_json(), "step": step})
        error.internal = self.internal
        return error


def read_warning(data: Mapping[str, Any]) -> Problem:
    """The warning whose problem `to_json` wrote; every field is checked.

    A warning does not keep a script from being used. It is a problem and no exception.
    """
    step, kind = str(data["step"]), str(data["kind"])
    if step not in STEPS or kind not in WARNING_KINDS:
        raise ValueError(f"{step!r} and {kind!r} are not a step and a kind of warning")
    place = _position(data["line"]), _position(data["column"])
    return Problem(kind, str(data["message"]), str(data["hint"]), step, *place)


def _position(value: Any) -> int | None:
    if value is None or (type(value) is int and value > 0):
        return value
    raise ValueError(f"{value!r} is not a line or a column")


class LimitReached(Exception):
    """A step of the check or the compiler does not go on: it has seen more than it is made for."""


class Fault(Failure):
    """A rule that a running script broke; the place is the expression it was evaluating.

    `cause` says of two faults what a program can ask: TRUTH is a series where one truth is needed,
    OPERAND a `value` that is no number.
    """

    def __init__(
        self, kind: str, message: str, hint: str = "", *, cause: str = "", value: Any = None
    ) -> None:
        super().__init__(Problem(kind, message, hint))
        self.cause, self.value = cause, value


def describe_traceback(error: BaseException) -> str:
    """An exception and the functions it passed through, in one line and without their sources.

    >>> try:
    ...     ScriptError.from_json({})
    ... except KeyError as error:
    ...     print(describe_traceback(error))  # doctest: +ELLIPSIS
    KeyError: 'step', in chartpact.script.errors:from_json:... < ...
    """
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        module = trace.tb_frame.f_globals.get("__name__", "the script")
        frames.append(f"{module}:{code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}, in {' < '.join(frames[: -_MOST_FRAMES - 1 : -1])}"
