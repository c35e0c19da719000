"""The warm process that every run is forked from: a program of its own, started by exec.

It imports all that a run may need, so that a child needs no file; then it only forks and reaps.
Script, parameters and bars lie in memory files that go from the owner to the child past it, so
nothing of a run can stay behind in it. It has one thread, because a fork copies only one.
"""

import errno
import gc
import json
import os
import resource
import select
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from chartpact import _native
from chartpact.clock import zones
from chartpact.sandbox import child, messages, packing, wire
from chartpact.sandbox.layers import ALL, LANDLOCK
from chartpact.sandbox.memory_files import create_answer
from chartpact.sandbox.tasks import TASKS, Task
from chartpact.script import stock
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.limits import Limits
from chartpact.script.pipeline import load

_SPARE_DESCRIPTORS = 32
_OOM_SCORE = 800  # of 1000: the kernel's first choice when memory runs out
_RETRY_S = 0.1  # after a fork that failed
_PAUSE_S = 0.004  # after a run, until children are made ahead
_AHEAD = 2  # children made ahead
_WARM_UPS = 4  # more of them make no run quicker
_REHEARSAL_BARS = 5000
_NAMESPACES = {"network": 0x40000000, "ipc": 0x08000000, "uts": 0x04000000, "user": 0x10000000}
_REHEARSAL = "cipher_b"


def main(config: Mapping[str, Any]) -> None:
    """Prepares, reports that it is ready, and serves until the owner is gone."""
    owner = socket.socket(fileno=config["channel"])
    try:
        cell, report = prepare(config)
    except Exception as error:  # noqa: BLE001  (the owner must hear of it)
        owner.send(json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode())
        return
    owner.send(json.dumps(report).encode())
    serve(owner, cell)


def prepare(config: Mapping[str, Any]) -> tuple[child.ChildProfile, dict[str, Any]]:
    """Makes this process what its children will be copies of; returns a report for the owner."""
    planted = config.get("planted")
    tasks = {**TASKS, **(_planted_tasks(planted) if planted else {})}
    zones.preload()
    rehearsal = warm_up(tasks)
    if (threads := len(os.listdir("/proc/self/task"))) != 1:  # before any fork: some end by one
        raise RuntimeError(f"it has {threads} threads, and a fork would take only one along")
    sys.path.clear()
    sys.meta_path.clear()
    user = config["user"] if os.geteuid() == 0 and _may_become(config["user"]) else 0
    namespaces = _native.sandbox_unshare()
    ruleset, abi, *rights = _native.sandbox_landlock()
    layers = ALL if ruleset >= 0 else ALL & ~LANDLOCK
    cell = child.ChildProfile(ruleset, os.getpid(), layers, user, tasks, rehearsal)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = 3 * (config["turns"] + _AHEAD) + _SPARE_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(descriptors, most), most))
    _prefer_for_oom_killer()
    _keep_niceness()
    if code := _writable_code():
        raise RuntimeError(f"it could write its own machine code, into {code}")
    _skip_repair()
    gc.collect()
    gc.disable()
    gc.freeze()
    return cell, {
        "landlock": {"abi": abi, "rights": rights},
        "user": user,
        "namespaces": [name for name, flag in _NAMESPACES.items() if namespaces & flag],
    }


def _writable_code() -> str:
    """A mapping that is writable and executable, where a run could write machine code."""
    with open("/proc/self/maps") as maps:
        return next((line.rstrip() for line in maps if "wx" in line.split()[1]), "")


def warm_up(tasks: Mapping[str, Task]) -> child.Rehearsal:
    """Rehearses until the code of a run is specialised; returns the rehearsal for children."""
    source = stock.source(_REHEARSAL)
    program = load(source)
    columns: list[wire.Column] = []
    bars = packing.pack_bars(dry_run_bars(_REHEARSAL_BARS), columns)
    job = {
        "kind": "run",
        "source": source,
        "program": 0,
        "limits": asdict(Limits()),
        "params": {},
        "symbols": {},
        "calendars": {},
        "first_visible": 0,
    }
    code = [np.frombuffer(program.dump(), np.uint8)]
    packets = (wire.encode(job, code), wire.encode({"bars": bars}, columns))
    rehearsal = child.Rehearsal(*map(b"".join, packets))
    for _ in range(_WARM_UPS):
        child.rehearse(tasks, rehearsal)
    return rehearsal


