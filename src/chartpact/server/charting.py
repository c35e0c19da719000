"""The way of a chart through the server: planned here, supplied from outside, drawn in a worker."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from chartpact import joint, lookahead, pacts, sandbox, strategies
from chartpact.bars import Bars, BarsError
from chartpact.bars.errors import UnknownBars
from chartpact.catalogue import Catalogue, Plan, ScriptIndicator, canonical
from chartpact.library.scripts import Scripts
from chartpact.library.upload_source import MINE, UploadSource
from chartpact.library.uploads import Upload, Uploads
from chartpact.library.user_contracts import UserContracts
from chartpact.needs import BARS, CALENDAR, Need, Supply
from chartpact.problem import Failure, Problem, did_you_mean
from chartpact.request import Request
from chartpact.server import contract_jobs, jobs, shapes
from chartpact.server.allowance import Allowance, Ledger, LoanMeter
from chartpact.server.execution import Execution
from chartpact.server.jobs import ChartJob, Picture
from chartpact.server.last_charts import LastCharts
from chartpact.server.refusals import VerbError, refuse
from chartpact.server.settings import Settings
from chartpact.snapshot import Snapshot
from chartpact.sources import Directory, Source, configuration, readings
from chartpact.studies import StudyAnswer, read_ask

Drafts = Mapping[str, ScriptIndicator | Problem]

DRAFT = "draft"  # what a source without a name is called
PREFIXES = 24  # at least, on which a script of a user's is proved: each is a process of its own
PROOF_RUNS = 6  # of scripts, whose processor time is reserved for a proof, and spent on a cheap one
RUN_S = 0.25  # of processor time, reserved for a run of a script until it is known


class Charting:
    """Draws charts of builtins and of users' scripts, on any bars a user may name."""

    def __init__(
        self,
        settings: Settings,
        scripts: Scripts,
        uploads: Uploads,
        contracts: UserContracts,
        execution: Execution,
        ledger: Ledger | None = None,
        last: LastCharts | None = None,
    ) -> None:
        self._settings = settings
        self._scripts = scripts
        self._contracts = contracts
        self._uploads = uploads
        self._execution = execution
        # A service's failure is noted before the first chart gives up, and the next need not wait.
        within_s = min(settings.readings.timeout_s, 0.9 * settings.limits.fetch_seconds)
        self._readings = readings.services(replace(settings.readings, timeout_s=within_s))
        limits = settings.limits
        self._pixels = LoanMeter(Allowance("megapixels", limits.megapixels_per_minute), ledger)
        self._checks = LoanMeter(Allowance("checks", limits.checks_per_minute), ledger)
        seconds = Allowance("processor seconds of scripts", limits.script_seconds_per_minute)
        self._script_time = LoanMeter(seconds, ledger)
        self._last = last or LastCharts(None)

    async def draw(
        self, user: str, ask: shapes.ChartAsk, bars: Bars | str | None, tz: str = "UTC"
    ) -> Picture:
        """The chart; `bars` are inline bars that have been read, or what is wrong with them."""
        if isinstance(bars, str):
            raise refuse("value", bars)
        await self._check(user, ask, bars)
        plans = await self._plan(user, ask)
        most_bytes = self._settings.limits.answer_bytes
        job = ChartJob(user, ask, plans, self._settings.sources, bars, tz=tz, most_bytes=most_bytes)
        picture: Picture = await self._run(job, jobs.draw)
        if ask.inline_bars is None:
            await self._execution.use_disk(user, partial(self._last.put, user, ask))
        return picture

    async def last_chart(self, user: str) -> shapes.ChartAsk | None:
        """The chart of a symbol that the user had drawn last."""
        return await self._execution.use_disk(user, partial(self._last.get, user))

    async def read_drawn(self, user: str, ask: shapes.ChartAsk) -> Snapshot:
        """The snapshot of the chart that was asked for."""
        await self._check(user, ask.model_copy(update={"format": "summary"}), None)
        plans = await self._plan(user, ask)
        job = ChartJob(user, ask, plans, self._settings.sources)
        drawn: Snapshot = await self._run(job, jobs.record)
        return drawn

    async def encode_series(self, user: str, ask: shapes.SeriesAsk) -> bytes:
        """The chart as columns, for the page; its drafts are kept nowhere."""
        fields = {**ask.model_dump(include={"symbol", "timeframe"}), "bars": ask.view}
        chart = shapes.ChartAsk.model_validate({**fields, "format": "series"})
        chart = chart.model_copy(update={"indicators": ask.indicators})
        await self._check(user, chart, None)
        plans = await self._plan(user, chart, await self._read_drafts(user, ask.drafts))
        most_bytes = self._settings.limits.answer_bytes
        job = ChartJob(user, chart, plans, self._settings.sources, most_bytes=most_bytes, to=ask.to)
        encode = partial(jobs.encode_series, first=ask.first, last=ask.last, known=ask.known)
        encoded: bytes = await self._run(job, encode)
        return encoded

    async def find_bars_after(self, user: str, ask: shapes.BarsAfterAsk) -> shapes.BarsAfter:
        """What came after a bar, for a page that looks again and again."""
        fields = ask.model_dump(include={"symbol", "timeframe"})
        job = ChartJob(user, shapes.ChartAsk.model_validate(fields), (), self._settings.sources)
        found: shapes.BarsAfter = await self._run(
            job, partial(jobs.find_bars_after, after=ask.after)
        )
        return found

    async def _read_drafts(self, user: str, drafts: Sequence[shapes.Draft]) -> Drafts:
        """Each draft as an indicator, or what is wrong with it."""
        read: dict[str, ScriptIndicator | Problem] = {}
        for draft in drafts:
            if not self._settings.runs_scripts_of(user):
                read[draft.name] = _bar(draft.name)
                continue
            inspect = partial(sandbox.inspect, draft.source, user=user, name=draft.name)
            inspected = await self.compute(user, inspect, runs=1)
            read[draft.name] = (
                inspected.errors[0].problem
                if inspected.errors
                else ScriptIndicator(
                    draft.name, draft.source, inspected.params, inspected.meta, user=user
                )
            )
        return read

    async def prove(self, user: str, ask: shapes.ProveAsk) -> shapes.ProofOut:
        """Whether a draft, or an indicator by its name, rewrites its past on some bars."""

        def work(job: ChartJob, fewest: int) -> Callable[[], shapes.ProofOut]:
            return partial(jobs.prove_plan, job, fewest, RUN_S * PROOF_RUNS)

        proof: shapes.ProofOut = await self._run_often(user, ask, work)
        return proof

    async def study(self, user: str, ask: shapes.StudyAsk) -> StudyAnswer:
        """What followed the signals of a draft, or of an indicator by its name."""
        options = read_ask(
            ask.long, ask.short, ask.states, ask.horizons, None, ask.sweep, ask.cost_ticks,
            ask.hold_out, ask.confirm, ask.zone, ask.unit,
        )  # fmt: skip

        def work(job: ChartJob, fewest: int) -> Callable[[], StudyAnswer]:
            return partial(jobs.study_plan, job, options, ask.bars, fewest)

        answer: StudyAnswer = await self._run_often(user, ask, work)
        return answer

    async def _run_often(
        self,
        user: str,
        ask: shapes.ProveAsk | shapes.StudyAsk,
        work: Callable[[ChartJob, int], Callable[[], Any]],
    ) -> Any:
        """Work that draws one indicator on many prefixes; it is told how many at least."""
        if (ask.source is None) == (ask.indicator is None):
            raise refuse("value", "give either a source or an indicator")
        drafts = [] if ask.source is None else [shapes.Draft(name=DRAFT, source=ask.source)]
        fields = {**ask.model_dump(include={"symbol", "timeframe"}), "format": "series"}
        chart = shapes.ChartAsk.model_validate(fields)
        chart = chart.model_copy(update={"indicators": [ask.indicator or DRAFT], "bars": ask.bars})
        plans = await self._plan(user, chart, await self._read_drafts(user, drafts))
        if (problem := plans[0].problem) is not None:
            raise VerbError(problem)
        job = ChartJob(user, chart, plans, self._settings.sources)
        untrusted = plans[0].runs_untrusted
        try:
            job = await self._supply(await self._locate(job))
            fewest = PREFIXES if untrusted else lookahead.PREFIXES
            return await self.compute(user, work(job, fewest), PROOF_RUNS * untrusted)
        except UnknownBars as error:
            raise VerbError(error.problem.at(hint="list_symbols lists what there is")) from None

    async def check(self, user: str, source: str) -> shapes.CheckOut:
        """The checker's verdict on a source; the runs it makes spend the user's script time."""
        await self._checks.spend(user)
        began = time.perf_counter()
        validate = partial(sandbox.validate, source, user=user, name="a draft")
        verdict = await self.compute(user, validate, runs=1)
        ms = round(1000 * (time.perf_counter() - began), 1)
        return shapes.CheckOut.model_validate({**verdict.to_json(), "ms": ms})

    async def find_contracts(
        self, user: str, ask: shapes.StateAsk, shipped: Sequence[str]
    ) -> contract_jobs.Reads:
        """The contracts asked for, shipped or the user's own; a path is an unknown name here."""
        known = {*shipped, *strategies.names()}
        others = [name for name in ask.contracts if name not in known]
        find = partial(self._contracts.find, user, others)
        own = await self._execution.use_disk(user, find) if others else {}
        for name in others:
            if name not in own:
                listed = [*shipped, *strategies.names()]
                hint = did_you_mean(name, listed, 3) or f"there are {', '.join(listed)}"
                raise VerbError(Problem("name", f"there is no contract {name!r:.80} here", hint))
        decide: dict[str, str | None] = {
            name: one.source for name, one in own.items() if one.decides
        }
        texts = {name: one.source for name, one in own.items() if not one.decides}
        catalogue = Catalogue()
        if decide:  # they may look at contracts of the user's own
            every = await self._execution.use_disk(user, partial(self._contracts.of, user))
            texts |= {one.name: one.source for one in every if not one.decides}
            catalogue = await self._catalogue(user, {*texts})
        decide |= {name: None for name in ask.contracts if name in strategies.names()}
        return contract_jobs.Reads(ask, texts, decide, catalogue)

    async def read(self, user: str, ask: shapes.StateAsk, work: Callable[..., Any]) -> Any:
        """Draws the indicators that contracts read on bars, and has a worker read them."""
        reads = await self.find_contracts(user, ask, pacts.drawable())
        names = [name for name in ask.contracts if name not in reads.strategies]
        catalogue = await self._catalogue(user, {*names})
        plans = joint.plan(catalogue, names, ask.params) if names else ()
        chart = shapes.ChartAsk.model_validate({"symbol": ask.symbol, "timeframe": ask.timeframe})
        job = ChartJob(user, chart, plans, self._settings.sources, to=ask.to)
        return await self._run(job, partial(work, reads=reads), reads.count)

    async def _run(self, job: ChartJob, work: Callable[[ChartJob], Any], contracts: int = 0) -> Any:
        """Fetches the bars of a job and what its indicators need, and runs it in a worker."""
        runs = [plan for plan in job.plans if plan.runs_untrusted]
        try:
            job = await self._supply(await self._locate(job))
            return await self.compute(job.user, partial(work, job), len(runs), contracts)
        except UnknownBars as error:
            raise VerbError(error.problem.at(hint="list_symbols lists what there is")) from None

    async def compute(
        self,
        user: str,
        job: Callable[[], Any],
        runs: int = 0,
        contracts: int = 0,
        *,
        patient: bool = False,
    ) -> Any:
        """Runs a job in a worker.

        Its `runs` of scripts, and the `contracts` and pictures that users wrote, spend the user's
        processor time.
        """
        if not runs + contracts:
            return await self._execution.compute(user, job, patient=patient)
        reserved = await self._script_time.reserve(user, RUN_S * (runs + contracts))
        count = partial(jobs.count_script_time, job, contracts > 0)
        counted: jobs.Counted = await self._execution.compute(
            user,
            count,
            untrusted=True,
            patient=patient,
            on_loss=partial(self._script_time.settle_loss, user, reserved),
        )
        self._script_time.settle(user, reserved, counted.script_s)
        self._execution.count_sandboxes(counted.starts, counted.losses)
        return counted.result()

    def directory(self, user: str) -> Directory:
        """Every source of bars that this user may name."""
        return configuration.open_directory(self._settings.sources) | UploadSource(
            self._uploads, user
        )

    async def _check(self, user: str, ask: shapes.ChartAsk, bars: Bars | None) -> None:
        limits = self._settings.limits
        if (ask.symbol is None) == (ask.inline_bars is None):
            raise refuse("value", "give either a symbol or inline_bars")
        count, most = len(ask.indicators), limits.indicators_per_chart
        if count > most:
            raise refuse("size", f"{count} indicators are more than {most}: ask for several charts")
        if ask.inline_bars is not None and len(bars or ask.inline_bars.time) > limits.inline_bars:
            raise refuse("size", f"at most {limits.inline_bars} bars may be handed over inline")
        if ask.format in jobs.MIME:
            await self._pixels.spend(user, ask.width * ask.height / 1e6)

    async def _plan(
        self, user: str, ask: shapes.ChartAsk, drafts: Drafts = MappingProxyType({})
    ) -> tuple[Plan, ...]:
        """Each request resolved among the builtins and those of the user's scripts it may mean."""
        requests = [
            Request.parse(asked if isinstance(asked, str) else asked.model_dump())
            for asked in ask.indicators
        ]
        catalogue = await self._catalogue(user, {request.name for request in requests})
        fine = {name: got for name, got in drafts.items() if isinstance(got, ScriptIndicator)}
        wrong = {name: got for name, got in drafts.items() if isinstance(got, Problem)}
        scripts, barred = {**catalogue.scripts, **fine}, {**catalogue.barred, **wrong}
        return replace(catalogue, scripts=scripts, barred=barred).plan(requests)

    async def _catalogue(self, user: str, names: set[str]) -> Catalogue:
        """The builtins, the pacts, and those of the user's scripts that names may mean."""
        names = names | {shipped for name in names if (shipped := canonical(name))}
        use_disk = self._execution.use_disk
        scripts = await use_disk(user, partial(self._scripts.find, user, names)) if names else {}
        others: tuple[str, ...] = ()
        if any(name not in scripts and canonical(name) is None for name in names):
            others = await use_disk(user, partial(self._scripts.names, user))
        if self._settings.runs_scripts_of(user):
            own = {name: script.indicator for name, script in scripts.items()}
            return Catalogue(own, others=others, listed_by="list_indicators")
        barred = {name: _bar(name) for name in scripts}
        return Catalogue(barred=barred, others=others, listed_by="list_indicators")

    async def _find(self, user: str, symbol: str) -> tuple[Source, str]:
        directory = self.directory(user)
        if directory.has_source_of(symbol):
            return directory.find(symbol)
        return await asyncio.to_thread(directory.find, symbol)  # compares it with every symbol

    async def _locate(self, job: ChartJob) -> ChartJob:
        """The job with bars that a worker could only wait for, or the file that holds them."""
        if job.ask.symbol is None:
            return job
        source, name = await self._find(job.user, job.ask.symbol)
        if isinstance(source, UploadSource):
            upload = await self._execution.use_disk(job.user, partial(source.get, name))
            return replace(job, upload=upload)
        if source.remote:
            load = partial(source.load, name, job.ask.timeframe)
            return replace(job, bars=await self._execution.use_network(job.user, load))
        return job

    async def _supply(self, job: ChartJob) -> ChartJob:
        """The job with what its indicators need from outside; no worker waits for it."""
        if not any(plan.looks_outside for plan in job.plans):
            return job
        if job.bars is not None:
            needs = jobs.find_needs(job)
        else:
            needs = await self._execution.compute(job.user, partial(jobs.find_needs, job))
        supplies = await asyncio.gather(*(self._fetch(job.user, need) for need in needs))
        fetched = zip(needs, supplies, strict=True)
        return replace(job, supplies={need: got for need, got in fetched if got is not None})

    async def _fetch(self, user: str, need: Need) -> Supply | Upload | Problem | None:
        """What one indicator needs, or why it is missing; None where a worker has it at hand."""
        within_s = self._settings.limits.fetch_seconds
        try:
            async with asyncio.timeout(within_s):
                if need.what == CALENDAR:
                    name, _, where = need.name.rpartition("@")
                    if where != MINE:
                        return None
                    get = partial(UploadSource(self._uploads, user).get, name)
                    return await self._execution.use_disk(user, get)
                fetch: Callable[[], Supply] = partial(self._readings.read, need)
                if need.what == BARS:
                    source, name = await self._find(user, need.name)
                    if isinstance(source, UploadSource):
                        return await self._execution.use_disk(user, partial(source.get, name))
                    if not source.remote:
                        return None
                    fetch = partial(source.load, name, need.timeframe or None)
                return await self._execution.use_network(user, fetch)
        except TimeoutError:
            return Problem("unavailable", f"the service did not answer within {within_s} s")
        except BarsError as error:
            return error.problem
        except Failure as failure:
            return Problem("unavailable", str(failure))


def _bar(name: str) -> Problem:
    """Why a script of the user's does not run."""
    builtin = canonical(name) is not None
    return Problem(
        "forbidden",
        f"your script {name!r} does not run: scripts are switched off for you here",
        ("delete it to draw the builtin of that name, or " if builtin else "")
        + "ask the operator, who decides by CHARTPACT_SCRIPTS",
    )
