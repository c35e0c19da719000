"""A strategy through time: its rules for the tracker, and the readings that a journal lacks.

On own bars no closed bar is left out: what was missed is read in order. What latches remember lies
in the track, so that a restart loses nothing.
"""

import numpy as np

from chartpact.contracts import Reading
from chartpact.strategies.decision import LatchMemory, decide
from chartpact.strategies.drawing import DrawnStrategy
from chartpact.strategies.moment import Moment
from chartpact.strategies.strategy import Strategy
from chartpact.tracker import Memory, Rules
from chartpact.tracker.rules import MachineRules, digest

CLOSED = "closed"  # the timing of strategies: forming bars do not count
PREFIX = "strategy:"  # of the name of a strategy, where a follow says what it reads


def rules_of(strategy: Strategy) -> Rules:
    """The rules of a strategy: each table is a machine, and without transitions moves freely."""
    file, machines = strategy.file, dict[str, MachineRules]()
    for name, table in file.tables.items():
        steps = table.transitions
        plain = None if steps is None else {row: tuple(after) for row, after in steps.items()}
        machines[name] = MachineRules(name, plain, None)
    words = ("tables", "latches", "epoch")
    signature = digest([file.model_dump(mode="json", include={word}) for word in words])
    major = int(strategy.version.partition(".")[0])
    return Rules(strategy.name, major, CLOSED, signature, machines)


def follow(drawn: DrawnStrategy | Moment, known: Memory) -> list[Reading]:
    """The readings after those that are known, oldest first: of each closed bar since then."""
    last = drawn.moment() if isinstance(drawn, DrawnStrategy) else drawn
    track = known.tracks.get(rules_of(last.strategy).track_of(decide(last).reading()))
    memory = LatchMemory.from_json(track.latches) if track is not None else None
    moments = [last]
    if isinstance(drawn, DrawnStrategy):
        if track is None or track.last_time is None:
            memory = drawn.memory()
        else:
            end = len(drawn.bars) - 1
            first = int(np.searchsorted(drawn.bars.time, track.last_time, "right"))
            moments = [*drawn.moments(max(first, end - drawn.reach), end), last]
    readings = []
    for moment in moments:
        decision = decide(moment, memory)
        memory = decision.memory
        readings.append(decision.reading())
    return readings
