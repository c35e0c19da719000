"""What worker processes do: draw a chart, or check a script. Nothing here touches the database."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from chartpact import indicators
from chartpact.bars import Bars, BarsError, load, samples
from chartpact.charts import chart
from chartpact.indicators import Indicator, Param
from chartpact.library import Script
from chartpact.script.extras import SAMPLES, Fetch
from chartpact.script.indicator import ScriptIndicator
from chartpact.server.shapes import (
    ChartAsk,
    ChartOut,
    InlineBars,
)
from chartpact.sources.catalog import Catalog, Folder

MIME = {"png": "image/png", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Upload:
    """Bars a user put in store: a CSV file's bytes."""

    name: str
    content: bytes


@dataclass(frozen=True)
class ChartJob:
    """All a worker needs to draw one chart."""

    user: str
    ask: ChartAsk
    folders: Mapping[str, Path]
    scripts: tuple[Script, ...] = ()  # the user's own, of those that were asked for
    upload: Upload | None = None


@dataclass(frozen=True)
class Picture:
    """A finished chart: what it says, and its image where one was asked for."""

    out: ChartOut
    image: bytes | None = None
    mime: str | None = None


class _Held:
    """The scripts of the job under way, offered to the one door indicators come through."""

    def __init__(self) -> None:
        self._user: str | None = None
        self._scripts: dict[str, Script] = {}
        self._fetch = SAMPLES

    @contextmanager
    def holding(self, user: str, scripts: Iterable[Script], fetch: Fetch) -> Iterator[None]:
        self._user, self._scripts = user, {script.name: script for script in scripts}
        self._fetch = fetch
        try:
            yield
        finally:
            self._user, self._scripts = None, {}

    def find(self, name: str, user: str | None) -> Indicator | None:
        if user is None or user != self._user or name not in self._scripts:
            return None
        return kept_indicator(self._scripts[name], self._fetch)

    def list(self, user: str | None) -> list[Indicator]:
        if user is None or user != self._user:
            return []
        return [kept_indicator(script, self._fetch) for script in self._scripts.values()]


def kept_indicator(script: Script, fetch: Fetch = SAMPLES) -> ScriptIndicator:
    """A script from the library as an indicator, by what was noted when it was registered."""
    params = tuple(Param.from_json(each) for each in script.params)
    return ScriptIndicator(
        script.name, script.source, params, script.meta, user=script.user, fetch=fetch
    )


@cache
def _held() -> _Held:
    held = _Held()
    indicators.provide(held)
    return held


def draw(job: ChartJob) -> Picture:
    """The chart the job asks for."""
    ask = job.ask
    bars = _bars(job)
    if ask.timeframe is not None and ask.timeframe != bars.timeframe:
        bars = bars.resample(ask.timeframe)
    asked = [each if isinstance(each, str) else each.model_dump() for each in ask.indicators]
    catalog = _catalog(job)
    fetch = Fetch(catalog.load, samples.calendar)
    with _held().holding(job.user, job.scripts, fetch):
        drawn = chart(bars, asked, last=ask.bars, user=job.user)
    told = drawn.to_json(series=ask.format == "series")
    out = ChartOut.model_validate({**told, "summary": drawn.summary()})
    look = {"width": ask.width, "height": ask.height, "theme": ask.theme}
    if ask.format == "png":
        return Picture(out, drawn.png(**look), MIME["png"])
    if ask.format == "svg":
        return Picture(out, drawn.svg(**look).encode(), MIME["svg"])
    return Picture(out)


def _bars(job: ChartJob) -> Bars:
    if job.ask.inline is not None:
        return inline_bars(job.ask.inline)
    if job.upload is not None:
        return uploaded_bars(job.upload)
    return _catalog(job).load(job.ask.symbol or "")


def _catalog(job: ChartJob) -> Catalog:
    return Catalog({name: Folder(name, path) for name, path in job.folders.items()})


def uploaded_bars(upload: Upload) -> Bars:
    """The bars in a user's file."""
    with NamedTemporaryFile(suffix=".csv") as file:
        file.write(upload.content)
        file.flush()
        try:
            return load(file.name, symbol=upload.name)
        except BarsError as error:
            named = str(error).replace(Path(file.name).name, upload.name)
            raise BarsError(named) from None


def inline_bars(given: InlineBars) -> Bars:
    """The caller's own bars, checked like any others."""
    columns = given.model_dump(exclude={"symbol", "timeframe"}, exclude_none=True)
    return Bars.from_columns(columns, symbol=given.symbol, timeframe=given.timeframe or None)
