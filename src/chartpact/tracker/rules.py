"""The rules of a contract for the tracker: its timing, and the declared steps of each machine."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chartpact.contracts import Contract, Reading
from chartpact.contracts.check.machines import FORGET
from chartpact.drawing import CAPS

MOST_WAYS = 16  # that are listed between two states

Way = tuple[str, ...]


@dataclass(frozen=True)
class MachineRules:
    """The declared steps of one machine, and where its instances are drawn."""

    name: str
    transitions: Mapping[str, tuple[str, ...]] | None  # None: any state may follow any other
    gone: str | None
    channel: str | None = None  # of its instances, where the channel has a cap

    @property
    def forgets(self) -> bool:
        return self.gone == FORGET

    def ways(self, start: str, end: str, shown: Iterable[str] = ()) -> tuple[Way, ...] | None:
        """The states between two states, for every shortest path; None where there is no path.

        Where some paths hold states that were shown meanwhile, the others are left out.

        >>> steps = {"A": ("B", "C"), "B": ("D",), "C": ("D",)}
        >>> MachineRules("m", steps, None).ways("A", "D", shown=["C"])
        (('C',),)
        """
        if start == end or self.transitions is None:
            return ((),)
        paths: list[Way] = [(start,)]
        reached = {start}
        while paths and not any(path[-1] == end for path in paths):
            longer = [(*path, state) for path in paths for state in self._next(path[-1], reached)]
            paths = longer[: 64 * MOST_WAYS]
            reached |= {path[-1] for path in paths}
        ways = [path[1:-1] for path in paths if path[-1] == end]
        if not ways:
            return None
        seen = set(shown)
        most = max(len(seen.intersection(way)) for way in ways)
        return tuple(way for way in ways if len(seen.intersection(way)) == most)[:MOST_WAYS]

    def _next(self, state: str, reached: set[str]) -> Iterator[str]:
        nexts = (self.transitions or {}).get(state, ())
        return (after for after in nexts if after not in reached)


@dataclass(frozen=True)
class Rules:
    """The rules that decide whether a change is legal, and when it counts."""

    contract: str
    major: int
    timing: str  # close, tick, or closed: forming bars are left out
    signature: str  # of the machines
    machines: Mapping[str, MachineRules]

    @classmethod
    def of(cls, contract: Contract) -> "Rules":
        """The rules of a contract."""
        machines, signatures = {}, {}
        for name, plan in contract.machines.items():
            spec, element = plan.spec, contract.elements.get(plan.element or "")
            channel = element.channel if element is not None else None
            steps = {state: tuple(after) for state, after in spec.transitions.items()}
            capped = channel if channel in CAPS else None
            machines[name] = MachineRules(name, steps, spec.gone, capped)
            key = element.spec.key if element is not None else None
            signatures[name] = [plan.states, spec.initial, steps, key, spec.epoch, spec.gone]
        major = int(contract.version.partition(".")[0])
        return cls(contract.name, major, contract.file.timing, digest(signatures), machines)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Rules":
        machines = {name: MachineRules(**words) for name, words in data["machines"].items()}
        return cls(**{**data, "machines": machines})

    def track_of(self, reading: Reading) -> str:
        """The id of a reading's track: one for each contract, setting and chart."""
        facts = reading.facts
        parts = (self.contract, self.major, self.signature, reading.config, reading.source)
        return digest([*parts, facts.symbol, facts.timeframe, facts.script])[:32]


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
