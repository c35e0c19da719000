"""What worker processes do with contracts: read, check and draft. Nothing touches the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chartpact import charts, contracts
from chartpact.charts import Chart
from chartpact.contracts import ContractError, Reading
from chartpact.contracts.workbench.diff import diff
from chartpact.contracts.workbench.draft import draft
from chartpact.contracts.workbench.matches import match
from chartpact.joint import Reader
from chartpact.library.journal import SnapshotRecord
from chartpact.problem import Failure, Problem
from chartpact.server import shapes
from chartpact.server.jobs import ChartJob
from chartpact.snapshot import Snapshot, SnapshotError
from chartpact.tracker import Rules

MOST_ERRORS = 50  # of a contract that are listed
MOST_OBJECTS = 2_000  # of a study that are listed


@dataclass(frozen=True)
class Reads:
    """Contracts that are to be read, with the texts of those that are the user's own."""

    ask: shapes.StateAsk
    own: Mapping[str, str]

    def find(self) -> Reader:
        """The contracts, with settings that fit them."""
        try:
            chosen = [
                contracts.load(self.own[name]) if name in self.own else contracts.find(name)
                for name in self.ask.contracts
            ]
        except ContractError as error:  # of an earlier version of the language
            raise Failure(error.problems[0]) from None
        return Reader(chosen, self.ask.config, self.ask.profile)


Drawn = ChartJob | Snapshot  # a chart of ours, which is drawn first, or one that others drew


def read_state(drawn: Drawn, reads: Reads) -> shapes.StateOut:
    """What contracts read now."""
    state = reads.find().read(_draw(drawn))
    return shapes.StateOut.model_validate(state.to_json())


def _draw(drawn: Drawn) -> Chart | Snapshot:
    """The chart of a job, or what others drew."""
    if isinstance(drawn, Snapshot):
        return drawn
    return charts.draw(drawn.load(), drawn.plans, None, drawn.fetch)


@dataclass(frozen=True)
class Followed:
    """One reading for the journal of a follow."""

    rules: Rules
    contract: str  # its text
    reading: Reading
    picture: SnapshotRecord


def follow(drawn: Drawn, reads: Reads) -> Followed:
    """What one contract reads now, with all that its journal keeps."""
    reader = reads.find()
    (contract,) = reader.contracts
    state = reader.read(_draw(drawn))
    reading = replace(state[contract.name], warnings=(), assumptions=())
    return Followed(Rules.of(contract), contract.text, reading, SnapshotRecord.of(state.snapshot))


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
