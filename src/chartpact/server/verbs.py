"""The verbs behind every door of the server, each for one user; doors add no logic of their own."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from chartpact import indicators, sandbox, script
from chartpact.bars import Bars, BarsError
from chartpact.catalogue import Catalogue, Plan, ScriptIndicator
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError, UploadError
from chartpact.library.scripts import Quota, Script, Scripts
from chartpact.library.upload_source import UploadSource, describe_upload
from chartpact.library.uploads import Stored, Upload, Uploads
from chartpact.needs import BARS, CALENDAR, Need, Supply
from chartpact.problem import Problem
from chartpact.render import RenderError
from chartpact.request import Request
from chartpact.script import stock
from chartpact.server import jobs, reading, shapes
from chartpact.server.jobs import ChartJob, Picture, TooLarge
from chartpact.server.limits import Allowance
from chartpact.server.reading import Read
from chartpact.server.settings import Settings
from chartpact.sources import Catalog, Source, SourceFailed, configured, readings
from chartpact.sources.errors import problem_of
from chartpact.work.failure import WorkFailed, busy
from chartpact.work.io_threads import IoThreads
from chartpact.work.lanes import Workers

MOST_SCRIPTS = Quota().scripts
Answer = TypeVar("Answer")
NO_DATABASE = "the database does not answer now; nothing was changed: try again in a moment"

_SWITCHED_OFF = shapes.ScriptProblem(
    step="presence",
    kind="forbidden",
    line=None,
    column=None,
    message="scripts are switched off for you on this server",
    hint="ask the operator, who decides by CHARTPACT_SCRIPTS",
)


class Refused(Exception):
    """The verb was not carried out; `kind` for programs, the text for people."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Verbs:
    """Everything a user can do, over the library, the catalog of bars and the workers."""

    def __init__(self, settings: Settings, database: Database, workers: Workers) -> None:
        self.settings = settings
        self._database = database
        self._workers = workers
        limits = settings.limits
        self._scripts = Scripts(database, _unchecked)
        self._uploads = Uploads(database, _unchecked, limits.upload_bytes)
        self._waiters = IoThreads()  # for what is far away
        self._clerks = IoThreads(4)  # for what is here; the database lets one write at a time
        self._runs = Allowance("script runs", limits.script_runs_per_minute)
        self._pixels = Allowance("megapixels", limits.megapixels_per_minute)

        self._drawn: dict[tuple[str, str], tuple[str, float]] = {}  # samples, when drawn
        self._drawing = asyncio.Lock()

    async def _worked(self, user: str, job: Callable[[], Any], *, untrusted: bool = False) -> Any:
        """What a worker makes of the job; the event loop and its threads stay free meanwhile."""
        answer = self._workers.submit(user, job, untrusted=untrusted)
        try:
            async with asyncio.timeout(self.settings.limits.answer_seconds):
                return await asyncio.wrap_future(answer)
        except TimeoutError:
            raise busy("the workers are busy") from None

    async def _apart(self, user: str, work: Callable[[], Answer]) -> Answer:
        """What comes of work that waits for the disk, on a thread, users in turn."""
        return await asyncio.wrap_future(self._clerks.submit(user, work))

    def _catalog(self, user: str) -> Catalog:
        return configured.catalog(self.settings.sources) | UploadSource(self._uploads, user)

    # ------------------------------------------------------------------------------ indicators

    async def list_indicators(self, user: str) -> bytes:
        """All that can be drawn: `shapes.Indicators` as JSON, which may be megabytes."""
        listed: bytes = await self._told_of_mine(user, jobs.list_indicators)
        return listed

    async def list_my_indicators(self, user: str) -> shapes.MyIndicators:
        listed: shapes.MyIndicators = await self._told_of_mine(user, jobs.list_my_indicators)
        return listed

    async def _told_of_mine(self, user: str, tell: Callable[[Sequence[Script]], Any]) -> Any:
        """What is to be told of the user's scripts: of many parameters in a worker."""
        mine = await self._apart(user, partial(self._scripts.of, user))
        if sum(len(each.declared) for each in mine) <= reading.SMALL_BYTES:
            return tell(mine)
        return await self._worked(user, partial(tell, mine))

    async def get_indicator_source(self, user: str, name: str) -> shapes.SourceOut:
        kept = self._script(user, name)
        return shapes.SourceOut(
            name=kept.name, source=kept.source, params_schema=[dict(p) for p in kept.params]
        )

    async def source_of(self, user: str, name: str) -> str:
        """The user's own script of that name, or else the builtin's."""
        kept = next(iter(self._scripts.named(user, [name])), None)
        if kept is None and indicators.canonical(name) in stock.NAMES:
            return (await self.fork_indicator(name)).source
        return (kept or self._script(user, name)).source

    async def fork_indicator(self, builtin_name: str) -> shapes.Fork:
        builtin = indicators.canonical(builtin_name)
        if builtin not in stock.NAMES:
            raise Refused("name", stock.refusal(builtin_name, builtin is not None))
        source = stock.source(builtin)
        params = script.load(source).params
        return shapes.Fork(source=source, params_schema=[each.to_json() for each in params])

    async def register_indicator(
        self,
        user: str,
        name: str,
        source: str,
        params_schema: Sequence[Mapping[str, Any]] | None = None,
    ) -> shapes.Outcome:
        def register(scripts: Scripts) -> None:
            scripts.register(user, name, source, params_schema)

        return await self._changed(user, [(name, source)], register)

    async def update_indicator(self, user: str, name: str, source: str) -> shapes.Outcome:
        self._script(user, name)
        return await self._changed(user, [(name, source)], lambda s: s.update(user, name, source))

    async def delete_indicator(self, user: str, name: str) -> shapes.Outcome:
        try:
            await self._apart(user, partial(self._scripts.delete, user, name))
        except LibraryError as error:
            raise _unknown(name, error) from None
        return shapes.Outcome(ok=True)

    async def history(self, user: str, name: str) -> shapes.Versions:
        try:
            kept = self._scripts.history(user, name)
        except LibraryError as error:
            raise Refused("name", str(error)) from None
        return shapes.Versions(versions=[shapes.VersionOut(**each.__dict__) for each in kept])

    async def restore(self, user: str, name: str, version: int) -> shapes.Outcome:
        kept = await self.history(user, name)
        sources = [(name, each.source) for each in kept.versions if each.version == version]
        return await self._changed(user, sources, lambda s: s.restore(user, name, version))

    async def export(self, user: str) -> shapes.Library:
        return shapes.Library.model_validate(
            await self._apart(user, partial(self._scripts.export, user))
        )

    async def load(self, user: str, library: shapes.Library) -> shapes.Outcome:
        sources = [(each.name, each.source) for each in library.scripts]
        if len(sources) > MOST_SCRIPTS:
            raise Refused("size", f"{len(sources)} scripts are more than {MOST_SCRIPTS}")
        return await self._changed(user, sources, lambda s: s.load(user, library.model_dump()))

    async def _changed(
        self, user: str, sources: Iterable[tuple[str, str]], change: Callable[[Scripts], Any]
    ) -> shapes.Outcome:
        """Checks the sources in workers, then makes the change with what was found."""
        if not self.settings.runs_scripts_of(user):
            return shapes.Outcome(ok=False, errors=[_SWITCHED_OFF])
        found = {}
        for name, source in sources:
            if source not in found:
                self._runs.spend(user)
                check = partial(sandbox.validate, source, user=user, name=name)
                found[source] = await self._worked(user, check)
        try:
            checked = Scripts(self._database, lambda _, source: found[source])
            await self._apart(user, partial(change, checked))
        except LibraryError as error:
            problems = [shapes.ScriptProblem(**problem.to_json()) for problem in error.problems]
            return shapes.Outcome(ok=False, errors=problems)
        return shapes.Outcome(ok=True)

    def _script(self, user: str, name: str) -> Script:
        try:
            return self._scripts.get(user, name)
        except LibraryError as error:
            raise _unknown(name, error) from None

    # ---------------------------------------------------------------------------------- charts

    async def list_symbols(self, user: str) -> shapes.Symbols:
        shelves = await self._apart(user, self._catalog(user).shelves)
        return shapes.Symbols.model_validate(
            {
                "symbols": [each.to_json() for shelf in shelves for each in shelf.listings],
                "sources": [shelf.to_json() for shelf in shelves],
            }
        )

    async def read(self, user: str, body: bytes, mcp: bool) -> Read:
        """What is in a large body."""
        found: Read = await self._worked(user, partial(reading.read, body, mcp=mcp))
        return found

    async def generate_chart(
        self, user: str, ask: shapes.ChartAsk, handed: Bars | str | None = None
    ) -> Picture:
        """A chart; `handed` are the inline bars where they have been read, or what is wrong."""
        limits = self.settings.limits
        if (ask.symbol is None) == (ask.inline_bars is None):
            raise Refused("value", "give either a symbol or inline_bars")
        if len(ask.indicators) > limits.indicators_per_chart:
            raise Refused(
                "size",
                f"{len(ask.indicators)} indicators are more than "
                f"{limits.indicators_per_chart}: ask for several charts",
            )
        if isinstance(handed, str):
            raise Refused("value", handed)
        if ask.inline_bars is not None and len(handed or ask.inline_bars.time) > limits.inline_bars:
            raise Refused("size", f"at most {limits.inline_bars} bars may be handed over inline")
        if ask.format in jobs.MIME:
            self._pixels.spend(user, ask.width * ask.height / 1e6)
        plans = self._plan(user, ask)
        job = ChartJob(
            user, ask, plans, self.settings.sources, handed, most_bytes=limits.answer_bytes
        )
        scripted = any(isinstance(plan.indicator, ScriptIndicator) for plan in plans)
        try:
            job = await self._supply(await self._locate(job))
            drawn: Picture = await self._worked(user, partial(jobs.draw, job), untrusted=scripted)
            return drawn
        except (BarsError, RenderError) as error:
            raise Refused("value", str(error)) from None
        except SourceFailed as error:
            raise Refused("unavailable", str(error)) from None
        except TooLarge as error:
            raise Refused("size", str(error)) from None

    def _plan(self, user: str, ask: shapes.ChartAsk) -> tuple[Plan, ...]:
        """What is asked for, each thing found among the builtins and the user's scripts."""
        requests = [
            Request.parse(asked if isinstance(asked, str) else asked.model_dump())
            for asked in ask.indicators
        ]
        names = {name for request in requests for name in _names(request.name)}
        scripts = self._scripts.named(user, names) if names else []
        known = {script.name for script in scripts}
        others: tuple[str, ...] = ()
        if any(indicators.canonical(name) is None and name not in known for name in names):
            others = self._scripts.names(user)  # which the user may have meant
        if self.settings.runs_scripts_of(user):
            own = {script.name: script.indicator for script in scripts}
            catalogue = Catalogue(own, others=others)
        else:
            catalogue = Catalogue(barred={name: _barred(name) for name in known}, others=others)
        plans = catalogue.plan(requests)
        runs = [p for p in plans if isinstance(p.indicator, ScriptIndicator) and p.problem is None]
        self._runs.spend(user, len(runs))
        return plans

    async def _find(self, user: str, symbol: str) -> tuple[Source, str]:
        catalog = self._catalog(user)
        if catalog.has_source_of(symbol):
            return catalog.find(symbol)
        return await asyncio.to_thread(catalog.find, symbol)  # looks for symbols that are near

    async def _locate(self, job: ChartJob) -> ChartJob:
        """The job with bars that a worker could only wait for, or the file that holds them."""
        if job.ask.symbol is None:
            return job
        source, name = await self._find(job.user, job.ask.symbol)
        if isinstance(source, UploadSource):
            upload = await self._apart(job.user, partial(source.get, name))
            return replace(job, upload=upload)
        if source.remote:
            load = partial(source.load, name, job.ask.timeframe)
            bars = await asyncio.wrap_future(self._waiters.submit(job.user, load))
            return replace(job, bars=bars)
        return job

    async def _supply(self, job: ChartJob) -> ChartJob:
        """The job with what its indicators need from outside; no worker waits for it."""
        if not any(plan.looks_outside for plan in job.plans):
            return job
        if job.bars is not None:
            needs = jobs.find_needs(job)
        else:
            needs = await self._worked(job.user, partial(jobs.find_needs, job))
        supplies = await asyncio.gather(*(self._fetch(job.user, need) for need in needs))
        fetched = zip(needs, supplies, strict=True)
        return replace(job, supplies={need: got for need, got in fetched if got is not None})

    async def _fetch(self, user: str, need: Need) -> Supply | Upload | Problem | None:
        """What one indicator needs, or why it is not there; None where a worker has it at hand."""
        within_s = self.settings.limits.fetch_seconds
        try:
            async with asyncio.timeout(within_s):
                if need.what == BARS:
                    source, name = await self._find(user, need.name)
                    if isinstance(source, UploadSource):
                        return await self._apart(user, partial(source.get, name))
                    if not source.remote:
                        return None
                    fetch: Callable[[], Supply] = partial(source.load, name, need.timeframe or None)
                elif need.what == CALENDAR:
                    return None
                else:
                    fetch = partial(readings.services(self.settings.readings).read, need)
                return await asyncio.wrap_future(self._waiters.submit(user, fetch))
        except TimeoutError:
            return Problem("unavailable", f"the service did not answer within {within_s} s")
        except WorkFailed as failed:
            return Problem("unavailable", str(failed))
        except SourceFailed as failed:
            return failed.problem
        except BarsError as error:
            return problem_of(error)

    # ------------------------------------------------------------------------------- own bars

    async def list_bars(self, user: str) -> shapes.MyBars:
        return shapes.MyBars(bars=[_told(each) for each in self._uploads.of(user)])

    async def put_bars(
        self, user: str, name: str, content: bytes, given: Mapping[str, Any]
    ) -> shapes.StoredBars:
        try:
            upload = Upload(name, content, given)
            facts = await self._worked(user, partial(describe_upload, upload))
            checked = Uploads(self._database, lambda *_: facts, self.settings.limits.upload_bytes)
            put = partial(checked.put, user, name, content, given)
            return _told(await self._apart(user, put))
        except (BarsError, UploadError) as error:
            raise Refused("value", str(error)) from None

    async def get_bars(self, user: str, name: str) -> bytes:
        try:
            upload = partial(UploadSource(self._uploads, user).get, name)
            return (await self._apart(user, upload)).content
        except BarsError as error:
            raise Refused("name", str(error)) from None

    async def delete_bars(self, user: str, name: str) -> shapes.Outcome:
        try:
            await self._apart(user, partial(self._uploads.delete, user, name))
        except UploadError as error:
            raise Refused("name", str(error)) from None
        return shapes.Outcome(ok=True)

    async def sample(self, theme: shapes.Theme, shape: shapes.Shown) -> str:
        """The sample chart as SVG, not older than a minute, since anybody may ask for it."""
        async with self._drawing:
            svg, drawn_at = self._drawn.get((theme, shape), ("", -math.inf))
            if time.monotonic() - drawn_at > 60:
                svg = await self._worked("the page", partial(jobs.sample, theme, shape))
                self._drawn[theme, shape] = (svg, time.monotonic())
            return svg