def _skip_repair() -> None:
    """Empties what `threading` does after a fork, which would cost a third of it.

    It repairs what other threads left behind, and here none ever ran. It cannot be unregistered.
    """
    if threading := sys.modules.get("threading"):
        threading._after_fork.__code__ = (lambda: None).__code__


def _may_become(user: int) -> bool:
    """Whether this root may change its user; in some containers it may not."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _planted_tasks(path: str) -> Mapping[str, Task]:
    """The tasks of a test's module: code that no script could bring in."""
    spec = spec_from_file_location("planted", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    tasks: Mapping[str, Task] = module.TASKS
    return tasks


def _prefer_for_oom_killer() -> None:
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as score:
        if int(score.read()) < _OOM_SCORE:  # a container may have set a higher one
            score.write(str(_OOM_SCORE))


def _keep_niceness() -> None:
    """Gives the zygote's session the niceness of its owner.

    Where the kernel schedules by sessions (autogroup), niceness counts within one session alone.
    """
    if (niceness := os.getpriority(os.PRIO_PROCESS, 0)) > 0:
        for _ in range(5):
            try:
                Path("/proc/self/autogroup").write_text(str(niceness))
            except BlockingIOError:  # another process wrote to one within a tenth of a second
                time.sleep(_RETRY_S)
            except OSError:  # the kernel does not schedule by sessions
                return
            else:
                return


def serve(owner: socket.socket, cell: child.ChildProfile) -> None:
    """Gives the owner children to run jobs in and reports how each ended, until the owner is gone.

    With each child come a socket and the file of its answer. The request goes over the socket to
    the child alone, and the report of its end comes back over it. The owner sends a byte for every
    child it takes. While nothing runs, and after a pause in which the owner reads its last answer,
    children are made ahead and rehearse, so that the next job finds one ready. While something runs
    they are made on demand, because the processor is needed for the runs.
    """
    living: dict[int, tuple[int, socket.socket]] = {}  # pidfd → pid, the child's end of its socket
    waiting = 0  # children announced and not taken; negative: taken and not yet made
    events = select.epoll()
    events.register(owner.fileno(), select.EPOLLIN)

    def hatch() -> int:
        """Makes a child; returns the errno if there is no room for another process."""
        try:
            pidfd, pid, childs = _hatch(owner, cell)
        except ConnectionError:
            raise
        except OSError as error:
            return error.errno or errno.EAGAIN
        living[pidfd] = pid, childs
        events.register(pidfd, select.EPOLLIN)
        return 0

    failed = 0
    with suppress(ConnectionError):  # the owner is gone, and children follow their parent
        while True:
            while waiting < 0:
                if failed := hatch():
                    messages.send(owner, messages.FAILED.pack(b"F", failed))
                waiting += 1
            idle = len(living) <= waiting < _AHEAD
            ready = events.poll((_RETRY_S if failed else _PAUSE_S) if idle else None)
            if idle and not ready and not (failed := hatch()):
                waiting += 1
            for fd, _ in ready:
                if fd in living:
                    events.unregister(fd)
                    _reap(fd, *living.pop(fd))
                elif owner.recv(1):
                    waiting -= 1
                else:
                    raise ConnectionResetError


def _hatch(owner: socket.socket, cell: child.ChildProfile) -> tuple[int, int, socket.socket]:
    answer = create_answer(child.REHEARSED)
    try:
        owners, childs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with owners:
            try:
                pid = os.fork()
            except OSError:
                childs.close()
                raise
            if pid == 0:
                child.live(cell, childs.fileno(), answer)
            pidfd = os.pidfd_open(pid)  # by the only reaper, so it cannot name another process
            messages.send(owner, messages.STARTED.pack(b"S", pid), [pidfd, owners.fileno(), answer])
    finally:
        os.close(answer)
    return pidfd, pid, childs


def _reap(pidfd: int, pid: int, childs: socket.socket) -> None:
    _, status, usage = os.wait4(pid, 0)
    os.close(pidfd)
    used = usage.ru_utime + usage.ru_stime
    message = messages.EXITED.pack(b"X", status, used, usage.ru_maxrss, usage.ru_minflt)
    with childs, suppress(ConnectionError):  # nobody waits for a child that was never taken
        messages.send(childs, message)
