"""The warm process that every run is forked from: a program of its own, started by exec.

It imports all that a run may need, so that a child needs no file; then it only forks and reaps.
Script, parameters and bars lie in memory files that it hands on unopened, so nothing of a run can
stay behind in it. It has one thread, because a fork takes only one along.
"""

import errno
import gc
import json
import os
import resource
import select
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import numpy as np

from chartpact import _native
from chartpact.script.sandbox import child, wire
from chartpact.script.sandbox.layers import LANDLOCK, LIMITS, PRIVILEGES, SECCOMP, TIMER

_SPARE_DESCRIPTORS = 32


class Refusal(Exception):
    """This process may not become a zygote."""


def main(config: Mapping[str, Any]) -> None:
    """Prepares, says that it is ready, and serves until the other side is gone."""
    channels = [socket.socket(fileno=fd) for fd in config["channels"]]
    try:
        cell, report = prepare(config)
    except Exception as error:  # noqa: BLE001  (whatever it is, the other side must hear of it)
        channels[0].send(json.dumps({"refused": f"{type(error).__name__}: {error}"}).encode())
        return
    channels[0].send(json.dumps(report).encode())
    serve(channels, cell)


def prepare(config: Mapping[str, Any]) -> tuple[child.Cell, dict[str, Any]]:
    """Makes this process what its children will be copies of, and reports what it is."""
    if planted := config.get("planted"):
        _plant(planted)
    warm_up()
    sys.path.clear()
    sys.meta_path.clear()
    ruleset, abi, *rights = _native.sandbox_landlock()
    statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    layers = LIMITS | PRIVILEGES | SECCOMP | TIMER | (LANDLOCK if ruleset >= 0 else 0)
    user = config["user"] if os.geteuid() == 0 else 0
    cell = child.Cell(ruleset, statm, os.getpid(), config.get("layers", layers) & layers, user)
    descriptors = len(config["channels"]) * 4 + _SPARE_DESCRIPTORS
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(descriptors, most), most))
    _offer_to_oom_killer()
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise Refusal(f"it has {threads} threads, and a fork would take only one along")
    gc.collect()
    gc.disable()
    gc.freeze()
    return cell, {
        "layers": cell.layers,
        "landlock": {"abi": abi, "rights": rights},
        "user": user,
        "modules": len(sys.modules),
    }


def warm_up() -> None:
    """Does once what every run does, so that children find it done."""
    np.zeros(8).sum()


def _plant(path: str) -> None:
    """Adds the kinds of a test's module: code that no script could bring in."""
    spec = spec_from_file_location("planted", path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    child.KINDS.update(module.KINDS)


def _offer_to_oom_killer() -> None:
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write("800")


def serve(channels: list[socket.socket], cell: child.Cell) -> None:
    """Forks a child for every request and tells how it ended, until the other side is gone."""
    by_fd = {channel.fileno(): channel for channel in channels}
    running: dict[int, tuple[int, socket.socket]] = {}  # pidfd → pid, channel
    events = select.epoll()
    for fd in by_fd:
        events.register(fd, select.EPOLLIN)
    while True:
        for fd, _ in events.poll():
            try:
                if fd in running:
                    events.unregister(fd)
                    _reap(fd, *running.pop(fd))
                elif started := _start(by_fd[fd], cell):
                    running[started[0]] = started[1:]
                    events.register(started[0], select.EPOLLIN)
            except (EOFError, ConnectionError):  # children follow: this is their parent
                return


def _start(channel: socket.socket, cell: child.Cell) -> tuple[int, int, socket.socket] | None:
    request, fds = wire.receive(channel)
    if not request:
        raise EOFError
    try:
        pid = os.fork()
    except OSError as error:
        wire.send(channel, wire.FAILED.pack(b"F", error.errno or errno.EAGAIN))
        pid = -1
    if pid == 0:
        child.live(cell, request, *fds)
    for fd in fds:
        os.close(fd)
    if pid < 0:
        return None
    pidfd = os.pidfd_open(pid)  # by the only reaper, so it cannot name another process
    wire.send(channel, wire.STARTED.pack(b"S", pid), [pidfd])
    return pidfd, pid, channel


def _reap(pidfd: int, pid: int, channel: socket.socket) -> None:
    _, status, usage = os.wait4(pid, 0)
    os.close(pidfd)
    message = wire.EXITED.pack(b"X", status, usage.ru_utime, usage.ru_stime, usage.ru_maxrss)
    wire.send(channel, message)