def _names(asked: str) -> set[str]:
    """What an indicator may be kept under: the name it is asked for by, or that name's own."""
    return {asked, indicators.canonical(asked) or asked}


def _barred(name: str) -> Problem:
    """Why a script of the user's does not run."""
    builtin = indicators.canonical(name) is not None
    return Problem(
        "forbidden",
        f"your script {name!r} does not run: scripts are switched off for you here",
        ("delete it to draw the builtin of that name, or " if builtin else "")
        + "ask the operator, who decides by CHARTPACT_SCRIPTS",
    )


def _unknown(name: str, error: LibraryError) -> Refused:
    """What to do about a name that is no script's, though perhaps a builtin's."""
    builtin = indicators.canonical(name)
    if builtin is None:
        return Refused("name", str(error))
    todo = (
        "fork_indicator gives its source"
        if builtin in stock.NAMES
        else "register_indicator puts a script of yours in its place"
    )
    return Refused("name", f"{error}; {builtin!r} is a builtin: {todo}")


def _unchecked(*_: Any) -> Any:
    raise AssertionError("what is written has been checked in a worker")


def _told(stored: Stored) -> shapes.StoredBars:
    facts = {key: value for key, value in stored.facts.items() if key != "given"}
    return shapes.StoredBars(
        name=stored.name, size=stored.size, created_at=stored.created_at, **facts
    )
