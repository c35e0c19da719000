"""Runs scripts in fresh, hardened processes, each forked from a warm one.

`run`, `inspect` and `validate` do what `chartpact.script` does, in a process that has lost every
power but thirteen system calls. In the owner, `scripts` has these doors, `pool` admits runs,
`zygote_handle` is the warm process as its owner sees it, `answers` and `endings` judge what came of
a run. `zygote`, `child` and `tasks` run inside. Between the two cross the packets of `wire`, in
`memory_files` and by `messages`. `layers` surround a run; `host_probe` tries which this host has.

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
