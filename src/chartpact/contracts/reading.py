"""A Reading: what a snapshot says under a contract, a state or violations and never both."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chartpact.contracts.violations import Violation

Json = Any

_ORIGINS = {
    "profile": "from the profile",
    "inputs": "from the study's inputs",
    "chart": "from the chart",
    "default": "the contract's default",
}


class Assumption(NamedTuple):
    """A setting that the caller did not give, and from where it was taken instead."""

    key: str
    value: Json
    origin: str  # profile, inputs, chart or default

    def __str__(self) -> str:
        return f"{self.key} = {json.dumps(self.value)} ({_ORIGINS[self.origin]})"

    def to_json(self) -> dict[str, Json]:
        return {"key": self.key, "value": self.value, "from": self.origin}


class Track(NamedTuple):
    """The state of one machine, for one instance where it runs for each, to be followed."""

    machine: str
    key: tuple[Json, ...]
    state: str
    epoch: Json = None


@dataclass(frozen=True)
class Reading:
    """What was read: `state` where the picture keeps the contract, else `violations`.

    `tracks` is what a tracker compares with the reading before; where following is not possible it
    is None and `untracked` says why. `undrawn` counts the objects without a price, by channel.
    """

    contract: str
    version: str
    state: Mapping[str, Json] | None = None
    violations: tuple[Violation, ...] = ()
    as_of: int | None = None
    source: str = ""
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Violation, ...] = ()
    undrawn: Mapping[str, int] = field(default_factory=dict)
    tracks: tuple[Track, ...] | None = None
    untracked: str = ""
    config: str = ""  # the digest of the configuration

    @property
    def ok(self) -> bool:
        return not self.violations

    def to_json(self) -> dict[str, Json]:
        """The reading as every door gives it out."""
        if self.violations:
            return {"violations": [each.to_json() for each in self.violations]}
        data: dict[str, Json] = {
            "contract": self.contract,
            "version": self.version,
            "state": self.state,
            "as_of": self.as_of,
            "source": self.source,
            "assumptions": [each.to_json() for each in self.assumptions],
        }
        if self.warnings:
            data["warnings"] = [each.to_json() for each in self.warnings]
        if self.undrawn:
            data["undrawn"] = dict(self.undrawn)
        return data
