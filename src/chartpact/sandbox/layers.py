"""The layers of protection around a run, and whether this host can have a sandbox at all."""

import errno
import os
import platform
import sys
from importlib import import_module
from typing import Any

native: Any
try:
    native = import_module("chartpact._native")
except ImportError:  # the package was installed without a C compiler
    native = None

LIMITS, PRIVILEGES, LANDLOCK, SECCOMP, TIMER = 1, 2, 4, 8, 16
ALL = LIMITS | PRIVILEGES | LANDLOCK | SECCOMP | TIMER

TRUST = "CHARTPACT_TRUST_SCRIPTS"
_MISSING = (errno.ENOSYS, errno.EPERM)  # container engines of old answer EPERM to new calls


class UnprotectedWarning(RuntimeWarning):
    """A script runs in its caller's process, since there is no sandbox here."""


def unavailable() -> str:
    """Why no script can be run in a sandbox here; "" when it can."""
    if sys.platform != "linux":
        return f"the sandbox is made of what Linux has, and this is {platform.system()}"
    if not hasattr(native, "sandbox_enter"):
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
