"""What worker processes do: draw a chart, or list indicators. Nothing here touches the database."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from chartpact import charts, sandbox
from chartpact.bars import Bars, BarsError, samples
from chartpact.catalogue import Catalogue, Indicator, Plan, canonical, describe, shipped
from chartpact.library.scripts import Script
from chartpact.library.upload_source import load_upload, parse_calendar
from chartpact.library.uploads import Upload
from chartpact.lookahead import prove
from chartpact.needs import BARS, CALENDAR, Fetch, Need, Supply, cut_supply
from chartpact.oneline import escape_unseen, one_line
from chartpact.params import resolve
from chartpact.problem import Failure, Problem, did_you_mean
from chartpact.render.options import Theme
from chartpact.sandbox.layers import unavailable
from chartpact.sandbox.pool import process_pool
from chartpact.scene import Scene
from chartpact.script import stock
from chartpact.server import series, shapes, thumbnails
from chartpact.server.shapes import ChartAsk, ChartOut, InlineBars
from chartpact.snapshot import Snapshot
from chartpact.sources import SourceFailed
from chartpact.sources.configuration import SourceConfigs, open_directory
from chartpact.studies import Ask, StudyAnswer, StudyResult, study

SAMPLE = "sample:es-5m"
SHOWN = ("ema_stack", "vwap", "cipher_b", "rsi")
FIRST_CHART = ("sample:btc-4h", ("supertrend", "cipher_b", "rsi"))  # that the page opens with
SHAPES = {"wide": (1200, 820), "tall": (420, 640)}  # the sample chart, for screens and phones
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # Arrow's own reserves a gigabyte at once
    "PYTHONWARNINGS": "ignore:ta kernels:RuntimeWarning",  # the server has said it
}
MOST_LETTERS = 200  # of a description in a list
MIME = {"png": "image/png", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class ChartJob:
    """All a worker needs to draw one chart."""

    user: str
    ask: ChartAsk
    plans: tuple[Plan, ...] = ()
    sources: SourceConfigs = ()
    bars: Bars | None = None  # where they have been read: from a service, or from a large body
    upload: Upload | None = None  # the user's own file, where the symbol names one
    supplies: Mapping[Need, Supply | Upload | Problem] = field(default_factory=dict)
    tz: str = "UTC"  # of a picture's axis
    most_bytes: int = 2**24  # of the answer
    to: int | None = None  # UTC ms: nothing later than this bar is known

    def load(self) -> Bars:
        """The bars of the chart, up to the last one that is asked for."""
        bars = self._load()
        return (
            bars if self.to is None else bars[: int(np.searchsorted(bars.time, self.to, "right"))]
        )

    def _load(self) -> Bars:
        ask = self.ask
        if self.upload is not None:
            return load_upload(self.user, self.upload, ask.timeframe)
        if self.bars is not None:
            bars = self.bars
        elif ask.inline_bars is not None:
            bars = read_inline_bars(ask.inline_bars)
        else:
            return open_directory(self.sources).load(ask.symbol or "", ask.timeframe)
        return bars if ask.timeframe is None else bars.resample(ask.timeframe)

    def fetch(self, need: Need) -> Supply:
        """What an indicator needs: fetched before, or at hand in this process."""
        supply = self._fetch(need)
        return supply if self.to is None else cut_supply(supply, self.load())

    def _fetch(self, need: Need) -> Supply:
        supply = self.supplies.get(need)
        if isinstance(supply, Problem):
            raise Failure(supply)
        if isinstance(supply, Upload) and need.what == CALENDAR:
            return parse_calendar(supply)
        if isinstance(supply, Upload):
            return load_upload(self.user, supply, need.timeframe or None)
        if supply is not None:
            return supply
        if need.what == CALENDAR:
            return tuple(samples.calendar(need.name))
        if need.what == BARS:
            return open_directory(self.sources).load(need.name, need.timeframe or None)
        raise SourceFailed(f"nobody fetched the readings of {need.what}")  # a worker never waits


@dataclass(frozen=True)
class Picture:
    """A finished chart: its values, its summary, and its image where one was asked for."""

    out: bytes  # a ChartOut as JSON, which the event loop passes on without parsing it
    summary: str
    image: bytes | None = None
    mime: str | None = None


@dataclass(frozen=True)
class Counted:
    """The answer of a job, or its failure, and the processor seconds that its scripts used."""

    script_s: float
    answer: Any = None
    failure: Failure | None = None
    starts: int = 0  # of sandboxes
    losses: int = 0

    def result(self) -> Any:
        if self.failure is not None:
            raise self.failure
        return self.answer


def count_script_time(job: Callable[[], Any], contracts: bool = False) -> Counted:
    """Does a job that runs scripts, or users' `contracts`; a worker does one job at a time."""
    pool = process_pool()
    starts, losses = pool.starts, pool.losses

    def read_clock() -> float:
        """Contracts are read in this very process, and scripts in the sandbox."""
        return pool.cpu_s + time.process_time() * contracts

    began_s = read_clock()
    answer, failed = None, None
    try:
        answer = job()
    except Failure as failure:
        failed = failure
    used_s = read_clock() - began_s
    return Counted(used_s, answer, failed, pool.starts - starts, pool.losses - losses)


