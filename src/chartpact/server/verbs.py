"""The verbs behind every door of the server, each for one user; doors add no logic of their own."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from chartpact import sandbox, script
from chartpact._version import VERSION
from chartpact.bars import BarsError
from chartpact.bars.samples import SAMPLES
from chartpact.cache import Cache
from chartpact.catalogue import canonical, fork, forkable
from chartpact.library.database import Database
from chartpact.library.errors import LibraryError
from chartpact.library.layouts import Layouts
from chartpact.library.scripts import QUOTA, Script, Scripts, Version
from chartpact.library.study_ledger import StudyLedger
from chartpact.library.upload_source import UploadSource, describe_upload
from chartpact.library.uploads import Stored, Upload, Uploads
from chartpact.library.user_contracts import UserContracts
from chartpact.library.watchlists import Watchlist, Watchlists
from chartpact.problem import Problem
from chartpact.render.options import Theme
from chartpact.server import bodies, contract_jobs, jobs, shapes
from chartpact.server.allowance import Ledger
from chartpact.server.bodies import LeanBody
from chartpact.server.charting import Charting
from chartpact.server.contract_verbs import ContractVerbs
from chartpact.server.drawings import Drawings
from chartpact.server.execution import Execution
from chartpact.server.following import Following
from chartpact.server.jobs import Listing
from chartpact.server.last_charts import LastCharts
from chartpact.server.metrics import Metrics
from chartpact.server.refusals import VerbError, refuse
from chartpact.server.settings import Settings
from chartpact.server.strategy_verbs import StrategyVerbs
from chartpact.work.lanes import Workers

Answer = TypeVar("Answer")

MOST_SCRIPTS = QUOTA.texts
MOST_LAYOUT = 65_536  # letters of a layout as JSON
MOST_THUMBNAILS = 12  # of one user's own scripts
DELETION = (
    "builtins stay; delete_indicator deletes a script that was registered, and a builtin which "
    "that replaced is then in force again"
)
REPLACEMENT = "register_indicator puts a script of yours in its place"

_SWITCHED_OFF = shapes.ScriptProblem(
    step="presence",
    kind="forbidden",
    line=None,
    column=None,
    message="scripts are switched off for you on this server",
    hint="ask the operator, who decides by CHARTPACT_SCRIPTS",
)


class Verbs:
    """Everything a user can do, over the library, the sources of bars and the workers."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        workers: Workers,
        ledger: Ledger | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        limits = settings.limits
        self.settings = settings
        self._database = database
        self.metrics = metrics or Metrics()
        self._execution = Execution(workers, limits.answer_seconds, self.metrics)
        self._scripts = Scripts(database, _never)
        self._uploads = Uploads(database, _never, limits.upload_bytes)
        own, execution = UserContracts(database), self._execution
        last = LastCharts(None if ledger is None else database)
        self.charts = Charting(settings, self._scripts, self._uploads, own, execution, ledger, last)
        self.drawings = Drawings(settings, self.charts, execution)
        self.contracts = ContractVerbs(own, self.charts, self.drawings, execution)
        self.strategies = StrategyVerbs(own, self.charts, execution)
        self.following = Following(database, self.drawings, execution)
        self._samples: Cache[tuple[str, str], str] = Cache(8, seconds=60)
        self._drawing_sample = asyncio.Lock()
        self._thumbnails: Cache[str, shapes.Thumbnails] = Cache(256)
        self._drawing_thumbnails = asyncio.Lock()
        self._layouts = Layouts(database)
        self._watchlists = Watchlists(database)
        self._study_ledger = StudyLedger(database)

    def describe_user(self, user: str) -> shapes.Me:
        return shapes.Me(
            user=user,
            accounts=self.settings.accounts,
            scripts=self.settings.runs_scripts_of(user),
            version=VERSION,
            samples=[f"sample:{name}" for name in SAMPLES],
            tradingview=list(self.drawings.list_granted(user)),
        )

    async def list_watchlists(self, user: str) -> shapes.WatchlistsOut:
        lists = await self._execution.use_disk(user, partial(self._watchlists.list, user))
        return shapes.WatchlistsOut(watchlists=[_describe_watchlist(one) for one in lists])

    async def put_watchlist(
        self, user: str, name: str, symbols: Sequence[str]
    ) -> shapes.WatchlistOut:
        put = partial(self._watchlists.put, user, name, symbols)
        return _describe_watchlist(await self._execution.use_disk(user, put))

    async def remove_watchlist(self, user: str, name: str) -> shapes.Outcome:
        await self._execution.use_disk(user, partial(self._watchlists.remove, user, name))
        return shapes.Outcome(ok=True)

    async def get_layout(self, user: str) -> shapes.LayoutOut:
        layout = await self._execution.use_disk(user, partial(self._layouts.get, user))
        return shapes.LayoutOut(layout=layout)

    async def put_layout(self, user: str, layout: Mapping[str, Any]) -> shapes.Outcome:
        if len(json.dumps(layout)) > MOST_LAYOUT:
            raise refuse("size", f"a layout has at most {MOST_LAYOUT} letters as JSON")
        await self._execution.use_disk(user, partial(self._layouts.put, user, layout))
        return shapes.Outcome(ok=True)

    # ---------------------------------------------------------------------------------- charts

    async def read_body(self, user: str, body: bytes, mcp: bool) -> LeanBody:
        """A large body, read in a worker."""
        return await self._execution.compute(user, partial(bodies.read, body, mcp=mcp))

    async def list_symbols(self, user: str, most: int | None = None) -> shapes.Symbols:
        """Every source with its symbols, or with `most` of them and the number of the others."""
        sources = await self._execution.use_disk(user, self.charts.directory(user).entries)
        symbols = [known.to_json() for source in sources for known in source.symbols[:most]]
        about = [
            {**source.to_json(), "more": len(source.symbols[most or sys.maxsize :]) or None}
            for source in sources
        ]
        return shapes.Symbols.model_validate({"symbols": symbols, "sources": about})

    async def read_state(self, user: str, ask: shapes.StateAsk) -> shapes.StateOut:
        """What contracts read from the granted TradingView chart of that name, or from bars."""
        state: shapes.StateOut = await self.drawings.read(user, ask, contract_jobs.read_state)
        return state

    async def study_signals(self, user: str, ask: shapes.StudyAsk) -> shapes.StudyOut:
        """What followed signals, entered in the user's ledger."""
        answer = await self.charts.study(user, ask)
        enter = partial(self._study_ledger.enter, user, *answer.entry_in_ledger)
        answer = answer.entered(*await self._execution.use_disk(user, enter))
        svg = None
        if ask.picture is not None:
            draw = partial(jobs.draw_study, answer, ask.picture)
            svg = await self._execution.compute(user, draw)
        return shapes.StudyOut.model_validate({**answer.to_json(), "svg": svg})

    async def draw_sample(self, theme: Theme, shape: shapes.SampleShape) -> str:
        """The sample chart as SVG, drawn once a minute at most, since anybody may ask for it."""
        async with self._drawing_sample:
            svg = self._samples.get((theme, shape))
            if svg is None:
                draw = partial(jobs.draw_sample, theme, shape)
                svg = await self._execution.compute("the page", draw)
                self._samples.put((theme, shape), svg)
            return svg

    # ------------------------------------------------------------------------------ indicators

    async def list_indicators(
        self, user: str, filter: str | None = None, detail: bool = True
    ) -> Listing:
        """All that can be drawn, or what has the words of `filter` in it."""
        listing = partial(jobs.list_indicators, filter=filter or "", detail=detail)
        return await self._list_scripts(user, listing)

    async def list_my_indicators(self, user: str) -> shapes.MyIndicators:
        return await self._list_scripts(user, jobs.list_my_indicators)

    async def _list_scripts(
        self, user: str, describe: Callable[[Sequence[Script]], Answer]
    ) -> Answer:
        """The user's scripts, described; those with many parameters in a worker."""
        scripts = await self._execution.use_disk(user, partial(self._scripts.of, user))
        if sum(len(script.declared) for script in scripts) <= bodies.SMALL_BYTES:
            return describe(scripts)
        return await self._execution.compute(user, partial(describe, scripts))

    async def draw_thumbnails(self, user: str) -> shapes.Thumbnails:
        """Thumbnails: of shipped indicators drawn once, of own scripts when they changed."""
        async with self._drawing_thumbnails:
            shipped = self._thumbnails.get("")
            if shipped is None:
                draw = partial(jobs.draw_thumbnails, ())
                shipped = await self._execution.compute(user, draw, patient=True)
                self._thumbnails.put("", shipped)
        scripts = await self._execution.use_disk(user, partial(self._scripts.of, user))
        if not scripts or not self.settings.runs_scripts_of(user):
            return shipped
        newest = max(script.updated_at for script in scripts)
        key = f"{user} {len(scripts)} {newest}"
        own = self._thumbnails.get(key)
        if own is None:
            some = scripts[:MOST_THUMBNAILS]
            draw = partial(jobs.draw_thumbnails, some)
            own = await self.charts.compute(user, draw, runs=len(some), patient=True)
            self._thumbnails.put(key, own)
        return shapes.Thumbnails(thumbnails={**shipped.thumbnails, **own.thumbnails})

    async def get_indicator_source(self, user: str, name: str) -> shapes.SourceOut:
        own = await self._get_script(user, name)
        return shapes.SourceOut(
            name=own.name, source=own.source, params_schema=[dict(p) for p in own.params]
        )

    async def read_source(self, user: str, name: str) -> str:
        """The source of the user's own script of that name, or else of the builtin."""
        own = await self._execution.use_disk(user, partial(self._scripts.find, user, [name]))
        if name in own:
            return own[name].source
        if canonical(name) in forkable():
            return (await self.fork_indicator(name)).source
        return (await self._get_script(user, name)).source

    async def fork_indicator(self, builtin_name: str) -> shapes.Fork:
        source = fork(builtin_name)
        params = script.load(source).params
        return shapes.Fork(source=source, params_schema=[param.to_json() for param in params])

    async def register_indicator(
        self,
        user: str,
        name: str,
        source: str,
        params_schema: Sequence[Mapping[str, Any]] | None = None,
    ) -> shapes.Outcome:
        def register(scripts: Scripts) -> Sequence[Script]:
            return [scripts.register(user, name, source, params_schema)]

        return await self._change(user, [(name, source)], register)

    async def update_indicator(self, user: str, name: str, source: str) -> shapes.Outcome:
        await self._get_script(user, name)
        return await self._change(user, [(name, source)], lambda s: [s.update(user, name, source)])

    async def delete_indicator(self, user: str, name: str) -> shapes.Outcome:
        try:
            await self._execution.use_disk(user, partial(self._scripts.delete, user, name))
        except LibraryError as error:
            raise _unknown(name, error, DELETION) from None
        return shapes.Outcome(ok=True)

    async def history(self, user: str, name: str, sources: bool = True) -> shapes.Versions:
        read = partial(self._scripts.history, user, name)
        versions = await self._execution.use_disk(user, read)
        out = [shapes.VersionOut(**old.__dict__) for old in versions]
        if not sources:
            out = [version.model_copy(update={"source": None}) for version in out]
        return shapes.Versions(versions=out)

    async def restore(self, user: str, name: str, version: int) -> shapes.Outcome:
        versions = await self._list_versions(user, name)
        sources = [(name, earlier.source) for earlier in versions if earlier.version == version]
        return await self._change(user, sources, lambda s: [s.restore(user, name, version)])

    async def export(self, user: str) -> shapes.Library:
        export = partial(self._scripts.export, user)
        return shapes.Library.model_validate(await self._execution.use_disk(user, export))

    async def load(self, user: str, library: shapes.Library) -> shapes.Outcome:
        sources = [(entry.name, entry.source) for entry in library.scripts]
        if len(sources) > MOST_SCRIPTS:
            raise refuse("size", f"{len(sources)} scripts are more than {MOST_SCRIPTS}")
        return await self._change(user, sources, lambda s: s.load(user, library.model_dump()))

    async def _change(
        self,
        user: str,
        sources: Iterable[tuple[str, str]],
        change: Callable[[Scripts], Sequence[Script]],
    ) -> shapes.Outcome:
        """Validates the sources in workers, then makes the change with their verdicts."""
        if not self.settings.runs_scripts_of(user):
            return shapes.Outcome(ok=False, errors=[_SWITCHED_OFF])
        verdicts = {}
        for name, source in sources:
            if source not in verdicts:
                validate = partial(sandbox.validate, source, user=user, name=name)
                verdicts[source] = await self.charts.compute(user, validate, runs=1)
        try:
            scripts = Scripts(self._database, lambda _, source: verdicts[source])
            stored = await self._execution.use_disk(user, partial(change, scripts))
        except LibraryError as error:
            return shapes.Outcome(ok=False, errors=_script_problems(error.problems))
        warnings = [warning for script in stored for warning in script.warnings]
        return shapes.Outcome(ok=True, warnings=_script_problems(warnings))

    async def _list_versions(self, user: str, name: str) -> Sequence[Version]:
        return await self._execution.use_disk(user, partial(self._scripts.history, user, name))

    async def _get_script(self, user: str, name: str) -> Script:
        try:
            return await self._execution.use_disk(user, partial(self._scripts.get, user, name))
        except LibraryError as error:
            forks = canonical(name) in forkable()
            advice = "fork_indicator gives its source" if forks else REPLACEMENT
            raise _unknown(name, error, advice) from None

    # ------------------------------------------------------------------------------- own bars

    async def list_bars(self, user: str) -> shapes.MyBars:
        files = await self._execution.use_disk(user, partial(self._uploads.of, user))
        return shapes.MyBars(bars=[_describe(stored) for stored in files])

    async def put_bars(
        self, user: str, name: str, content: bytes, given: Mapping[str, Any]
    ) -> shapes.StoredBars:
        upload = Upload(name, content, given)
        facts = await self._execution.compute(user, partial(describe_upload, upload))
        most_bytes = self.settings.limits.upload_bytes
        put = partial(Uploads(self._database, lambda _: facts, most_bytes).put, user)
        return _describe(await self._execution.use_disk(user, partial(put, name, content, given)))

    async def check_bars(
        self, user: str, name: str, content: bytes, given: Mapping[str, Any]
    ) -> shapes.StoredBars:
        """What a file would be read as; it is not kept."""
        upload = Upload(name, content, given)
        facts = await self._execution.compute(user, partial(describe_upload, upload))
        return shapes.StoredBars(name=name, size=len(content), created_at=0, **facts)

    async def get_bars(self, user: str, name: str) -> bytes:
        get = partial(UploadSource(self._uploads, user).get, name)
        try:
            return (await self._execution.use_disk(user, get)).content
        except BarsError as error:
            raise refuse("name", str(error)) from None

    async def delete_bars(self, user: str, name: str) -> shapes.Outcome:
        await self._execution.use_disk(user, partial(self._uploads.delete, user, name))
        return shapes.Outcome(ok=True)


def _script_problems(problems: Iterable[Problem]) -> list[shapes.ScriptProblem]:
    return [shapes.ScriptProblem(**problem.to_json()) for problem in problems]


def _unknown(name: str, error: LibraryError, advice: str) -> VerbError:
    """A refusal with advice about a name which is a builtin's and no script's."""
    builtin = canonical(name)
    if builtin is None:
        return VerbError(error.problem)
    return VerbError(Problem("name", f"{error.message}: {builtin!r} is a builtin", advice))


def _never(*_: Any) -> Any:
    raise AssertionError("what is written has been checked in a worker")


def _describe(stored: Stored) -> shapes.StoredBars:
    facts = {key: value for key, value in stored.facts.items() if key != "given"}
    return shapes.StoredBars(
        name=stored.name, size=stored.size, created_at=stored.created_at, **facts
    )


def _describe_watchlist(kept: Watchlist) -> shapes.WatchlistOut:
    return shapes.WatchlistOut(
        name=kept.name, symbols=list(kept.symbols), updated_at=kept.updated_at
    )
