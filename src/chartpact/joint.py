"""Joint readings: several contracts read from one picture, each with its state or violations.

>>> import chartpact as cp
>>> found = cp.read_state(["ema_trend"], cp.load("sample:es-5m"))
>>> found.ok, found["ema_trend"].state["trend"]
(True, 'BEAR')
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chartpact import charts, contracts, sources
from chartpact.bars import Bars
from chartpact.catalogue import Catalogue, Plan
from chartpact.charts import Chart
from chartpact.contracts import Contract, Reading, Violation
from chartpact.needs import Fetch
from chartpact.params import IndicatorError
from chartpact.problem import Problem, did_you_mean
from chartpact.request import Request
from chartpact.snapshot import Snapshot

Configs = Mapping[str, Mapping[str, Any]]  # by the name of the contract


@dataclass(frozen=True)
class JointState(Mapping[str, Reading]):
    """What each contract read, by its name; `ok` where none was refused."""

    readings: Mapping[str, Reading]
    snapshot: Snapshot  # what was read

    @property
    def as_of(self) -> int | None:
        as_of: int | None = self.snapshot.chart.get("as_of")
        return as_of

    @property
    def source(self) -> str:
        return str(self.snapshot.source["name"])

    @property
    def ok(self) -> bool:
        return all(reading.ok for reading in self.readings.values())

    def __getitem__(self, name: str) -> Reading:
        return self.readings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.readings)

    def __len__(self) -> int:
        return len(self.readings)

    def to_json(self) -> dict[str, Any]:
        """The state as every door gives it out."""
        readings = {name: reading.to_json() for name, reading in self.readings.items()}
        return {"as_of": self.as_of, "source": self.source, "readings": readings}


def read_state(
    names: Iterable[Contract | str | Path],
    drawn: Snapshot | Mapping[str, Any] | str | Path | Bars,
    config: Configs | None = None,
    profile: str | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    catalogue: Catalogue | None = None,
    fetch: Fetch | None = None,
) -> JointState:
    """What several contracts read from one snapshot, or from their pacts drawn on bars.

    `config` maps a contract's name to its settings. `profile` is for the contracts that have one of
    that name. `params` are for the indicators that have such a parameter, as in `pair`.
    """
    chosen = [contracts.find(name) for name in names]
    reader = Reader(chosen, config or {}, profile)
    if not isinstance(drawn, Bars):
        if params:
            raise TypeError("params are of indicators that are drawn on bars")
        return reader.read(Snapshot.of(drawn))
    plans = plan(catalogue or Catalogue(), [contract.name for contract in chosen], params or {})
    return reader.read(charts.draw(drawn, plans, None, fetch or sources.fetch))


@dataclass(frozen=True)
class Reader:
    """Contracts with their settings, which fit them: the one way from a picture to readings."""

    contracts: Sequence[Contract]
    config: Configs
    profile: str | None = None
    strict: bool = True  # False: a profile that no contract has is a violation, not an error

    def __post_init__(self) -> None:
        _check_settings(self.contracts, self.config, self.profile if self.strict else None)

    def read(self, drawn: Chart | Snapshot) -> JointState:
        """What the contracts read; one whose indicator failed to draw on a chart is refused."""
        errors: Mapping[str, Problem] = {}
        if isinstance(drawn, Chart):
            errors = {one.name: one.error for one in drawn.drawn if one.error is not None}
        snapshot = drawn.snapshot() if isinstance(drawn, Chart) else drawn
        readings = {}
        for contract in self.contracts:
            known = self.profile in contract.file.profiles or not self.strict
            profile = self.profile if known else None
            settings = self.config.get(contract.name)
            reading = contracts.read(contract, snapshot, settings, profile)
            if (error := errors.get(contract.name)) is not None:
                path, message = "identity.pine_title", f"its indicator was not drawn: {error}"
                breach = Violation("unavailable", path, message, contract.name, contract.version)
                reading = replace(
                    reading, state=None, tracks=None, untracked="", violations=(breach,)
                )
            readings[contract.name] = reading
        return JointState(readings, snapshot)


def plan(catalogue: Catalogue, names: Sequence[str], params: Mapping[str, Any]) -> tuple[Plan, ...]:
    """The indicators that draw what contracts read, each with those parameters that it has."""
    taken: set[str] = set()
    requests = []
    for name in names:
        try:
            declared = catalogue.resolve(name).params
        except IndicatorError as error:
            message = f"there is no indicator {name!r:.80} to draw what this contract reads"
            raise IndicatorError(error.problem.at(message=message, hint="")) from None
        known = {alias for param in declared for alias in (param.name, *param.aliases)}
        own = {key: value for key, value in params.items() if key in known}
        taken |= own.keys()
        requests.append(Request(name, own))
    for key in params.keys() - taken:
        known = {param.name for name in names for param in catalogue.resolve(name).params}
        problem = Problem("name", f"none of {', '.join(names)} has a parameter {key!r:.60}")
        raise IndicatorError(problem.at(hint=did_you_mean(str(key), sorted(known))))
    return catalogue.plan(requests)


def _check_settings(chosen: Sequence[Contract], config: Configs, profile: str | None) -> None:
    """Refuses settings that no contract takes."""
    names = [contract.name for contract in chosen]
    if len({*names}) < len(names):
        raise IndicatorError(Problem("value", "a contract is named twice"))
    for name, settings in config.items():
        if name not in names or not isinstance(settings, Mapping):
            message = (
                f"a config for several contracts maps their names to settings, not {name!r:.60}"
            )
            raise IndicatorError(Problem("value", message, f"names: {', '.join(names)}"))
    profiles = sorted({known for contract in chosen for known in contract.file.profiles})
    if profile is not None and profile not in profiles:
        known = ", ".join(profiles) or "none"
        message = f"no contract has a profile {profile!r:.60}"
        raise IndicatorError(Problem("value", message, f"profiles: {known}"))