def warm_up() -> None:
    """Draws a little of everything, so that the first chart need not wait."""
    draw_a_little()
    if not unavailable():
        warm_up_sandbox()


def draw_a_little() -> None:
    """Imports and fills what charts need."""
    charts.chart(samples.bars(SAMPLE), SHOWN, last=50).png(width=300, height=200, theme="dark")
    symbol, indicators = FIRST_CHART
    series.encode(charts.chart(samples.bars(symbol), indicators), 0, 100)


def warm_up_sandbox() -> None:
    """Tries a script, so that the sandbox runs when it is needed."""
    sandbox.validate(stock.source("cipher_b"))


@dataclass(frozen=True)
class Listing:
    """The indicators as JSON, which may be megabytes, and in words, a line each."""

    out: bytes
    text: str


def list_indicators(scripts: Sequence[Script], filter: str = "", detail: bool = True) -> Listing:
    """Builtins and the user's own scripts, which replace the builtins whose names they bear."""
    catalogue = Catalogue({script.name: script.indicator for script in scripts})
    indicators = catalogue.search(filter)
    listed = [describe(indicator, detail) for indicator in indicators]
    out = shapes.Indicators.model_validate({"indicators": listed}).model_dump_json()
    if detail and indicators:
        return Listing(out.encode(), escape_unseen(out))
    lines = [
        f"{known.name}: {one_line(known.title)}{' (yours)' if known.source == 'user' else ''}"
        for known in indicators
    ]
    if not indicators:
        names = [known.name for known in catalogue.list()]
        lines = [f"no indicator has {filter!r:.80} in its name or description"]
        lines += [question] if (question := did_you_mean(filter, names, 3)) else []
    return Listing(out.encode(), "\n".join(lines))


def list_my_indicators(scripts: Sequence[Script]) -> shapes.MyIndicators:
    return shapes.MyIndicators(
        indicators=[
            shapes.MyIndicator(
                name=script.name,
                title=str(script.meta.get("title", script.name)),
                category=str(script.meta.get("category", "panel")),
                description=str(script.meta.get("description", ""))[:MOST_LETTERS],
                created_at=script.created_at,
                updated_at=script.updated_at,
                shadows_builtin=canonical(script.name) == script.name,
            )
            for script in scripts
        ]
    )


