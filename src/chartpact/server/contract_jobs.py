"""What worker processes do with contracts: read, check and draft. Nothing touches the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chartpact import charts, contracts, sources, strategies
from chartpact.catalogue import Catalogue
from chartpact.charts import Chart
from chartpact.contracts import Contract, ContractError, Reading
from chartpact.contracts.workbench.diff import diff
from chartpact.contracts.workbench.draft import draft
from chartpact.contracts.workbench.matches import match
from chartpact.joint import Reader
from chartpact.library.journal import SnapshotRecord
from chartpact.needs import Fetch
from chartpact.problem import Failure, Problem
from chartpact.server import shapes
from chartpact.server.jobs import ChartJob
from chartpact.snapshot import Snapshot, SnapshotError
from chartpact.strategies import DrawnStrategy, Moment, following
from chartpact.strategies.strategy import shipped
from chartpact.strategies.workbench.diff import diff as diff_strategies
from chartpact.tracker import Memory, Rules

MOST_ERRORS = 50  # of a contract that are listed
MOST_OBJECTS = 2_000  # of a study that are listed


@dataclass(frozen=True)
class Reads:
    """Contracts and strategies that are to be read, with the texts of the user's own.

    `strategies` are names with the text of an own one, or None; `catalogue` draws their inputs.
    """

    ask: shapes.StateAsk
    own: Mapping[str, str]
    strategies: Mapping[str, str | None] = field(default_factory=dict)
    catalogue: Catalogue = field(default_factory=Catalogue)

    @property
    def count(self) -> int:
        """The user's own contracts, and the strategies, that are read."""
        return sum(name in self.own for name in self.ask.contracts) + len(self.strategies)

    def find(self) -> Reader:
        """The contracts, with settings that fit them."""
        names = [name for name in self.ask.contracts if name not in self.strategies]
        try:
            chosen = [self.contract(name) for name in names]
        except ContractError as error:  # of an earlier version of the language
            raise Failure(error.problems[0]) from None
        config = {key: one for key, one in self.ask.config.items() if key not in self.strategies}
        profile = self.ask.profile
        if self.strategies and not any(profile in one.file.profiles for one in chosen):
            profile = None
        return Reader(chosen, config, profile)

    def contract(self, name: str) -> Contract:
        """A contract of the user's, or one that ships."""
        return contracts.load(self.own[name]) if name in self.own else shipped(name)

    def draw(self, name: str, drawn: Chart | Snapshot, fetch: Fetch) -> DrawnStrategy | Moment:
        """One strategy on the bars of a chart, or at the moment of a snapshot."""
        text = self.strategies[name]
        try:
            strategy = (
                strategies.find(name) if text is None else strategies.load(text, self.contract)
            )
        except ContractError as error:  # of earlier contracts, or an earlier language
            raise Failure(error.problems[0]) from None
        config, profile = self.ask.config.get(name), self.ask.profile
        if len(self.ask.contracts) > 1 and profile not in strategy.file.profiles:
            profile = None
        if isinstance(drawn, Snapshot):
            return strategies.read_snapshot(strategy, drawn, config, profile)
        plans = strategies.plans_of(strategy, self.catalogue, self.ask.params)
        return strategies.draw(strategy, drawn.bars, plans, fetch, config, profile)


Drawn = ChartJob | Snapshot  # a chart of ours, which is drawn first, or one that others drew


def read_state(drawn: Drawn, reads: Reads) -> shapes.StateOut:
    """What contracts read now, and what strategies decide."""
    reader, picture = reads.find(), _draw(drawn)
    state = reader.read(picture).to_json()
    for name in reads.strategies:
        made = reads.draw(name, picture, _fetch(drawn))
        decision = made.decision() if isinstance(made, DrawnStrategy) else strategies.decide(made)
        state["readings"][name] = decision.to_json()
    state["readings"] = {name: state["readings"][name] for name in reads.ask.contracts}
    return shapes.StateOut.model_validate(state)


def _draw(drawn: Drawn) -> Chart | Snapshot:
    """The chart of a job, or what others drew."""
    if isinstance(drawn, Snapshot):
        return drawn
    return charts.draw(drawn.load(), drawn.plans, None, drawn.fetch)


