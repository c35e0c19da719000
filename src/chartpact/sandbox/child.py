"""The life of one run: wait for the job, harden, do it, leave an answer, end.

A job is a packet whose document names the `kind` of task. A child is made before its job comes and
rehearses meanwhile, so that the memory a run touches is its own already.
"""

import os
import select
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from chartpact import _native
from chartpact.problem import Problem
from chartpact.sandbox import messages, packing, wire
from chartpact.sandbox.messages import ANSWERED, OUT_OF_MEMORY, UNANSWERED, UNASKED
from chartpact.sandbox.tasks import Task

# The descriptors of a child that waits; from the hardening on it has none.
_SOCKET, _RULESET, _STATM = 0, 1, 2
_PROMPT_S = 0.003  # a job that comes within this time is not kept waiting for the rehearsal
REHEARSED = 1 << 20  # room for the answer of the rehearsal


@dataclass(frozen=True)
class Rehearsal:
    """A job of our own, and the packet that it shares: what a child does while it waits."""

    job: bytes
    shared: bytes


@dataclass(frozen=True)
class ChildProfile:
    """The sandbox profile and the tasks shared by all children of a zygote.

    `layers` are those that the host has.
    """

    ruleset: int
    zygote: int
    layers: int
    user: int
    tasks: Mapping[str, Task]
    rehearsal: Rehearsal


def live(cell: ChildProfile, requests: int, answer: int) -> NoReturn:
    """Everything a child does. It never returns: one that did would go on as a second zygote."""
    code = UNANSWERED
    try:
        code = _serve(cell, _native.sandbox_await(requests, cell.ruleset, cell.zygote, answer))
    finally:
        os._exit(code)


def _serve(cell: ChildProfile, stage: memoryview) -> int:
    requests = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, _SOCKET)
    if not select.select([_SOCKET], [], [], _PROMPT_S)[0]:
        rehearsal = cell.rehearsal
        _work(cell.tasks, memoryview(rehearsal.job), memoryview(rehearsal.shared), stage)
        wire.erase(stage)
    stage.release()  # the answer moves
    request, fds = messages.receive(requests)
    if not request:
        return UNASKED
    job_size, shared_size, answer_size, cpu_ms, wall_ms, memory_kib, layers = (
        messages.REQUEST.unpack(request)
    )
    job, shared, answer = _native.sandbox_enter(
        fds[0],
        job_size,
        fds[-1],
        shared_size,
        answer_size,
        _RULESET,
        _STATM,
        cell.zygote,
        cell.layers & layers,
        cell.user,
        memory_kib << 10,
        cpu_ms,
        2 * wall_ms + 200,  # its owner is there before
    )
    sys.stdin = sys.stdout = sys.stderr = None
    return _work(cell.tasks, job, shared, answer)


def rehearse(tasks: Mapping[str, Task], rehearsal: Rehearsal) -> None:
    """Does the job of the rehearsal in this process."""
    answer = bytearray(REHEARSED)
    job, shared = memoryview(rehearsal.job), memoryview(rehearsal.shared)
    _work(tasks, job, shared, memoryview(answer))
    document, _ = wire.decode(bytes(answer))
    if "error" in document:
        raise RuntimeError(f"the rehearsal failed: {document['error']}")


def _work(
    tasks: Mapping[str, Task], job: memoryview, shared: memoryview | None, answer: memoryview
) -> int:
    try:
        document, columns = wire.decode(job, len(job))
        if shared is not None:
            packing.join(document, columns, *wire.decode(shared, len(shared)))
        parts = wire.encode(*tasks[document["kind"]](document, columns))
        if sum(map(len, parts)) > len(answer) or len(parts[0]) > wire.MOST_JSON:
            parts = wire.encode(_too_large(len(answer)))
        wire.write(parts, answer)
        _native.sandbox_done()
    except MemoryError:
        return OUT_OF_MEMORY
    return ANSWERED


def _too_large(room: int) -> dict[str, Any]:
    message = f"what the script drew does not fit into {room >> 20} MB"
    hint = "draw fewer series, or run it on fewer bars"
    return {"error": Problem("size", message, hint).to_json()}
