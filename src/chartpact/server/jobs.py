"""What worker processes do: draw a chart, or check a script. Nothing here touches the database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chartpact import indicators, sandbox
from chartpact.bars import Bars, BarsError, samples
from chartpact.charts import chart
from chartpact.fetching import Fetch
from chartpact.indicators import IndicatorError, canonical
from chartpact.library import Script, mine
from chartpact.library.kept import held, kept_indicator
from chartpact.library.uploads import Upload
from chartpact.request import Request
from chartpact.script import stock
from chartpact.server.shapes import (
    ChartAsk,
    ChartOut,
    Indicators,
    InlineBars,
    Mine,
    MyIndicators,
)
from chartpact.sources import configured
from chartpact.sources.configured import Descriptions

SAMPLE = "sample:es-5m"
SHOWN = ("ema_stack", "vwap", "cipher_b", "rsi")
SHAPES = {"wide": (1200, 820), "tall": (420, 640)}  # the sample chart, for screens and phones
ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # Arrow's own reserves a gigabyte at once
MIME = {"png": "image/png", "svg": "image/svg+xml"}


def requests(ask: ChartAsk) -> Iterator[Request]:
    """The indicators asked for, of those that are asked for well."""
    for each in ask.indicators:
        try:
            yield Request.parse(each if isinstance(each, str) else each.model_dump())
        except IndicatorError:
            continue  # told beside the good results, when the chart is drawn


@dataclass(frozen=True)
class ChartJob:
    """All a worker needs to draw one chart."""

    user: str
    ask: ChartAsk
    sources: Descriptions = ()
    scripts: tuple[Script, ...] = ()  # the user's own, of those that were asked for
    barred: tuple[str, ...] = ()  # names of scripts that may not run
    others: tuple[str, ...] = ()  # names of the user's that could be meant by an unknown one
    uploads: Mapping[str, Upload] = field(default_factory=dict)  # by symbol, likewise
    fetched: Mapping[str, Bars | Exception] = field(default_factory=dict)  # over a network
    handed: Bars | None = None  # inline, where they have been read already
    most_bytes: int = 2**24  # of the answer

    def symbols(self) -> list[str]:
        """Every symbol whose bars the chart needs: its own, then those its scripts compare."""
        names: list[Any] = [self.ask.symbol]
        scripts = {script.name: script for script in self.scripts}
        for request in requests(self.ask):
            script = scripts.get(request.name) or scripts.get(canonical(request.name) or "")
            for param in script.params if script else ():
                if param.get("type") == "symbol":
                    names.append(request.given.get(param.get("name", "")) or param.get("default"))
        return list(dict.fromkeys(name for name in names if isinstance(name, str)))

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        """The bars of a name, at their own timeframe or the one asked for."""
        if symbol in self.uploads:
            return mine.read_bars(self.user, self.uploads[symbol], timeframe)
        found = self.fetched.get(symbol)
        if isinstance(found, Exception):
            raise found
        if found is not None:
            return _at(found, timeframe)
        return configured.catalog(self.sources).load(symbol, timeframe)


class TooLarge(Exception):
    """The chart says more than an answer may hold."""


@dataclass(frozen=True)
class Picture:
    """A finished chart: what it says, and its image where one was asked for."""

    out: bytes  # a ChartOut as JSON: whoever passes it on need not know what is in it
    summary: str
    image: bytes | None = None
    mime: str | None = None


def ready() -> None:
    """Draws a little of everything, so that the first chart asked for need not wait for it."""
    held()
    chart(samples.bars(SAMPLE), SHOWN, last=50).png(width=300, height=200, theme="dark")


def ready_for_scripts() -> None:
    """Tries a script, so that the sandbox is there when it is needed."""
    sandbox.validate(stock.source(stock.NAMES[0]))


def list_indicators(mine: Sequence[Script]) -> bytes:
    """Builtins and the user's own scripts, which take the place of those whose names they bear."""
    kept = [kept_indicator(each) for each in mine]
    named = {each.name: each for each in [*indicators.list_indicators(), *kept]}
    listed = [indicators.describe(named[name]) for name in sorted(named)]
    return Indicators.model_validate({"indicators": listed}).model_dump_json().encode()


def list_my_indicators(mine: Sequence[Script]) -> MyIndicators:
    builtin = {each.name for each in indicators.list_indicators()}
    return MyIndicators(
        indicators=[
            Mine(
                name=each.name,
                title=str(each.meta.get("title", each.name)),
                category=str(each.meta.get("category", "panel")),
                description=str(each.meta.get("description", "")),
                created_at=each.created_at,
                updated_at=each.updated_at,
                shadows_builtin=each.name in builtin,
            )
            for each in mine
        ]
    )


def sample(theme: str, shape: str) -> str:
    """The sample chart, drawn now."""
    width, height = SHAPES[shape]
    drawn = chart(samples.bars(SAMPLE), SHOWN, last=width // 6)
    return drawn.svg(width=width, height=height, theme=theme)


def draw(job: ChartJob) -> Picture:
    """The chart the job asks for."""
    ask = job.ask
    bars = _bars(job)
    if len(bars) == 0:
        raise BarsError(
            f"there is no complete {bars.timeframe} bar among these: ask for a shorter timeframe"
        )
    asked = [each if isinstance(each, str) else each.model_dump() for each in ask.indicators]
    fetch = Fetch(job.load, samples.calendar)
    with held().holding(job.user, job.scripts, fetch, job.barred, job.others):
        drawn = chart(bars, asked, last=ask.bars, user=job.user)
    told = drawn.to_json(series=ask.format == "series", digest=True)
    summary = drawn.summary()
    out = ChartOut.model_validate({**told, "summary": summary}).model_dump_json().encode()
    look = {"width": ask.width, "height": ask.height, "theme": ask.theme}
    image = None
    if ask.format == "png":
        image = drawn.png(**look)
    elif ask.format == "svg":
        image = drawn.svg(**look).encode()
    size = max(len(out), len(image or b""))
    if size > job.most_bytes:
        raise TooLarge(
            f"the answer would have {size} bytes and may have {job.most_bytes}: "
            "ask for fewer bars or indicators"
        )
    return Picture(out, summary, image, MIME.get(ask.format))


def _bars(job: ChartJob) -> Bars:
    if job.handed is not None:
        return _at(job.handed, job.ask.timeframe)
    if job.ask.inline_bars is not None:
        return _at(inline_bars(job.ask.inline_bars), job.ask.timeframe)
    return job.load(job.ask.symbol or "", job.ask.timeframe)


def _at(bars: Bars, timeframe: str | None) -> Bars:
    return bars if timeframe is None else bars.resample(timeframe)


def inline_bars(given: InlineBars) -> Bars:
    """The caller's own bars, checked like any others."""
    columns = given.model_dump(exclude={"symbol", "timeframe"}, exclude_none=True)
    bars = Bars.from_columns(columns, symbol=given.symbol, timeframe=given.timeframe or None)
    return replace(bars, source="inline")
