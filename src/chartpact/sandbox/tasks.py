"""What a child can be asked to do with a script: inspect it, or run it."""

import errno
import os
import socket
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from chartpact import _native
from chartpact.problem import Problem
from chartpact.sandbox import packing
from chartpact.sandbox.wire import Column
from chartpact.script.errors import NOT_YOUR_FAULT, ScriptError, describe_traceback
from chartpact.script.limits import Limits
from chartpact.script.pipeline import examine, execute, load
from chartpact.script.program import Extras, Program
from chartpact.script.source.parser import normalize

Answer = tuple[Any, list[Column]]
Job = Mapping[str, Any]
Task = Callable[[Job, list[Column]], Answer]

_OVER_THE_LIMIT = 80 << 20


def nothing(job: Job, columns: list[Column]) -> Answer:  # noqa: ARG001
    """What a run costs before it does anything."""
    return {}, []


def inspect(job: Job, columns: list[Column]) -> Answer:  # noqa: ARG001
    """What the source declares, and the program it compiles to; or all that is wrong with it."""
    program, problems = examine(job["source"], Limits(**job["limits"]))
    if program is None:
        return {"errors": [problem.to_json() for problem in problems]}, []
    params = [param.to_json() for param in program.params]
    code = np.frombuffer(program.dump(), np.uint8)
    warnings = [warning.to_json() for warning in program.warnings]
    return {"params": params, "meta": dict(program.meta), "warnings": warnings}, [code]


def run(job: Job, columns: list[Column]) -> Answer:
    """What the script draws on the bars."""
    drawn: list[Column] = []
    try:
        result = execute(
            _program(job, columns),
            packing.unpack_bars(job["bars"], columns),
            job["params"],
            budget=job["limits"]["steps"],
            extras=Extras(
                {name: packing.unpack_bars(bars, columns) for name, bars in job["symbols"].items()},
                {name: tuple(events) for name, events in job["calendars"].items()},
                job["first_visible"],
            ),
        )
    except ScriptError as error:
        return {"error": error.to_json(), "internal": error.internal}, []
    scene = packing.pack_scene(result.scene, drawn)
    return {"scene": scene, "steps": result.steps, "log": result.log}, drawn


def _program(job: Job, columns: list[Column]) -> Program:
    """The program that an earlier child compiled, unless it was of another version."""
    program = Program.undump(normalize(job["source"]), columns[job["program"]].tobytes())
    return program or load(job["source"], Limits(**job["limits"]))


def probe(job: Job, columns: list[Column]) -> Answer:  # noqa: ARG001
    """Tries what the layers forbid; for each attempt the name of the error, or "worked"."""

    def connect() -> None:
        with socket.socket() as outgoing:
            outgoing.settimeout(1)
            outgoing.connect(("127.0.0.1", 9))

    def fork() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    attempts: dict[str, Callable[[], Any]] = {
        "files": lambda: os.close(os.open("/", os.O_RDONLY)),
        "network": connect,
        "signal": lambda: os.kill(os.getppid(), 0),
        "fork": fork,
        "memory": lambda: bytearray(_OVER_THE_LIMIT),
    }
    results: dict[str, Any] = {name: _attempt(action) for name, action in attempts.items()}
    return {**results, "user": os.getuid(), "no_new_privs": _native.sandbox_no_new_privs()}, []


def _attempt(action: Callable[[], Any]) -> str:
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "OSError")
    except MemoryError:
        return "MemoryError"
    return "worked"


def spin(job: Job, columns: list[Column]) -> Answer:  # noqa: ARG001
    """Goes on until it is killed."""
    while True:
        pass


def answer_faults(task: Task) -> Task:
    """The task; what fails in chartpact itself becomes its answer."""

    def guarded(job: Job, columns: list[Column]) -> Answer:
        try:
            return task(job, columns)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  (the caller must hear of it)
            crash = Problem("crash", "chartpact itself failed", NOT_YOUR_FAULT)
            return {"error": crash.to_json(), "internal": describe_traceback(error)}, []

    return guarded


TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "nothing": nothing,
        "inspect": answer_faults(inspect),
        "run": answer_faults(run),
        "probe": probe,
        "spin": spin,
    }
)
