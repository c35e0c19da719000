"""A chart that was asked for: bars, and for each indicator its scene or its error."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, Unpack

from chartpact import frames, render, sources, summary
from chartpact.bars import Bars, BarsError, BarsLike
from chartpact.catalogue import Catalogue, Indicator, Plan, ScriptIndicator, parse_requests
from chartpact.clock.errors import ClockError
from chartpact.needs import Fetch, Need, Supplies, gather
from chartpact.params import resolve
from chartpact.prices import STORED
from chartpact.problem import Failure, Problem
from chartpact.render.options import PICTURE_BARS, LookOptions
from chartpact.request import Asked
from chartpact.scene import Drawn, Scene, SceneError
from chartpact.snapshot import Snapshot, study
from chartpact.ta import TaError

Drawing = TypeVar("Drawing", str, bytes)

MOST_NAMED = 6  # indicators in the repr of a chart
LARGEST_SHARP = 2048  # pixels of a picture that a notebook shows with twice as many
_FAILURES = (BarsError, ClockError, TaError, SceneError, ArithmeticError)  # of one indicator alone


@dataclass(frozen=True, repr=False)
class Chart:
    """The bars in view, what every indicator drew on them, and the trend in words.

    `redraw` draws what depends on the view for a later first bar. A chart that was cut has none.
    """

    bars: Bars
    drawn: tuple[Drawn, ...] = ()
    trend: str = ""
    history: Bars | None = None  # all bars, where those in view are the last of them
    redraw: Callable[[int], tuple[Drawn, ...]] | None = field(
        default=None, repr=False, compare=False
    )
    look: Mapping[str, Any] = field(default_factory=dict)  # how pictures look unless told

    @property
    def failed(self) -> bool:
        """Whether indicators were asked for and not one of them drew."""
        return bool(self.drawn) and all(drawn.error is not None for drawn in self.drawn)

    def to_json(self, series: bool = True, digest: bool = False) -> dict[str, Any]:
        """The chart for programs.

        `digest`, or no `series`, adds the last bar, the trend, last values and the latest signals.
        """
        view: dict[str, Any] = {
            "symbol": self.bars.symbol,
            "timeframe": self.bars.timeframe,
            "synthetic": self.bars.synthetic,
            "source": self.bars.source,
        }
        if self.bars.fetched is not None:
            view["fetched"] = self.bars.fetched
        if digest or not series:
            view |= {"bars": len(self.bars), "last": summary.last_bar(self.bars)}
            view["trend"] = self.trend
        if series:
            view["time"] = self.bars.time.tolist()
        times = (self.history or self.bars).time
        view["indicators"] = []
        for drawn in self.drawn:
            data = drawn.to_json(series)
            if drawn.scene is not None and (digest or not series):
                data |= summary.digest(drawn.scene, times, len(times) - len(self.bars))
            view["indicators"].append(data)
        return view

    def summary(self) -> str:
        """The chart in a few lines, for a reader or a language model."""
        return summary.text(self.bars, self.drawn, self.trend)

    def snapshot(self) -> Snapshot:
        """The drawn objects as a contract reads them, at the close of the last bar."""
        bars = self.bars
        facts: dict[str, Any] = {
            "symbol": bars.symbol,
            "timeframe": bars.timeframe,
            "confirmed": True,
            "timezone": "UTC",
            "day_roll": bars.day_roll,
        }
        if len(bars):
            facts |= {"last_bar": len(bars) - 1, "last_time": int(bars.time[-1])}
            facts |= {"first_time": int(bars.time[0]), "last_price": float(bars.close[-1])}
            if len(bars) > 1:
                facts["previous_time"] = int(bars.time[-2])
            if bars.timeframe:
                facts["as_of"] = int(bars.close_time[-1])
        if bars.tick_size is not None:
            facts["tick_size"] = bars.tick_size
        studies = [study(drawn) for drawn in self.drawn if drawn.scene is not None]
        return Snapshot.of_scenes(facts, studies)

    def view(self, last: int | None = None) -> "Chart":
        """The chart of its last bars; unset: 200, or all of those that were asked for."""
        if last is None:
            last = len(self.bars) if self.redraw is None else PICTURE_BARS
        first = max(0, len(self.bars) - last)
        if not first:
            return self
        drawn = self.redraw(first) if self.redraw else tuple(_cut(one, first) for one in self.drawn)
        history = self.history or self.bars
        return replace(self, bars=self.bars[first:], drawn=drawn, history=history, redraw=None)

    def svg(
        self,
        *,
        bars: int | None = None,
        **look: Unpack[LookOptions],
    ) -> str:
        """The picture as SVG: the last `bars`, 200 of a chart that was made without `last`.

        Unset options come from `chart`, then from the defaults of [pictures](../pictures.md).
        """
        return self._picture(render.svg, bars, look)

    def png(
        self,
        *,
        bars: int | None = None,
        **look: Unpack[LookOptions],
    ) -> bytes:
        """The picture as PNG, with the options of `svg`; `scale=2` doubles its pixels."""
        return self._picture(render.png, bars, look)

    def save(
        self,
        path: str | PathLike[str],
        *,
        bars: int | None = None,
        **look: Unpack[LookOptions],
    ) -> Path:
        """Writes the picture, PNG or SVG by the ending of the path; the options are of `svg`."""
        target = Path(path)
        ending = target.suffix.lower()
        if ending not in (".png", ".svg"):
            raise render.RenderError(f"{target.name!r} ends neither in .png nor in .svg")
        if ending == ".png":
            target.write_bytes(self._picture(render.png, bars, look))
        else:
            target.write_bytes(self._picture(render.svg, bars, look).encode())
        return target

    def _picture(
        self, draw: Callable[..., Drawing], bars: int | None, look: Mapping[str, Any]
    ) -> Drawing:
        asked = {name: value for name, value in look.items() if value is not None}
        if "width" in asked or "height" in asked:  # they go before the size of the chart's own
            asked = {"size": None, **asked}
        return draw(self.view(bars), **{**self.look, **asked})

    def _repr_svg_(self) -> str:  # how a notebook shows the chart
        return self._picture(render.svg, None, {"fit": True})

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:  # where it shows no SVG
        look = render.read_look(self.look)
        small = max(look.width, look.height or 0) <= LARGEST_SHARP
        scale = 2 if small else 1  # for screens of high density
        return self._picture(render.png, None, {"scale": scale}), {"width": look.width}

    def __repr__(self) -> str:
        bars = self.bars
        what = " ".join(filter(None, (bars.symbol, bars.timeframe))) or "(no symbol)"
        names = [f"{d.id} (failed)" if d.error is not None else d.id for d in self.drawn]
        more = f", and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        drawn = f": {', '.join(names[:MOST_NAMED])}{more}" if names else ""
        return f"<Chart {what}, {len(bars)} bars{drawn}>"

    def to_pandas(self) -> Any:
        """A pandas DataFrame of the bars in view and of every indicator's series.

        A series is called `ID: TITLE`, as in `rsi:period=7: RSI`.
        """
        return frames.to_pandas(self._series(), self.bars.time)

    def to_polars(self) -> Any:
        """The polars DataFrame of the same."""
        return frames.to_polars(self._series(), self.bars.time)

    def _series(self) -> dict[str, Any]:
        columns: dict[str, Any] = {name: getattr(self.bars, name) for name in STORED}
        for drawn in self.drawn:
            if drawn.scene is not None:
                own = drawn.scene.series(len(self.bars))
                columns |= {f"{drawn.id}: {name}": values for name, values in own.items()}
        return columns


def chart(
    bars: BarsLike,
    indicators: Asked | Iterable[Asked] = (),
    catalogue: Catalogue | None = None,
    *,
    last: int | None = None,
    fetch: Fetch | None = None,
    **look: Unpack[LookOptions],
) -> Chart:
    """The chart of these indicators, computed on all bars and cut to the last ones.

    `bars` may be a path or a frame of pandas or polars. Without `last` the chart has all of them,
    and its picture shows the last 200: `save("x.png", bars=500)` shows more.

    `look`, such as `theme="light"`, is how pictures of it look, in a notebook and where `save` is
    not told otherwise: `size`, `width`, `height`, `theme`, `kind`, `tz`, `log`, `volume`,
    `sessions` and `scale`.

    `catalogue` is what can be asked for: the builtins, unless one with scripts of your own is
    given. The path of a script may stand for a name: `./mine.star:n=5`. `fetch` gets what
    indicators need besides the bars: any name that `load` takes, and readings from the services
    that the environment names.

    >>> import chartpact as cp
    >>> [drawn.id for drawn in cp.chart(cp.load("sample:es-5m"), ["rsi", "rsi:period=7"]).drawn]
    ['rsi', 'rsi:period=7']
    """
    requests = parse_requests(indicators)
    plans = (catalogue or Catalogue()).with_files(requests).plan(requests)
    if look:
        render.read_look(look)  # a wrong one is refused here, and not by a notebook
    whole = sources.to_bars(bars)
    fetch = fetch or sources.fetch_side_by_side(_find_needs(whole, plans))
    return replace(draw(whole, plans, last, fetch), look=look)


def _find_needs(bars: Bars, plans: Iterable[Plan]) -> Iterator[Need]:
    for plan in plans:
        with suppress(*_FAILURES, Failure):  # told where the indicator is drawn
            yield from plan.needs(bars).values()


def draw_whole(bars: Bars, plans: Iterable[Plan], last: int, fetch: Fetch) -> Chart:
    """The chart of all bars, of which the last ones are in view: nothing is cut."""
    fetch_once, first = cache(fetch), max(0, len(bars) - last)
    drawn = tuple(_draw(bars, plan, first, fetch_once, whole=True) for plan in plans)
    return Chart(bars, drawn, summary.trend(bars), bars)


def draw(bars: Bars, plans: Iterable[Plan], last: int | None, fetch: Fetch) -> Chart:
    """The chart of indicators whose requests have been parsed and resolved."""
    planned, fetch_once = tuple(plans), cache(fetch)
    first = 0 if last is None else max(0, len(bars) - last)
    drawn = tuple(_draw(bars, plan, first, fetch_once) for plan in planned)
    redraw = partial(_redraw, bars, planned, drawn, fetch_once) if last is None else None
    return Chart(bars[first:], drawn, summary.trend(bars), bars, redraw)


def _redraw(
    bars: Bars, plans: Sequence[Plan], drawn: Sequence[Drawn], fetch: Fetch, first: int
) -> tuple[Drawn, ...]:
    """The indicators seen from bar `first` on: computed anew where the view matters, or cut."""
    return tuple(
        _draw(bars, plan, first, fetch) if _depends_on_view(plan) else _cut(whole, first)
        for plan, whole in zip(plans, drawn, strict=True)
    )


def _depends_on_view(plan: Plan) -> bool:
    return isinstance(plan.indicator, ScriptIndicator) or (
        plan.indicator is not None and plan.indicator.of_view
    )


def _cut(drawn: Drawn, first: int) -> Drawn:
    return drawn if drawn.scene is None else replace(drawn, scene=drawn.scene.cut(first))


def _draw(bars: Bars, plan: Plan, first: int, fetch: Fetch, whole: bool = False) -> Drawn:
    indicator = plan.indicator
    if indicator is None or plan.problem is not None:
        return Drawn(plan.id, plan.name, plan.params, error=plan.problem)
    try:
        supplies = gather(plan.needs(bars), fetch)
        if isinstance(indicator, ScriptIndicator):
            drawn = draw_script(bars, plan, indicator, supplies, first)[0]
        else:
            scene = indicator.draw(bars, plan.params, supplies, first)
            drawn = replace(_undrawn(plan, indicator), scene=scene)
        return drawn if whole else _cut(drawn, first)
    except _FAILURES as error:
        hint = "ask for it with other parameters"
        problem = Problem("value", f"{plan.name}: {error}", hint)
    except Failure as failure:
        problem = failure.problem
    return replace(_undrawn(plan, indicator), error=problem)


def draw_script(
    bars: Bars, plan: Plan, script: ScriptIndicator, supplies: Supplies, first: int
) -> tuple[Drawn, tuple[str, ...]]:
    """What one run of a script draws, not cut, and what it printed; raises what stopped it."""
    result = script.run(bars, plan.params, supplies, first)
    drawn = _undrawn(plan, script)
    drawn = replace(drawn, scene=result.scene, steps=result.steps, cpu_ms=result.cpu_ms)
    return drawn, result.log


def _undrawn(plan: Plan, indicator: Indicator) -> Drawn:
    """All that is known of an indicator before it is drawn."""
    return Drawn(
        plan.id,
        plan.name,
        plan.params,
        title=indicator.title,
        short_title=indicator.short_title,
        overlay=indicator.overlay,
        defaults={param.name: param.default for param in indicator.params},
    )


def indicator(name: str, **params: Any) -> Callable[[BarsLike], Scene]:
    """A function from bars to the scene the indicator draws on them.

    >>> import chartpact as cp
    >>> scene = cp.indicator("rsi", period=7)(cp.load("sample:es-5m"))
    >>> scene.plots[0].title
    'RSI'
    """
    known = Catalogue().resolve(name)
    values = resolve(known.params, params, known.name)

    def compute(source: BarsLike) -> Scene:
        bars = sources.to_bars(source)
        return known.draw(bars, values, gather(known.needs(bars, values), sources.fetch))

    return compute
