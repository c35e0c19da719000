"""A chart that was asked for: bars, and for each indicator its scene or its error."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from chartpact import summary
from chartpact.bars import Bars, BarsError
from chartpact.indicators import Indicator, Metered, resolve
from chartpact.params import resolve as resolve_params
from chartpact.problem import Failure, Problem
from chartpact.request import Asked, Request, echo, format_request, make_id
from chartpact.scene import Drawn, Scene, SceneError
from chartpact.snapshot import Snapshot, study
from chartpact.ta import TaError


@dataclass(frozen=True)
class Chart:
    """The bars in view, what every indicator drew on them, and the trend in words."""

    bars: Bars
    drawn: tuple[Drawn, ...] = ()
    trend: str = ""
    history: Bars | None = None  # all bars, where those in view are the last of them

    @property
    def failed(self) -> bool:
        """Whether indicators were asked for and not one of them drew."""
        return bool(self.drawn) and all(each.error is not None for each in self.drawn)

    def to_json(self, series: bool = True, digest: bool = False) -> dict[str, Any]:
        """The chart for programs; with `digest`, or without `series`, it tells of the last bar."""
        view: dict[str, Any] = {
            "symbol": self.bars.symbol,
            "timeframe": self.bars.timeframe,
            "synthetic": self.bars.synthetic,
        }
        if digest or not series:
            view |= {"bars": len(self.bars), "last": summary.last_bar(self.bars)}
            view["trend"] = self.trend
        if series:
            view["time"] = self.bars.time.tolist()
        return {
            **view,
            "indicators": [_indicator_json(drawn, series, digest) for drawn in self.drawn],
        }

    def summary(self) -> str:
        """The chart in a few lines, for a reader or a language model."""
        return summary.text(self)

    def snapshot(self) -> Snapshot:
        """The drawn objects as a contract reads them, at the close of the last bar."""
        bars = self.bars
        facts: dict[str, Any] = {
            "symbol": bars.symbol,
            "timeframe": bars.timeframe,
            "confirmed": True,
            "timezone": "UTC",
        }
        if len(bars):
            facts |= {"last_bar": len(bars) - 1, "last_time": int(bars.time[-1])}
            if bars.timeframe:
                facts["as_of"] = int(bars.close_time[-1])
        if bars.tick_size is not None:
            facts["tick_size"] = bars.tick_size
        studies = [study(drawn) for drawn in self.drawn if drawn.scene is not None]
        return Snapshot.of_scenes(facts, studies)

    def svg(self, **look: Any) -> str:
        """The picture as SVG; `look`: size, theme, kind, tz, log, volume, scale."""
        from chartpact import render

        return render.svg(self, **look)

    def png(self, **look: Any) -> bytes:
        """The picture as PNG; `look` as for `svg`."""
        from chartpact import render

        return render.png(self, **look)

    def save(self, path: str | PathLike[str], **look: Any) -> Path:
        """Writes the picture, PNG or SVG by the ending of the path."""
        from chartpact import render

        target = Path(path)
        ending = target.suffix.lower()
        if ending not in (".png", ".svg"):
            raise render.RenderError(f"{target.name!r} ends neither in .png nor in .svg")
        data = self.png(**look) if ending == ".png" else self.svg(**look).encode()
        target.write_bytes(data)
        return target

    def _repr_svg_(self) -> str:  # how a notebook shows the chart
        return self.svg()


def _indicator_json(drawn: Drawn, series: bool, digest: bool) -> dict[str, Any]:
    """An indicator for programs; with `digest`, or without `series`, last values and signals."""
    data = drawn.to_json(series)
    if drawn.scene is not None and (digest or not series):
        data |= summary.digest(drawn.scene)
    return data


def chart(
    bars: Bars,
    indicators: Asked | Iterable[Asked] = (),
    *,
    last: int | None = None,
    user: str | None = None,
) -> Chart:
    """The chart of these indicators, computed on all bars and cut to the last ones.

    >>> import chartpact as cp
    >>> [each.id for each in cp.chart(cp.load("sample:es-5m"), ["rsi", "rsi:period=7"]).drawn]
    ['rsi', 'rsi:period=7']
    """
    first = 0 if last is None else max(0, len(bars) - last)
    asked = [indicators] if isinstance(indicators, str | Mapping | Request) else indicators
    drawn: dict[str, Drawn] = {}
    for each in (_draw(bars, one, first, user) for one in asked):
        further = (f"{each.id}#{count}" for count in itertools.count(2))
        own = next(name for name in itertools.chain([each.id], further) if name not in drawn)
        drawn[own] = replace(each, id=own)
    return Chart(bars[first:], tuple(drawn.values()), summary.trend(bars), bars)


def _draw(bars: Bars, asked: Asked, first: int, user: str | None) -> Drawn:
    name, given = f"{asked!s:.120}", {}
    try:
        request = Request.parse(asked)
        name, given = request.name, echo(request.given)
        found = resolve(request.name, user)
        name, given = found.name, echo(request.given, found.params)
        values = resolve_params(found.params, request.given, found.name)
    except Failure as failure:
        return Drawn(format_request(name, given), name, given, error=failure.problem)
    drawn = Drawn(
        make_id(name, found.params, values),
        name,
        values,
        title=found.title,
        short_title=getattr(found, "short_title", None),
        overlay=found.overlay,
        defaults={param.name: param.default for param in found.params},
    )
    try:
        scene, steps = _computed(found, bars, values)
        return replace(drawn, scene=scene.cut(first), steps=steps)
    except Failure as failure:
        return replace(drawn, error=failure.problem)
    except (BarsError, TaError, SceneError, ArithmeticError) as error:
        problem = Problem("value", f"{name}: {error}", "ask for it with other parameters")
        return replace(drawn, error=problem)


def _computed(found: Indicator, bars: Bars, values: Mapping[str, Any]) -> tuple[Scene, int | None]:
    if isinstance(found, Metered):
        result = found.result(bars, values)
        return result.scene, result.steps
    return found.compute(bars, values), None