def _fetch(drawn: Drawn) -> Fetch:
    return sources.fetch if isinstance(drawn, Snapshot) else drawn.fetch


@dataclass(frozen=True)
class Followed:
    """Readings for the journal of a follow, oldest first."""

    rules: Rules
    contract: str  # its text
    readings: Sequence[Reading]
    picture: SnapshotRecord


def follow(drawn: Drawn, reads: Reads, known: Memory) -> Followed:
    """What one contract or strategy reads now, with all that its journal keeps.

    `known` is the journal's memory: of a strategy, each closed bar since then is read.
    """
    reader, picture = reads.find(), _draw(drawn)
    state = reader.read(picture)
    record = SnapshotRecord.of(state.snapshot)
    for name in reads.strategies:
        made = reads.draw(name, picture, _fetch(drawn))
        strategy = (made.bound if isinstance(made, DrawnStrategy) else made).strategy
        readings = following.follow(made, known)
        return Followed(following.rules_of(strategy), strategy.text, readings, record)
    (contract,) = reader.contracts
    reading = replace(state[contract.name], warnings=(), assumptions=())
    return Followed(Rules.of(contract), contract.text, [reading], record)


@dataclass(frozen=True)
class CheckedContract:
    """The outcome of the proofs about a contract, with warnings to its readers."""

    errors: Sequence[Mapping[str, Any]] = ()
    name: str = ""
    version: str = ""
    title: str = ""
    warnings: Sequence[str] = ()


def check_contract(source: str, before: str | None = None) -> CheckedContract:
    """Makes every proof about a contract; `before` is the text that it replaces."""
    try:
        contract = contracts.load(source)
    except ContractError as error:
        return CheckedContract(error.to_json()[:MOST_ERRORS])
    warnings: list[str] = []
    if before is not None:
        try:
            compared = diff(contracts.load(before), contract)
        except ContractError:
            compared = None
        if compared is not None and not compared.ok:
            warnings = list(compared.faults)[:MOST_ERRORS]
    return CheckedContract((), contract.name, contract.version, contract.title, warnings)


def check_strategy(
    source: str, own: Mapping[str, str], before: str | None = None
) -> CheckedContract:
    """Makes every proof about a strategy; `before` is the text that it replaces."""

    def find(name: str) -> Contract:
        return contracts.load(own[name]) if name in own else shipped(name)

    try:
        strategy = strategies.load(source, find)
    except ContractError as error:
        return CheckedContract(error.to_json()[:MOST_ERRORS])
    warnings: list[str] = []
    if before is not None:
        try:
            compared = diff_strategies(strategies.load(before, find), strategy)
            warnings = list(compared.faults)[:MOST_ERRORS]
        except ContractError:  # of an earlier version of the language
            pass
    return CheckedContract((), strategy.name, strategy.version, "", warnings)


def draft_contract(snapshot: Snapshot | Mapping[str, Any], study: str) -> str:
    """A starting contract for what a study of a snapshot drew."""
    try:
        return draft(Snapshot.of(snapshot), study)
    except SnapshotError as error:
        raise Failure(Problem("value", str(error))) from None


def match_contract(
    text: str,
    snapshot: Snapshot | Mapping[str, Any],
    config: Mapping[str, Any],
    profile: str | None,
) -> shapes.MatchOut:
    """What a contract reads from a snapshot, and which element each drawn object matched."""
    try:
        contract, picture = contracts.load(text), Snapshot.of(snapshot)
    except ContractError as error:
        raise Failure(error.problems[0]) from None
    except SnapshotError as error:
        raise Failure(Problem("value", str(error))) from None
    Reader([contract], {}, profile)  # refuses a profile that it has not
    reading, matches = match(contract, picture, config, profile)
    objects = [matched.to_json() for matched in matches[:MOST_OBJECTS]]
    left_out = len(matches) - len(objects)
    return shapes.MatchOut.model_validate(
        {"reading": reading.to_json(), "objects": objects, "left_out": left_out}
    )
