"""The life of one run: harden, read the job, do it, leave an answer, end.

A job is a packet whose document names its `kind`; `KINDS` holds what can be done.
"""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from chartpact import _native
from chartpact.script.sandbox import wire

Answer = tuple[Any, list[wire.Column]]
Job = Mapping[str, Any]

# Exit codes; 100 and more are steps of the hardening that failed.
ANSWERED, UNANSWERED, OUT_OF_MEMORY = 0, 3, 4


@dataclass(frozen=True)
class Cell:
    """What the zygote prepared for its children to lock themselves in with."""

    ruleset: int
    statm: int
    zygote: int
    layers: int
    user: int


def _nothing(job: Job, columns: list[wire.Column]) -> Answer:  # noqa: ARG001
    return {}, []


KINDS: dict[str, Callable[[Job, list[wire.Column]], Answer]] = {"nothing": _nothing}


def live(cell: Cell, request: bytes, job_fd: int, answer_fd: int) -> NoReturn:
    """Everything a child does. It never returns: one that did would go on as a second zygote."""
    code = UNANSWERED
    try:
        job_size, answer_size, wall_ms, memory_kib = wire.REQUEST.unpack(request)
        job, answer = _native.sandbox_enter(
            job_fd,
            job_size,
            answer_fd,
            answer_size,
            cell.ruleset,
            cell.statm,
            cell.zygote,
            cell.layers,
            cell.user,
            memory_kib << 10,
            -(-wall_ms // 1000) + 1,
            2 * wall_ms + 200,
        )
        sys.stdin = sys.stdout = sys.stderr = None
        code = _work(job, answer)
    finally:
        os._exit(code)


def _work(job: memoryview, answer: memoryview) -> int:
    try:
        document, columns = wire.decode(job, len(job))
        parts = wire.encode(*KINDS[document["kind"]](document, columns))
        if sum(len(part) for part in parts) > len(answer):
            parts = wire.encode(_too_large(len(answer)))
        wire.write(parts, answer)
    except MemoryError:
        return OUT_OF_MEMORY
    return ANSWERED


def _too_large(room: int) -> dict[str, Any]:
    return {
        "error": {
            "kind": "size",
            "message": f"what the script drew does not fit into {room >> 20} MB",
            "hint": "draw fewer series, or run it on fewer bars",
        }
    }
