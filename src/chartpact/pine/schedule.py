"""Which statements work on all bars at once, and which in a loop over the bars.

A statement is *plain* (known before the bars), a *series* (one operation on all bars) or in a
*loop*. Between statements there are dependences: what reads a variable comes after what writes it;
what writes the same variable, reads it before it is written again, or touches what can be changed
in place (arrays, objects, drawings) stays together, bar by bar. Statements that depend on one
another in a circle make a group; a group is in one loop. Groups are then laid in stages, as early
as their dependences allow: series, loop, series, loop. A series that a loop's group runs through is
drawn into it. The order within a stage is the author's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

PLAIN, SERIES, LOOP = "plain", "series", "loop"


@dataclass(eq=False)
class Unit:
    """A statement for the schedule: what it reads and writes, by any hashable name."""

    writes: frozenset[object]
    reads: frozenset[object]  # values of the same bar
    earlier: frozenset[object] = frozenset()  # values of earlier bars alone
    touches: frozenset[object] = frozenset()  # what is changed or read in place
    mode: str = LOOP
    stage: int = 0
    after: set[int] = field(default_factory=set)


def edges(units: Sequence[Unit]) -> list[set[int]]:
    """For each unit those it comes after; a pair that stays together comes after one another."""
    writers: dict[object, list[int]] = {}
    touching: dict[object, list[int]] = {}
    for index, unit in enumerate(units):
        for name in unit.writes:
            writers.setdefault(name, []).append(index)
        for name in unit.touches:
            touching.setdefault(name, []).append(index)
    after: list[set[int]] = [set() for _ in units]

    def together(members: list[int]) -> None:
        for a, b in pairwise(members):
            after[a].add(b)
            after[b].add(a)

    for members in (*writers.values(), *touching.values()):
        together(members)
    for index, unit in enumerate(units):
        for name in unit.reads | unit.earlier:
            found = writers.get(name, ())
            for writer in found:
                if writer != index:
                    after[index].add(writer)
            if name in unit.reads and found and index not in found and found[-1] > index:
                after[found[0]].add(index)  # it is written again later on the same bar
        if unit.reads & unit.writes or unit.earlier & unit.writes:
            after[index].add(index)
    return after


def groups(after: Sequence[set[int]]) -> list[list[int]]:
    """The strongly connected groups, each after those it depends on (Tarjan, without recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in range(len(after)):
        if root in number:
            continue
        work = [(root, iter(sorted(after[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            advanced = False
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(after[target]))))
                    advanced = True
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            if advanced:
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == number[node]:
                members = []
                while True:
                    member = stack.pop()
                    on_stack.discard(member)
                    members.append(member)
                    if member == node:
                        break
                found.append(sorted(members))
    return found


def settle(units: list[Unit], straight: Callable[[list[int]], bool]) -> bool:
    """Draws series into the loops that run through them; whether any was.

    `straight` says of a group of series whether they can stand one after the other without a loop.
    """
    changed = False
    after = edges(units)
    for members in groups(after):
        circular = len(members) > 1 or members[0] in after[members[0]]
        modes = {units[m].mode for m in members}
        if not circular or modes in ({LOOP}, {PLAIN}):
            continue
        if LOOP in modes or not straight(members):
            for member in members:
                if units[member].mode != LOOP:
                    units[member].mode = LOOP
                    changed = True
    return changed


def lay(units: list[Unit]) -> list[list[int]]:
    """The stages in order: even ones series, odd ones loops; plain statements have stage -1."""
    after = edges(units)
    stage: dict[int, int] = {}
    for members in groups(after):
        mode = LOOP if any(units[m].mode == LOOP for m in members) else units[members[0]].mode
        least = 1 if mode == LOOP else 0
        for member in members:
            for other in after[member]:
                if other in stage:
                    least = max(
                        least,
                        stage[other] + (units[other].mode != mode and units[other].mode != PLAIN),
                    )
        if mode == LOOP and least % 2 == 0:
            least += 1
        if mode == SERIES and least % 2 == 1:
            least += 1
        for member in members:
            stage[member] = -1 if mode == PLAIN else least
            units[member].stage = stage[member]
    last = max((s for s in stage.values()), default=0)
    return [[i for i in range(len(units)) if stage[i] == s] for s in range(-1, last + 1)]
