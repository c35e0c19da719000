"""The step budget: what a run may still spend, and the loops that are spending it.

Steps are counted, not timed, so the same script on the same bars always costs the same. Compiled
code does not count in its loops: a loop that runs to its end is charged `length × weight` when it
is entered, which costs nothing per turn and lets a hopeless loop fail at once. A loop that may end
early is given an iterator no longer than the budget allows; what it really used is read off the
iterator's length hint when it is left, or when another loop wants to know.
"""

from collections.abc import Iterator
from operator import length_hint
from typing import Any

from chartpact.script.errors import Fault
from chartpact.script.values import Dict, List, LockedDict, LockedList

ENTRY = 25  # steps to enter a loop


class Exhausted(Fault):
    """The budget is used up."""

    def __init__(self, asked: int, left: int, budget: int) -> None:
        super().__init__(
            "budget",
            f"this asks for {asked:,} steps and {max(left, 0):,} of {budget:,} are left",
            "use ta functions and series operators, which do a whole series for few steps",
        )
        self.asked = asked


class _Loop:
    """A loop in progress: what it locked, and what it has not been charged for yet."""

    __slots__ = ("iterator", "locked", "remaining", "weight")

    def __init__(
        self, locked: list[Any], iterator: Iterator[Any], remaining: int, weight: int
    ) -> None:
        self.locked = locked
        self.iterator = iterator
        self.remaining = remaining
        self.weight = weight


class Meter:
    """What one run may spend."""

    __slots__ = ("budget", "left", "loops")

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.left = budget
        self.loops: list[_Loop] = []

    @property
    def used(self) -> int:
        return self.budget - self.left

    def charge(self, steps: int) -> None:
        """Takes steps from the budget before the work is done."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted(steps, self.left + steps, self.budget)

    def enter(self, values: Any, length: int, weight: int, *locked: Any) -> Iterator[Any]:
        """The iterator of a loop that runs to its end."""
        self.charge(ENTRY + length * weight)
        self.loops.append(_Loop(_lock(locked), _NOTHING, 0, 0))
        return iter(values)

    def search(self, values: Any, length: int, weight: int, *locked: Any) -> Iterator[Any]:
        """The iterator of a loop that may end early."""
        self.charge(ENTRY + 8 * len(self.loops))
        self.settle()
        affordable = self.left // weight + 1
        if affordable < length:
            values, length = values[:affordable], affordable
        iterator: Iterator[Any] = iter(values)
        self.loops.append(_Loop(_lock(locked), iterator, length, weight))
        return iterator

    def settle(self) -> None:
        """Charges the loops in progress for the turns they have taken."""
        for loop in self.loops:
            if loop.weight:
                self._settle(loop)

    def leave(self) -> None:
        """Ends the innermost loop."""
        loop = self.loops.pop()
        unlock(loop.locked)
        if loop.weight:
            self._settle(loop)

    def _settle(self, loop: _Loop) -> None:
        remaining = length_hint(loop.iterator)
        turns, loop.remaining = loop.remaining - remaining, remaining
        self.charge(turns * loop.weight)


_NOTHING: Iterator[Any] = iter(())


def _lock(values: tuple[Any, ...]) -> list[Any]:
    """Makes lists and dicts refuse changes while they are iterated; those that did not before."""
    locked = []
    for value in values:
        if type(value) is List or type(value) is Dict:
            value.__class__ = LockedList if type(value) is List else LockedDict
            locked.append(value)
    return locked


def unlock(values: list[Any]) -> None:
    for value in values:
        value.__class__ = List if type(value) is LockedList else Dict
