"""Runs scripts in fresh, hardened processes, each forked from a warm one.

`run`, `inspect` and `validate` do what `chartpact.script` does, in a process that has lost every
power but thirteen system calls. `pool` admits runs and reads answers; `process` is the warm process
as its owner sees it; `zygote` and `child` are what runs inside; `wire` is what crosses between
them; `layers` says what surrounds a run, and whether this host has it.

The doors are imported when first used: the processes inside import this package too, and must not
load what only their owner needs.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chartpact.sandbox.scripts import inspect, run, validate

__all__ = ["inspect", "run", "validate"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'chartpact.sandbox' has no attribute {name!r}")
    from chartpact.sandbox import scripts

    return getattr(scripts, name)
