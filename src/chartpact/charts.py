"""A chart that was asked for: bars, and for each indicator its scene or its error."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from chartpact.bars import Bars
from chartpact.indicators import Indicator, IndicatorError, resolve
from chartpact.indicators.params import resolve as resolve_params
from chartpact.indicators.requests import Request, identity
from chartpact.scene import Scene

Asked = str | Mapping[str, Any] | Request


@dataclass(frozen=True)
class Drawn:
    """One indicator of a chart: what it drew, or why it could not."""

    id: str
    name: str
    params: Mapping[str, Any]
    indicator: Indicator | None = None
    scene: Scene | None = None
    error: IndicatorError | None = None

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {"id": self.id, "name": self.name, "params": dict(self.params)}
        if self.error is not None:
            data["error"] = self.error.to_json()
        elif self.scene is not None:
            data["scene"] = self.scene.to_json()
        return data


@dataclass(frozen=True)
class Chart:
    """The bars in view and what every indicator drew on them."""

    bars: Bars
    drawn: tuple[Drawn, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "symbol": self.bars.symbol,
            "timeframe": self.bars.timeframe,
            "time": self.bars.time.tolist(),
            "indicators": [each.to_json() for each in self.drawn],
        }

    def svg(self, **look: Any) -> str:
        """The picture as SVG; `look` takes width, height, theme, kind, tz, log, volume, scale."""
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


def chart(
    bars: Bars,
    indicators: Iterable[Asked] = (),
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
    seen: dict[str, int] = {}
    drawn = []
    for asked in indicators:
        each = _draw(bars, asked, first, user)
        seen[each.id] = count = seen.get(each.id, 0) + 1
        drawn.append(each if count == 1 else _numbered(each, count))
    return Chart(bars[first:], tuple(drawn))


def _numbered(each: Drawn, count: int) -> Drawn:
    return replace(each, id=f"{each.id}#{count}")


def _draw(bars: Bars, asked: Asked, first: int, user: str | None) -> Drawn:
    name, given, found = str(asked), {}, None
    try:
        request = Request.read(asked)
        name, given = request.name, dict(request.given)
        found = resolve(request.name, user)
        name = found.name
        values = resolve_params(found.params, request.given, found.name)
        scene = found.compute(bars, values).cut(first)
    except IndicatorError as error:
        return Drawn(name, name, given, found, error=error)
    return Drawn(identity(name, found.params, values), name, values, found, scene)
