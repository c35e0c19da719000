"""The warm process that every run is forked from: a program of its own, started by exec.

It imports all that a run may need, so that a child needs no file; then it only forks and reaps.
Script, parameters and bars lie in memory files that go from the owner to the child past it, so
nothing of a run can stay behind in it. It has one thread, because a fork takes only one along.
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
from chartpact.sandbox import child, packing, wire
from chartpact.sandbox.layers import ALL, LANDLOCK
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.limits import Limits
from chartpact.script.pipeline import load

_SPARE_DESCRIPTORS = 32
_FIRST_TO_GO = 800  # of the 1000 that the kernel's choice of a victim goes to
_RETRY_S = 0.1  # after a fork that failed
_BREATH_S = 0.004
_AHEAD = 2
_WARM_UPS = 12
_REHEARSAL_BARS = 5000
_NAMESPACES = {"network": 0x40000000, "ipc": 0x08000000, "uts": 0x04000000, "user": 0x10000000}
# Read as a file: to import its package would bring in every builtin.
_REHEARSAL = Path(__file__).parents[1] / "script" / "stock" / "cipher_b.star"


class Refusal(Exception):
    """This process may not become a zygote."""


def main(config: Mapping[str, Any]) -> None:
    """Prepares, says that it is ready, and serves until the other side is gone."""
    owner = socket.socket(fileno=config["channel"])
    try:
        cell, report = prepare(config)
    except Exception as error:  # noqa: BLE001  (whatever it is, the other side must hear of it)
        owner.send(json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode())
        return
    owner.send(json.dumps(report).encode())
    serve(owner, cell)


def prepare(config: Mapping[str, Any]) -> tuple[child.Cell, dict[str, Any]]:
    """Makes this process what its children will be copies of, and reports what it is."""
    if planted := config.get("planted"):
        _plant(planted)
    zones.preload()
    warm_up()
    if (threads := len(os.listdir("/proc/self/task"))) != 1:  # before any fork: some end by one
        raise Refusal(f"it has {threads} threads, and a fork would take only one along")
    sys.path.clear()
    sys.meta_path.clear()
    user = config["user"] if os.geteuid() == 0 and _may_become(config["user"]) else 0
    namespaces = _native.sandbox_unshare()
    ruleset, abi, *rights = _native.sandbox_landlock()
    available = ALL if ruleset >= 0 else ALL & ~LANDLOCK
    cell = child.Cell(ruleset, os.getpid(), config["layers"] & available, user)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    descriptors = 3 * (config["turns"] + _AHEAD) + _SPARE_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(descriptors, most), most))
    _offer_to_oom_killer()
    _stay_behind()
    if code := _writable_code():
        raise Refusal(f"it could write its own machine code, into {code}")
    _skip_repair()
    gc.collect()
    gc.disable()
    gc.freeze()
    return cell, {
        "layers": cell.layers,
        "landlock": {"abi": abi, "rights": rights},
        "user": user,
        "namespaces": [name for name, flag in _NAMESPACES.items() if namespaces & flag],
    }


def _writable_code() -> str:
    """Memory in which a run could write code and run it: what some libraries ask for."""
    with open("/proc/self/maps") as maps:
        return next((line.rstrip() for line in maps if "wx" in line.split()[1]), "")


def warm_up() -> None:
    """Does often what every run does, so that children find it done and the code specialised."""
    source = _REHEARSAL.read_text(encoding="utf-8")
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
    }
    code = [np.frombuffer(program.dump(), np.uint8)]
    packets = (wire.encode(job, code), wire.encode({"bars": bars}, columns))
    for _ in range(_WARM_UPS):
        child.rehearse(*map(b"".join, packets))


def _skip_repair() -> None:
    """After a fork, `threading` mends what other threads left; here none ever ran, and the mending
    would cost a third of a fork. It cannot be unregistered, so it is emptied."""
    if threading := sys.modules.get("threading"):
        threading._after_fork.__code__ = (lambda: None).__code__


def _may_become(user: int) -> bool:
    """Whether this root may change its user: not every container's root may."""
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


def _plant(path: str) -> None:
    """Adds the kinds of a test's module: code that no script could bring in."""
    spec = spec_from_file_location("planted", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    child.KINDS.update(module.KINDS)


def _offer_to_oom_killer() -> None:
    with suppress(OSError), open("/proc/self/oom_score_adj", "r+") as score:
        if int(score.read()) < _FIRST_TO_GO:  # a container may offer all it runs already
            score.write(str(_FIRST_TO_GO))


def _stay_behind() -> None:
    """Whose owner gives way to others does so too, although it has a session of its own.

    Where the kernel shares the processor out by sessions, niceness counts within one alone.
    """
    if (behind := os.getpriority(os.PRIO_PROCESS, 0)) > 0:
        for _ in range(5):
            try:
                Path("/proc/self/autogroup").write_text(str(behind))
            except BlockingIOError:  # somebody else said so within the last tenth of a second
                time.sleep(_RETRY_S)
            except OSError:  # the kernel does not share by sessions
                return
            else:
                return


def serve(owner: socket.socket, cell: child.Cell) -> None:
    """Gives the owner children to run jobs in and tells how each ended, until the owner is gone.

    With each child come a socket and the file of its answer: the request goes over the socket to
    the child alone, and how the child ended comes back over it. The owner sends a byte for every
    child it takes. While nothing runs, and after a breath in which owners read what they were
    answered, children are made ahead and rehearse, so that the next job finds one ready; while
    something runs they are made on demand, because then the processor has better things to do.
    """
    living: dict[int, tuple[int, socket.socket]] = {}  # pidfd → pid, the child's end of its socket
    waiting = 0  # children announced and not taken; less than none: taken and not yet made
    events = select.epoll()
    events.register(owner.fileno(), select.EPOLLIN)

    def hatch() -> int:
        """Makes a child; the number of the error if there is no room for another process."""
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
                    wire.send(owner, wire.FAILED.pack(b"F", failed))
                waiting += 1
            idle = len(living) <= waiting < _AHEAD
            found = events.poll((_RETRY_S if failed else _BREATH_S) if idle else None)
            if idle and not found and not (failed := hatch()):
                waiting += 1
            for fd, _ in found:
                if fd in living:
                    events.unregister(fd)
                    _reap(fd, *living.pop(fd))
                elif owner.recv(1):
                    waiting -= 1
                else:
                    raise ConnectionResetError


def _hatch(owner: socket.socket, cell: child.Cell) -> tuple[int, int, socket.socket]:
    answer = wire.blank(child.REHEARSED)
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
            wire.send(owner, wire.STARTED.pack(b"S", pid), [pidfd, owners.fileno(), answer])
    finally:
        os.close(answer)
    return pidfd, pid, childs


def _reap(pidfd: int, pid: int, childs: socket.socket) -> None:
    _, status, usage = os.wait4(pid, 0)
    os.close(pidfd)
    used = usage.ru_utime + usage.ru_stime
    message = wire.EXITED.pack(b"X", status, used, usage.ru_maxrss, usage.ru_minflt)
    with childs, suppress(ConnectionError):  # nobody waits for a child that was never taken
        wire.send(childs, message)
