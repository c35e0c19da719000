"""Objects that own processes start afresh in a fork of their owner."""

import os
from collections.abc import Callable
from weakref import WeakMethod


def after_fork(forget: Callable[[], None]) -> None:
    """Calls a bound method in every fork of this process, for as long as its object lives."""
    if not hasattr(os, "register_at_fork"):
        return
    method = WeakMethod(forget)

    def call() -> None:
        if (living := method()) is not None:
            living()

    os.register_at_fork(after_in_child=call)
