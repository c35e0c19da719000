"""The memory of a follow: frozen values that are written as JSON and read back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Json = Any
Key = tuple[str, str]  # a machine, and the key of an instance as JSON


@dataclass(frozen=True)
class Shown:
    """The state and epoch of an instance in one reading."""

    present: bool = False
    state: str | None = None
    epoch: Json = None


ABSENT = Shown()


@dataclass(frozen=True)
class Pending:
    """A shown state that does not count yet: a later bar must repeat it."""

    shown: Shown
    last_time: int | None  # the bar on which it was first shown
    as_of: int | None  # when that was
    lapsed: str | None = None  # a state of the epoch before, which was shown and never counted
    kind: str | None = None  # why an instance is new: started, revealed or appeared
    excuse: str | None = None  # why its disappearance is no step of the machine


@dataclass(frozen=True)
class Instance:
    """One machine, or one instance of its element: what counts of it, and what is pending."""

    status: str = "new"  # new, present, unknown, gone or lost
    state: str | None = None
    epoch: Json = None
    last_epoch: Json = None  # the last that was not none
    last_state: str | None = None  # the state that it had then
    time: int | None = None  # the earliest at which something of it is drawn
    seen: int | None = None  # the last bar on which it was shown
    pending: Pending | None = None
    meanwhile: tuple[str, ...] = ()  # states that were shown since the last change

    @property
    def counted(self) -> Shown:
        """The state and epoch that a reading must show for nothing to change."""
        return Shown(True, self.state, self.epoch) if self.status == "present" else ABSENT


@dataclass(frozen=True)
class TrackedInstances:
    """The instances of one contract with one setting on one chart."""

    instances: Mapping[Key, Instance] = field(default_factory=dict)
    begun: int | None = None  # the last bar of its first reading
    started: bool = False  # what is new from now on is news
    first_time: int | None = None  # of the chart, in the reading before
    last_time: int | None = None
    full: tuple[str, ...] = ()  # channels that stood at their cap in the reading before
    drew: bool = False  # the study has drawn something
    latches: Mapping[str, Json] = field(default_factory=dict)  # of a strategy

    def to_json(self) -> dict[str, Json]:
        data = asdict(self)
        data["instances"] = [[*key, asdict(one)] for key, one in self.instances.items()]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "TrackedInstances":
        instances = {(name, key): _instance(one) for name, key, one in data["instances"]}
        return cls(**{**data, "instances": instances, "full": tuple(data["full"])})


def _instance(data: Mapping[str, Json]) -> Instance:
    pending = data["pending"]
    if pending is not None:
        pending = Pending(**{**pending, "shown": Shown(**pending["shown"])})
    return Instance(**{**data, "pending": pending, "meanwhile": tuple(data["meanwhile"])})


@dataclass(frozen=True)
class Memory:
    """Everything that is remembered of a follow; tracks that were used last are at the end."""

    tracks: Mapping[str, TrackedInstances] = field(default_factory=dict)
    readable: bool | None = None  # None before the first reading

    @property
    def current(self) -> TrackedInstances | None:
        """The track of the last reading that could be followed."""
        return next(reversed(list(self.tracks.values())), None)

    def states(self) -> list[dict[str, Json]]:
        """The counted and the pending state of every known instance."""
        known = self.current.instances.items() if self.current is not None else ()
        return [
            {
                "machine": machine,
                "key": json.loads(key),
                "state": one.state,
                "epoch": one.epoch,
                "status": one.status,
                "pending": one.pending and asdict(one.pending.shown),
            }
            for (machine, key), one in known
        ]

    def to_json(self) -> dict[str, Json]:
        tracks = [[name, track.to_json()] for name, track in self.tracks.items()]
        return {"tracks": tracks, "readable": self.readable}

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Memory":
        return cls(
            {name: TrackedInstances.from_json(one) for name, one in data["tracks"]},
            data["readable"],
        )