def draw_sample(theme: Theme, shape: str) -> str:
    """The sample chart of the page."""
    width, height = SHAPES[shape]
    chart = charts.chart(samples.bars(SAMPLE), SHOWN, last=width // 6)
    return chart.svg(width=width, height=height, theme=theme)


def find_needs(job: ChartJob) -> tuple[Need, ...]:
    """What the indicators of the chart need besides its bars, each thing once."""
    bars = job.load()
    needs = (need for plan in job.plans for need in plan.needs(bars).values())
    return tuple(dict.fromkeys(needs))


def draw(job: ChartJob) -> Picture:
    """The chart the job asks for."""
    ask, bars = job.ask, job.load()
    if len(bars) == 0:
        raise BarsError(
            f"there is no complete {bars.timeframe} bar among these: ask for a shorter timeframe"
        )
    chart = charts.draw(bars, job.plans, ask.bars, job.fetch)
    values = chart.to_json(series=ask.format == "series", digest=True)
    summary = chart.summary()
    out = ChartOut.model_validate({**values, "summary": summary}).model_dump_json().encode()
    look: dict[str, Any] = {**ask.model_dump(include={"width", "height", "theme"}), "tz": job.tz}
    image = None
    if ask.format == "png":
        image = chart.png(**look)
    elif ask.format == "svg":
        image = chart.svg(**look).encode()
    _check_size(max(len(out), len(image or b"")), job.most_bytes)
    return Picture(out, summary, image, MIME.get(ask.format))


def record(job: ChartJob) -> Snapshot:
    """The snapshot of the job. Raises the first error if all indicators failed."""
    chart = charts.draw(job.load(), job.plans, job.ask.bars, job.fetch)
    for drawn in chart.drawn:
        if chart.failed and drawn.error is not None:
            raise Failure(drawn.error)
    return chart.snapshot()


def encode_series(job: ChartJob, first: int | None, last: int | None, known: int) -> bytes:
    """The chart as columns: whole, with the values of its last bars, or a range of bars."""
    bars = job.load()
    if len(bars) == 0:
        raise BarsError(
            f"there is no complete {bars.timeframe} bar among these: ask for a shorter timeframe"
        )
    chart = charts.draw_whole(bars, job.plans, job.ask.bars, job.fetch)
    end = len(bars) if last is None else min(last, len(bars))
    start = max(0, end - known) if first is None else min(first, end)
    out = series.encode(chart, start, end, part=first is not None)
    _check_size(len(out), job.most_bytes)
    return out


def find_bars_after(job: ChartJob, after: int) -> shapes.BarsAfter:
    """How many bars came after one, and the bar that is still forming of finer ones."""
    bars = job.load()
    closed = len(bars) - int(np.searchsorted(bars.time, after, "right"))
    forming = None
    if job.ask.timeframe is not None and len(bars):
        finer = replace(job, ask=job.ask.model_copy(update={"timeframe": None})).load()
        if len(finer) and finer.time[-1] > bars.time[-1]:
            last = finer.resample(job.ask.timeframe, partial=True)[-1]
            if last.time > bars.time[-1]:
                prices = {name: float(getattr(last, name)) for name in ("open", "high", "low")}
                forming = shapes.FormingBar(time=int(last.time), close=float(last.close), **prices)
    return shapes.BarsAfter(closed=closed, forming=forming)


def _check_size(size: int, most: int) -> None:
    if size > most:
        message = f"the answer would have {size} bytes and may have {most}"
        raise Failure(Problem("size", message, "ask for fewer bars or indicators"))


def prove_plan(job: ChartJob, fewest: int, seconds: float) -> shapes.ProofOut:
    """Whether the one indicator of a job rewrites its past on the last bars."""
    [plan] = job.plans
    bars = job.load()[-job.ask.bars :]
    fetch = cache(job.fetch)

    def run(prefix: Bars) -> Scene:
        fetch_cut = partial(_fetch_cut, fetch, prefix)
        drawn = charts.draw_whole(prefix, [plan], len(prefix), fetch_cut).drawn[0]
        if drawn.scene is None:
            raise Failure(drawn.error or Problem("crash", "it drew nothing"))
        return drawn.scene

    proof = prove(run, bars, fewest=fewest, seconds=seconds)
    late = f"; {len(proof.late)} kinds of drawing are known later than drawn" if proof.late else ""
    failed = f"; it cannot be run {proof.failed}" if proof.failed else ""
    sentence = (
        f"It does not rewrite its past: {proof.prefixes} prefixes of {proof.bars:,} bars agree"
        f"{late}{failed}"
        if proof.rewritten is None
        else f"It rewrites its past: {proof.rewritten}"
    )
    return shapes.ProofOut.model_validate({**proof.to_json(), "sentence": sentence})


def study_plan(job: ChartJob, ask: Ask, most: int, prefixes: int) -> StudyAnswer:
    """What followed the signals of the one indicator of a job, on the last bars."""
    [plan] = job.plans

    def plan_with(values: Mapping[str, Any]) -> Plan:
        assert plan.indicator is not None
        params = resolve(plan.indicator.params, {**plan.params, **values}, plan.name)
        return replace(plan, params=params)

    return study(job.load()[-most:], plan_with, ask, job.fetch, prefixes)


def draw_study(answer: StudyAnswer, theme: Theme) -> str:
    """The picture of a study, as SVG."""
    return StudyResult(answer).svg(theme)


def _fetch_cut(fetch: Fetch, bars: Bars, need: Need) -> Supply:
    return cut_supply(fetch(need), bars)


def draw_thumbnails(scripts: Sequence[Script]) -> shapes.Thumbnails:
    """Small pictures of what comes with the package, or of scripts of a user's."""
    own: list[Indicator] = [script.indicator for script in scripts]
    known = own or list(shipped().values())
    pictures: dict[str, list[shapes.ThumbnailStroke]] = {}
    for indicator in known:
        try:
            pictures |= thumbnails.draw([indicator], samples.bars(SAMPLE))
        except (Failure, BarsError, ArithmeticError):  # a picture is missing, and no more
            pictures[indicator.name] = []
    return shapes.Thumbnails(thumbnails=pictures)


def read_inline_bars(inline: InlineBars) -> Bars:
    """The caller's own bars, checked like any others."""
    columns = inline.model_dump(exclude={"symbol", "timeframe", "market"}, exclude_none=True)
    bars = Bars.from_columns(
        columns,
        symbol=inline.symbol,
        timeframe=inline.timeframe or None,
        market=inline.market,
    )
    return replace(bars, source="inline")
