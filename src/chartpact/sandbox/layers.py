"""The layers round a run: which there are, which this host has, which a public server needs."""

import errno
import ipaddress
import os
import platform
import socket
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

try:
    from chartpact import _native
except ImportError:  # the package was installed without a C compiler
    _native = None  # type: ignore[assignment]

LIMITS, PRIVILEGES, LANDLOCK, SECCOMP, TIMER = 1, 2, 4, 8, 16
ALL = LIMITS | PRIVILEGES | LANDLOCK | SECCOMP | TIMER

TRUST = "CHARTPACT_TRUST_SCRIPTS"
_MISSING = (errno.ENOSYS, errno.EPERM)  # container engines of old answer EPERM to new calls


@dataclass(frozen=True)
class Finding:
    """One layer on this host; `needed` ones a server must have to serve strangers.

    A `refused` one is there and cannot be put on, and without it no script is run at all.
    """

    name: str
    present: bool
    detail: str
    needed: bool = True
    refused: bool = False


class Exposed(RuntimeError):
    """A server would offer scripts to strangers without the layers that protect it from them."""


@cache
def unavailable() -> str:
    """Why no script can be run in a sandbox here; "" when it can."""
    if sys.platform != "linux":
        return f"the sandbox is made of what Linux has, and this is {platform.system()}"
    if not hasattr(_native, "sandbox_enter"):
        return "the C extension is not built: install a C compiler and reinstall chartpact"
    if platform.machine() not in ("x86_64", "aarch64"):
        return f"there is no system call filter for {platform.machine()}"
    lacking = "lacks pidfd or memory files: Linux 5.4 has them"
    if not (hasattr(os, "pidfd_open") and hasattr(os, "memfd_create")):
        return f"this build of Python {lacking}"
    try:
        os.close(os.pidfd_open(os.getpid()))
        os.close(os.memfd_create("chartpact", os.MFD_ALLOW_SEALING))
    except OSError as error:
        if error.errno in _MISSING:
            return f"this kernel or container {lacking}"
        raise
    return ""


def trusted() -> bool:
    """Whether the operator said that scripts may run in this very process, unprotected."""
    return os.environ.get(TRUST, "") not in ("", "0")


# By the step of the hardening that fails where the host does not permit them.
_STEPS = {3: "user", 4: "rlimits", 6: "timer", 7: "no_new_privs", 8: "Landlock", 9: "seccomp"}
_LEFT_OUT = {3: PRIVILEGES, 4: LIMITS, 6: TIMER, 8: LANDLOCK, 9: SECCOMP}


def probe() -> list[Finding]:
    """Tries every layer in children that have it, and says what was found."""
    from chartpact.sandbox.pool import RunFailed
    from chartpact.sandbox.process import Unavailable

    if reason := unavailable():
        return [Finding("sandbox", False, reason)]
    on, refused = ALL, dict[str, Finding]()
    while True:
        try:
            return [refused.get(each.name, each) for each in _findings(on)]
        except Unavailable as error:
            return [Finding("sandbox", False, str(error))]
        except RunFailed as failed:
            step = failed.ended.refused if failed.ended is not None else 0
            if step not in _STEPS:
                return [Finding("sandbox", False, failed.message)]
            name = _STEPS[step]
            refused[name] = Finding(name, False, "this host does not permit it", refused=True)
            if not on & _LEFT_OUT.get(step, 0):  # it cannot be left out to look at the others
                return list(refused.values())
            on &= ~_LEFT_OUT[step]


def _findings(on: int) -> list[Finding]:
    """What was found of these layers; `RunFailed` tells of one that cannot be put on."""
    from chartpact.sandbox import wire
    from chartpact.sandbox.pool import Allowance, Pool, RunFailed

    def attempts(pool: Pool) -> dict[str, Any]:
        patient = Allowance(wall_ms=10_000)  # a host that is busy lacks nothing
        document: dict[str, Any] = pool.run(wire.encode({"kind": "probe"}), patient).document
        return document

    with Pool(1, layers=on) as pool:
        every, report = attempts(pool), pool.zygote().report
        killed = False
        try:
            pool.run(wire.encode({"kind": "spin"}), Allowance(wall_ms=50))
        except RunFailed as failed:
            killed = failed.ended is not None and failed.ended.killed
    with Pool(1, layers=on & LANDLOCK) as pool:
        files = attempts(pool)
    with Pool(1, layers=on & (LIMITS | PRIVILEGES)) as pool:
        limited = attempts(pool)
    return [
        _seccomp(every),
        Finding("no_new_privs", files["no_new_privs"] == 1, "no program gives a run more rights"),
        _landlock(files, report["landlock"]),
        _scopes(files, report["landlock"]),
        Finding(
            "rlimits",
            limited["memory"] == "MemoryError",
            "64 MB over the start, no files, no processes",
        ),
        _user(limited, report["user"]),
        _kill(killed),
        Finding("timer", True, "a run that nobody kills ends itself", False),
        _namespaces(report["namespaces"]),
    ]


def _seccomp(found: dict[str, Any]) -> Finding:
    refused = all(found[name] == "ENOSYS" for name in ("files", "network", "signal"))
    untried = "; untried on this processor" if platform.machine() != "x86_64" else ""
    return Finding("seccomp", refused, f"{len(_native.sandbox_calls())} system calls{untried}")


def _landlock(found: dict[str, Any], report: dict[str, Any]) -> Finding:
    if found["files"] != "EACCES":
        return Finding("Landlock", False, "this kernel does not have it (Linux 5.13 does)")
    network = "files and TCP" if found["network"] == "EACCES" else "files (TCP from Linux 6.7)"
    return Finding("Landlock", True, f"version {report['abi']}: {network}")


def _scopes(found: dict[str, Any], report: dict[str, Any]) -> Finding:
    present = found["signal"] == "EPERM" and bool(report["rights"][2])
    detail = "signals and abstract sockets" if present else "this kernel lacks them (6.12 has them)"
    return Finding("Landlock scopes", present, detail, needed=False)


def _user(found: dict[str, Any], user: int) -> Finding:
    if user:
        return Finding("user", found["user"] == user, f"runs have the user id {user}", False)
    if os.geteuid() != 0:
        return Finding("user", True, "the server is not root, and runs are its own user", False)
    return Finding("user", False, "runs stay root: this root may not change its user", False)


def _kill(killed: bool) -> Finding:
    if killed:
        return Finding("kill", True, "a run that goes on is killed through its pidfd")
    return Finding("kill", False, "this root may not kill (CAP_KILL): runs end by their own timer")


def _namespaces(names: list[str]) -> Finding:
    detail = ", ".join(names) if names else "not permitted here; they are an extra"
    return Finding("namespaces", bool(names), detail, needed=False)


def missing() -> list[str]:
    """The needed layers that this host does not have."""
    return [each.name for each in probe() if each.needed and not each.present]


def require_for_public_bind(host: str, *, anyway: bool = False) -> None:
    """Raises `Exposed` when strangers can reach `host` and a needed layer is missing.

    `anyway` is the operator's explicit word that this is meant.
    """
    if is_loopback(host) or anyway:
        return
    if absent := missing():
        raise Exposed(
            f"{host} can be reached by others, and this host lacks {', '.join(absent)} to keep "
            "their scripts in: bind to 127.0.0.1, or say that you accept it"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        pass
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", None)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(each[4][0])).is_loopback for each in found)
