"""Objects that a process opens once and closes at its end."""

import atexit
from collections.abc import Callable
from typing import Protocol, TypeVar

from chartpact.cache import Cache


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


def once_per_process(make: Callable[[], T]) -> Callable[[], T]:
    """A function that opens at its first call and returns the same ever after; exit closes it."""
    opened: Cache[None, T] = Cache(most=1)

    def make_and_register() -> T:
        made = make()
        atexit.register(made.close)
        return made

    return lambda: opened.get_or_make(None, make_and_register)
