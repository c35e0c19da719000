"""Users' own strategies, behind every door of the server: checked in a worker, kept by name.

They lie beside the user's contracts, so that both share names, versions and quotas.
"""

from functools import partial

from chartpact import pacts, strategies
from chartpact.library.errors import LibraryError
from chartpact.library.user_contracts import UserContract, UserContracts
from chartpact.server import contract_jobs, shapes
from chartpact.server.charting import Charting
from chartpact.server.contract_verbs import outcome_of, refuse_text
from chartpact.server.execution import Execution
from chartpact.server.refusals import refuse


class StrategyVerbs:
    """What a user can do with strategies: those that ship, and their own."""

    def __init__(self, own: UserContracts, charts: Charting, execution: Execution) -> None:
        self._own, self._charts, self._execution = own, charts, execution

    async def list_strategies(self, user: str) -> shapes.StrategyList:
        own = await self._execution.use_disk(user, partial(self._own.of, user))
        listed = [_describe(name) for name in strategies.names()]
        listed += [_describe_own(one) for one in own if one.decides]
        return shapes.StrategyList(strategies=listed)

    async def get_strategy(self, user: str, name: str) -> shapes.StrategyOut:
        """A shipped strategy, or one of the user's own, with its text."""
        if name in strategies.names():
            return _describe(name).model_copy(update={"text": strategies.find(name).text})
        own = (await self._execution.use_disk(user, partial(self._own.find, user, [name]))).get(
            name
        )
        if own is None or not own.decides:
            raise refuse(
                "name", f"there is no strategy {name!r:.80} here: list_strategies lists them"
            )
        return _describe_own(own).model_copy(update={"text": own.source})

    async def check_strategy(self, user: str, source: str) -> shapes.ContractOutcome:
        """Every proof about a strategy; nothing is kept."""
        return outcome_of(await self._check(user, source), "strategy")

    async def register_strategy(
        self, user: str, source: str, name: str | None = None
    ) -> shapes.ContractOutcome:
        """Checks a strategy and keeps it under the name that it gives itself."""
        checked = await self._check(user, source)
        if checked.errors:
            return outcome_of(checked, "strategy")
        if name is not None and name != checked.name:
            message = f"the strategy calls itself {checked.name!r}, not {name!r:.80}"
            return refuse_text(message, "use one name")
        own = await self._execution.use_disk(user, partial(self._own.find, user, [checked.name]))
        known = own.get(checked.name)
        if checked.name in (*pacts.names(), *strategies.names()) or (known and not known.decides):
            message = f"{checked.name!r} is the name of another contract or strategy"
            return refuse_text(message, "give yours another name")
        if known is not None:
            checked = await self._check(user, source, known.source)
        put = partial(self._own.put, user, checked.name, checked.version, "", source)
        try:
            await self._execution.use_disk(user, put)
        except LibraryError as error:
            return refuse_text(error.message, error.problem.hint)
        return outcome_of(checked, "strategy")

    async def delete_strategy(self, user: str, name: str) -> shapes.Outcome:
        await self.get_strategy(user, name)
        await self._execution.use_disk(user, partial(self._own.delete, user, name))
        return shapes.Outcome(ok=True)

    async def _check(
        self, user: str, source: str, before: str | None = None
    ) -> contract_jobs.CheckedContract:
        own = await self._execution.use_disk(user, partial(self._own.of, user))
        texts = {one.name: one.source for one in own if not one.decides}
        job = partial(contract_jobs.check_strategy, source, texts, before)
        checked: contract_jobs.CheckedContract = await self._charts.compute(user, job, contracts=1)
        return checked


def _describe(name: str) -> shapes.StrategyOut:
    found = strategies.summarise(strategies.find(name))
    return shapes.StrategyOut.model_validate(found)


def _describe_own(own: UserContract) -> shapes.StrategyOut:
    return shapes.StrategyOut(name=own.name, version=own.version, source="user")
