"""A Reading: what a snapshot says under a contract, a state or violations and never both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chartpact.checks import is_number
from chartpact.contracts.check.config import Setting
from chartpact.contracts.language.model import KINDS

MAX_SHOWN = 20  # records of one violation
MAX_ECHOED = 400  # records of all violations of a reading
MAX_CHARACTERS = 300  # of a text of a record

Json = Any


@dataclass(frozen=True)
class Violation:
    """One breach: its kind, the place in the contract, and the record or records as drawn."""

    kind: str
    path: str
    message: str
    contract: str
    version: str
    objects: tuple[Json, ...] = ()
    field: str | None = None
    hint: str | None = None

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind

    def __str__(self) -> str:
        return f"{self.kind} at {self.path}: {self.message}"

    def to_json(self, most: int = MAX_SHOWN) -> dict[str, Json]:
        """The violation for programs, with at most so many of its records."""
        data: dict[str, Json] = {"kind": self.kind, "path": self.path, "message": self.message}
        if self.hint is not None:
            data["hint"] = self.hint
        shown = [jsonable(record) for record in self.objects[: min(most, MAX_SHOWN)]]
        if shown:
            data["object"] = shown[0] if len(self.objects) == 1 else shown
        if self.field is not None:
            data["field"] = self.field
        return {**data, "contract": self.contract, "version": self.version}


class Track(NamedTuple):
    """The state of one machine, for one instance where it runs for each, to be followed.

    `time` is the earliest time at which something of the instance is drawn, where that is known.
    """

    machine: str
    key: tuple[Json, ...]
    state: str
    epoch: Json = None
    time: int | None = None

    def to_json(self) -> dict[str, Json]:
        return {**self._asdict(), "key": list(self.key)}


@dataclass(frozen=True)
class ChartFacts:
    """The facts of a chart and its study that a tracker needs, of a refused reading too.

    A source that does not tell whether the last bar is closed is taken to show a forming one.
    """

    symbol: str = ""
    timeframe: str = ""
    confirmed: bool = False
    first_time: int | None = None  # of the oldest bar that is loaded
    last_time: int | None = None  # of the last bar
    previous_time: int | None = None  # of the bar before it
    script: str | None = None  # the version of the script
    drawn: Mapping[str, int] = field(default_factory=dict)  # how many objects, by channel
    caps: Mapping[str, int] = field(default_factory=dict)  # how many there may be


@dataclass(frozen=True)
class Reading:
    """The result of reading: `state` where the picture keeps the contract, else `violations`.

    `tracks` is what a tracker compares with the reading before; where following is not possible it
    is None and `untracked` says why. `assumptions` are the settings that the caller did not give,
    and `age: unknown` where the source does not tell of which day the picture is.
    `undrawn` counts the objects without a price, by channel.
    """

    contract: str
    version: str
    state: Mapping[str, Json] | None = None
    violations: tuple[Violation, ...] = ()
    as_of: int | None = None
    source: str = ""
    assumptions: tuple[Setting, ...] = ()
    warnings: tuple[Violation, ...] = ()
    undrawn: Mapping[str, int] = field(default_factory=dict)
    tracks: tuple[Track, ...] | None = None
    untracked: str = ""
    config: str = ""  # the digest of the configuration
    facts: ChartFacts = ChartFacts()
    # Of a strategy: the machines whose state nobody knows, and why; the latches after this reading;
    # and what is told of each machine beside its changes.
    unknown: Mapping[str, str] = field(default_factory=dict)
    latches: Mapping[str, Json] = field(default_factory=dict)
    told: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.violations

    def to_json(self) -> dict[str, Json]:
        """The reading as every door gives it out."""
        data: dict[str, Json] = {"contract": self.contract, "version": self.version}
        if self.violations:
            data["violations"] = _echo(self.violations)
        else:
            data["state"] = self.state
        data |= {
            "as_of": self.as_of,
            "source": self.source,
            "assumptions": [assumption.to_json() for assumption in self.assumptions],
            "confirmed": self.facts.confirmed,
        }
        if self.tracks is not None:
            data["tracks"] = [track.to_json() for track in self.tracks]
        else:
            data["untracked"] = self.untracked or "the reading was refused"
        if self.warnings:
            data["warnings"] = _echo(self.warnings)
        if self.undrawn:
            data["undrawn"] = dict(self.undrawn)
        return data


def _echo(violations: Sequence[Violation]) -> list[dict[str, Json]]:
    """Violations with the records they speak of, until so many are shown that nobody reads more."""
    echoed, left = [], MAX_ECHOED
    for violation in violations:
        echoed.append(violation.to_json(left))
        left = max(0, left - min(len(violation.objects), MAX_SHOWN))
    return echoed


def jsonable(value: Json, depth: int = 6) -> Json:
    """A record as drawn, in a form every JSON reader takes."""
    if isinstance(value, str):
        return value if len(value) <= MAX_CHARACTERS else f"{value[:MAX_CHARACTERS]}…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if is_number(value):
            return value
        return str(value) if isinstance(value, float) else "a number too large to show"
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {str(key)[:64]: jsonable(item, depth - 1) for key, item in list(value.items())[:64]}
    if isinstance(value, list | tuple):
        return [jsonable(item, depth - 1) for item in value[:64]]
    return f"{value!r:.60}"
