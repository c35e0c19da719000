"""The step budget: what a run may still spend, and the loops that are spending it.

Steps are counted, not timed, so the same script on the same bars always costs the same. Compiled
code does not count in its loops: a loop that runs to its end is charged `length × weight` when it
is entered, which costs nothing per turn and lets a hopeless loop fail at once; weights are twelfths
of a step, so that a short turn need not cost a whole one. A loop that may end early is given an
iterator no longer than the budget allows; what it really used is read off the iterator's length
hint when it is left, or when another loop is entered.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from operator import length_hint
from typing import Any, TypeVar, cast

from chartpact.script.errors import Fault
from chartpact.script.limits import LIST_ITEMS, VALUE_DEPTH
from chartpact.script.runtime.values import Dict, List, LockedDict, LockedList

Walk = TypeVar("Walk", bound=Callable[..., Any])

ENTRY, SPAN, SEARCH = 18, 5, 28  # steps to enter a loop, one over a range, one with an exit
TWELFTHS = 12  # of a step: what the turns of loops are weighed in


class Exhausted(Fault):
    """The budget is used up: by what was asked for, or by the turns a loop has taken."""

    def __init__(
        self,
        asked: int,
        left: int,
        budget: int,
        *,
        loop: bool = False,
        bound: str = "",
        turns: tuple[int, int] | None = None,
    ) -> None:
        self.asked = asked
        self.left = max(left, 0)
        self.budget = budget
        self.loop = loop
        self.bound = bound  # "up to" or "at least", where it is not known exactly
        self.turns = turns  # taken, and in all
        hint = "use ta functions and series operators, which do a whole series for few steps"
        super().__init__("budget", self.message_for("this"), hint)

    def message_for(self, subject: str) -> str:
        """The message about `this loop` or `this call`."""
        bound = f"{self.bound} " if self.bound else ""
        asked = f"{subject} asks for {bound}{self.asked:,} steps"
        if self.turns is None:
            return f"{asked} and {self.left:,} of {self.budget:,} are left"
        taken, turns = self.turns
        return f"{asked}, and all {self.budget:,} were gone after {taken:,} of its {turns:,} turns"

    def since(self, left: int) -> "Exhausted":
        """The error of a whole walk, which began with so many steps left and did not end."""
        return Exhausted(left - self.left + self.asked, left, self.budget, bound="at least")


def walking(walk: Walk) -> Walk:
    """For a method that charges as it goes: its error names all that the walk asked for."""

    @wraps(walk)
    def walked(self: Any, *arguments: Any) -> Any:
        began = self.meter.left
        try:
            return walk(self, *arguments)
        except Exhausted as error:
            raise error.since(began) from None

    return cast(Walk, walked)


class _Loop:
    """A loop in progress: what it locked, and what it has not been charged for yet."""

    __slots__ = ("granted", "iterator", "locked", "remaining", "turns", "weight")

    def __init__(
        self, locked: list[Any], iterator: Iterator[Any], granted: int, turns: int, weight: int
    ) -> None:
        self.locked = locked
        self.iterator = iterator
        self.granted = self.remaining = granted
        self.turns = turns  # in all, of which no more are granted than the budget allows
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

    def charge_loop(self, steps: int) -> None:
        """Takes the steps of all turns of a loop."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted(steps, self.left + steps, self.budget, loop=True)

    def enter(self, values: Any, length: int, weight: int, *locked: Any) -> Iterator[Any]:
        """The iterator of a loop that runs to its end."""
        self.charge_loop(ENTRY + length * weight // TWELFTHS)
        self.loops.append(_Loop(_lock(locked), _NOTHING, 0, 0, 0))
        return iter(values)

    def search(self, values: Any, length: int, weight: int, *locked: Any) -> Iterator[Any]:
        """The iterator of a loop that may end early."""
        self.settle()
        had, entry = self.left, SEARCH + 8 * len(self.loops)
        self.left -= entry
        if self.left < 0:
            asked = entry + length * weight // TWELFTHS
            raise Exhausted(asked, had, self.budget, loop=True, bound="up to")
        affordable = self.left * TWELFTHS // weight + 1
        granted = min(length, affordable)
        iterator: Iterator[Any] = iter(values if granted == length else values[:granted])
        self.loops.append(_Loop(_lock(locked), iterator, granted, length, weight))
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
            if self.left < 0:
                taken = loop.granted - loop.remaining
                asked = SEARCH + loop.turns * loop.weight // TWELFTHS
                raise Exhausted(
                    asked, 0, self.budget, loop=True, bound="up to", turns=(taken, loop.turns)
                )

    def _settle(self, loop: _Loop) -> None:
        remaining = length_hint(loop.iterator)
        self.left -= -(-(loop.remaining - remaining) * loop.weight // TWELFTHS)
        loop.remaining = remaining


_NOTHING: Iterator[Any] = iter(())


class Charging:
    """Something that works for one run and charges its meter by size."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self._charge = meter.charge

    def _grow(self, size: int, per_step: int) -> None:
        self._charge(8 + size // per_step)

    def extend_list(self, length: int, added: int) -> None:
        """Charges for so many elements that a list or tuple is given to those it has."""
        self._charge(11 + added // 2)
        if length + added > LIST_ITEMS:
            raise Fault("size", f"a list has at most {LIST_ITEMS:,} elements")

    def _deepen(self, size: int, depth: int) -> None:
        """Charges for walking into a value with so many parts, at this depth."""
        self._charge(28 + 7 * size)
        if depth > VALUE_DEPTH:
            raise Fault("value", f"these are nested more than {VALUE_DEPTH} deep")


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
