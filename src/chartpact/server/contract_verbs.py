"""Users' own contracts, behind every door of the server: checked in a worker, kept by name."""

from functools import partial
from typing import Any

from chartpact import pacts, strategies
from chartpact.contracts import find
from chartpact.library.errors import LibraryError
from chartpact.library.user_contracts import UserContracts
from chartpact.server import contract_jobs, shapes
from chartpact.server.charting import Charting
from chartpact.server.drawings import Drawings
from chartpact.server.execution import Execution
from chartpact.server.refusals import refuse
from chartpact.snapshot import Snapshot


class ContractVerbs:
    """What a user can do with contracts: those that ship, and their own."""

    def __init__(
        self, own: UserContracts, charts: Charting, drawings: Drawings, execution: Execution
    ) -> None:
        self._own, self._execution = own, execution
        self._charts, self._drawings = charts, drawings

    async def list_contracts(self, user: str) -> shapes.ContractList:
        own = await self._execution.use_disk(user, partial(self._own.of, user))
        listed = [_describe(name) for name in pacts.names()]
        listed += [
            shapes.ContractOut(name=one.name, version=one.version, title=one.title, source="user")
            for one in own
            if not one.decides
        ]
        return shapes.ContractList(contracts=listed)

    async def get_contract(self, user: str, name: str) -> shapes.ContractOut:
        """A shipped contract, or one of the user's own, with its text."""
        if name in pacts.names():
            shipped = _describe(name)
            return shipped.model_copy(update={"text": find(name).text})
        own = await self._execution.use_disk(user, partial(self._own.get, user, name))
        return shapes.ContractOut(
            name=name, version=own.version, title=own.title, source="user", text=own.source
        )

    async def check_contract(self, user: str, source: str) -> shapes.ContractOutcome:
        """Every proof about a contract; nothing is kept."""
        checked = await self._check(user, source)
        return outcome_of(checked)

    async def register_contract(
        self, user: str, source: str, name: str | None = None
    ) -> shapes.ContractOutcome:
        """Checks a contract and keeps it under the name that it gives itself."""
        checked = await self._check(user, source)
        if checked.errors:
            return outcome_of(checked)
        if name is not None and name != checked.name:
            message = f"the contract calls itself {checked.name!r}, not {name!r:.80}"
            return refuse_text(message, "use one name")
        own = await self._execution.use_disk(user, partial(self._own.find, user, [checked.name]))
        if checked.name in strategies.names() or (
            checked.name in own and own[checked.name].decides
        ):
            return refuse_text(f"{checked.name!r} is a strategy", "give the contract another name")
        if not checked.title:
            return refuse_text("the contract names no study", "write its title as pine_title")
        if checked.name in own:
            checked = await self._check(user, source, own[checked.name].source)
        put = partial(self._own.put, user, checked.name, checked.version, checked.title, source)
        try:
            await self._execution.use_disk(user, put)
        except LibraryError as error:
            return refuse_text(error.message, error.problem.hint)
        return outcome_of(checked)

    async def delete_contract(self, user: str, name: str) -> shapes.Outcome:
        await self._execution.use_disk(user, partial(self._own.delete, user, name))
        return shapes.Outcome(ok=True)

    async def history(self, user: str, name: str) -> shapes.ContractVersions:
        history = await self._execution.use_disk(user, partial(self._own.history, user, name))
        return shapes.ContractVersions(versions=[dict(old.__dict__) for old in history])

    async def restore(self, user: str, name: str, number: int) -> shapes.ContractOutcome:
        """Puts an earlier version back in force."""
        get = partial(self._own.get_version, user, name, number)
        old = await self._execution.use_disk(user, get)
        return await self.register_contract(user, old.source)

    async def draft_contract(self, user: str, ask: shapes.DraftAsk) -> shapes.DraftOut:
        """A starting contract, from a snapshot, a granted chart or an indicator on a symbol."""
        snapshot, study = await self._find_snapshot(user, ask), ask.study
        if snapshot is None:
            snapshot = await self._draw(user, [study], symbol=ask.symbol)
            study = snapshot.studies[0].name if snapshot.studies else study
        job = partial(contract_jobs.draft_contract, snapshot, study)
        return shapes.DraftOut(text=await self._charts.compute(user, job, contracts=1))

    async def match_contract(self, user: str, ask: shapes.MatchAsk) -> shapes.MatchOut:
        """What a contract reads, and which element each drawn object matched; nothing is kept."""
        if (ask.contract is None) == (ask.source is None):
            raise refuse("value", "give either a contract or a source")
        snapshot = await self._find_snapshot(user, ask)
        text = ask.source
        if text is None:
            text = (await self.get_contract(user, str(ask.contract))).text or ""
        if snapshot is None:
            checked = await self._check(user, text)
            if checked.errors:
                raise refuse("value", f"the contract is wrong: {checked.errors[0]['message']}")
            drawn: list[Any] = list(ask.indicators) or [{"name": checked.name, **ask.params}]
            place = {"symbol": ask.symbol, "timeframe": ask.timeframe}
            snapshot = await self._draw(user, drawn, **place)
        job = partial(contract_jobs.match_contract, text, snapshot, ask.config, ask.profile)
        matched: shapes.MatchOut = await self._charts.compute(user, job, contracts=1)
        return matched

    async def _check(
        self, user: str, source: str, before: str | None = None
    ) -> contract_jobs.CheckedContract:
        job = partial(contract_jobs.check_contract, source, before)
        checked: contract_jobs.CheckedContract = await self._charts.compute(user, job, contracts=1)
        return checked

    async def _find_snapshot(
        self, user: str, ask: shapes.DraftAsk | shapes.MatchAsk
    ) -> Snapshot | dict[str, Any] | None:
        """The snapshot of the request, or of a granted chart; None: its symbol is to be drawn."""
        if (ask.symbol is None) == (ask.snapshot is None):
            raise refuse("value", "give either a symbol or a snapshot")
        if ask.symbol is None:
            return ask.snapshot
        chart = self._drawings.list_granted(user).get(ask.symbol)
        return None if chart is None else await self._drawings.read_granted(chart)

    async def _draw(self, user: str, indicators: list[Any], **place: str | None) -> Snapshot:
        fields = {**place, "indicators": indicators, "bars": 50_000}
        return await self._charts.read_drawn(user, shapes.ChartAsk.model_validate(fields))


def _describe(name: str) -> shapes.ContractOut:
    contract = find(name)
    return shapes.ContractOut(
        name=name, version=contract.version, title=contract.title, source="pact"
    )


def outcome_of(
    checked: contract_jobs.CheckedContract, noun: str = "contract"
) -> shapes.ContractOutcome:
    """The outcome of the proofs about a contract or a strategy."""
    errors = [shapes.ContractProblem.model_validate(error) for error in checked.errors]
    return shapes.ContractOutcome(
        ok=not errors,
        **{noun: checked.name or None},
        version=checked.version or None,
        errors=errors or None,
        warnings=list(checked.warnings) or None,
    )


def refuse_text(message: str, hint: str) -> shapes.ContractOutcome:
    problem = shapes.ContractProblem(line=None, path="contract", message=message, hint=hint)
    return shapes.ContractOutcome(ok=False, errors=[problem])
