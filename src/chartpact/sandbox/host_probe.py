"""Which layers this host has: each is tried in children that have it on."""

import ipaddress
import os
import platform
import socket
from dataclasses import dataclass
from typing import Any

from chartpact.sandbox import layers, wire
from chartpact.sandbox.endings import RunBounds, RunFailed
from chartpact.sandbox.pool import Pool
from chartpact.sandbox.zygote_handle import SandboxError

# The layers by the step of the hardening that fails where the host does not permit them.
_STEPS = {3: "user", 4: "rlimits", 6: "timer", 7: "no_new_privs", 8: "Landlock", 9: "seccomp"}
_BITS = {
    3: layers.PRIVILEGES,
    4: layers.LIMITS,
    6: layers.TIMER,
    8: layers.LANDLOCK,
    9: layers.SECCOMP,
}
_LIMITED = "64 MB over the start, no files, no processes"
_KILLED = "a run that goes on is killed through its pidfd"
_NOT_KILLED = "this root may not kill (CAP_KILL): runs end by their own timer"
_NO_NAMESPACES = "not permitted here; they are an extra"


@dataclass(frozen=True)
class Finding:
    """One layer on this host.

    A server must have the `needed` ones to serve strangers. A `refused` one exists and cannot be
    put on, and without it no script is run at all.
    """

    name: str
    present: bool
    detail: str
    needed: bool = True
    refused: bool = False


def probe() -> list[Finding]:
    """Every layer, tried in children."""
    if reason := layers.unavailable():
        return [Finding("sandbox", False, reason)]
    with Pool(1) as pool:
        return _probe(pool)


def _probe(pool: Pool) -> list[Finding]:
    on, refused = layers.ALL, dict[str, Finding]()
    while True:
        try:
            return [refused.get(finding.name, finding) for finding in _try_layers(pool, on)]
        except SandboxError as error:
            return [Finding("sandbox", False, str(error))]
        except RunFailed as failed:
            step = failed.ended.refused if failed.ended is not None else 0
            if step not in _STEPS:
                return [Finding("sandbox", False, failed.message)]
            name = _STEPS[step]
            refused[name] = Finding(name, False, "this host does not permit it", refused=True)
            if not on & _BITS.get(step, 0):  # it cannot be left out to try the others
                return list(refused.values())
            on &= ~_BITS[step]


def _try_layers(pool: Pool, on: int) -> list[Finding]:
    """The findings with these layers on; a layer that cannot be put on is a `RunFailed`."""

    def attempt(mask: int) -> dict[str, Any]:
        patient = RunBounds(wall_ms=10_000, layers=mask)  # a host that is busy lacks nothing
        document: dict[str, Any] = pool.run(wire.encode({"kind": "probe"}), patient).document
        return document

    every = attempt(on)
    killed = False
    try:
        pool.run(wire.encode({"kind": "spin"}), RunBounds(wall_ms=50, layers=on))
    except RunFailed as failed:
        killed = failed.ended is not None and failed.ended.killed
    files = attempt(on & layers.LANDLOCK)
    limited = attempt(on & (layers.LIMITS | layers.PRIVILEGES))
    report = pool.zygote().report
    names = report["namespaces"]
    return [
        _seccomp(every),
        Finding("no_new_privs", files["no_new_privs"] == 1, "no program gives a run more rights"),
        _landlock(files, report["landlock"]),
        _scopes(files, report["landlock"]),
        Finding("rlimits", limited["memory"] == "MemoryError", _LIMITED),
        _user(limited, report["user"]),
        Finding("kill", killed, _KILLED if killed else _NOT_KILLED),
        Finding("timer", True, "a run that nobody kills ends itself", False),
        Finding("namespaces", bool(names), ", ".join(names) or _NO_NAMESPACES, needed=False),
    ]


def _seccomp(tried: dict[str, Any]) -> Finding:
    refused = all(tried[name] == "ENOSYS" for name in ("files", "network", "signal"))
    untried = "; untried on this processor" if platform.machine() != "x86_64" else ""
    calls = len(layers.native.sandbox_calls())
    return Finding("seccomp", refused, f"{calls} system calls{untried}")


def _landlock(tried: dict[str, Any], report: dict[str, Any]) -> Finding:
    if tried["files"] != "EACCES":
        return Finding("Landlock", False, "this kernel does not have it (Linux 5.13 does)")
    network = "files and TCP" if tried["network"] == "EACCES" else "files (TCP from Linux 6.7)"
    return Finding("Landlock", True, f"version {report['abi']}: {network}")


def _scopes(tried: dict[str, Any], report: dict[str, Any]) -> Finding:
    present = tried["signal"] == "EPERM" and bool(report["rights"][2])
    detail = "signals and abstract sockets" if present else "this kernel lacks them (6.12 has them)"
    return Finding("Landlock scopes", present, detail, needed=False)


def _user(tried: dict[str, Any], user: int) -> Finding:
    if user:
        return Finding("user", tried["user"] == user, f"runs have the user id {user}", False)
    if os.geteuid() != 0:
        return Finding("user", True, "the server is not root, and runs are its own user", False)
    return Finding("user", False, "runs stay root: this root may not change its user", False)


def missing() -> list[str]:
    """The needed layers that this host does not have."""
    return [finding.name for finding in probe() if finding.needed and not finding.present]


def require_for_public_bind(host: str, *, anyway: bool = False) -> None:
    """Raises `SandboxError` when strangers can reach `host` and a needed layer is missing.

    `anyway` is the operator's explicit word that this is intended.
    """
    if is_loopback(host) or anyway:
        return
    if absent := missing():
        raise SandboxError(
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
        addresses = socket.getaddrinfo(host or "0.0.0.0", None)
    except OSError:
        return False
    return all(ipaddress.ip_address(str(info[4][0])).is_loopback for info in addresses)
