"""From a chart to a picture: layout, display list, SVG, PNG.

>>> import chartpact as cp
>>> cp.chart(cp.load("sample:es-5m"), ["rsi"], last=100).svg(theme="light")[:4]
'<svg'
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chartpact.render.errors import RenderError

if TYPE_CHECKING:  # a worker that only rasterises loads neither bars nor scenes
    from chartpact.render.frame import ChartView
    from chartpact.render.look import Look

__all__ = ["FORMATS", "RenderError", "png", "read_look", "svg"]

FORMATS = ("png", "svg")


def read_look(options: Mapping[str, Any]) -> "Look":
    """The look of these options; raises RenderError on those that no picture takes."""
    from chartpact.render import look

    return look.read_look(options)


def svg(chart: "ChartView", *, fonts: bool = True, fit: bool = False, **look: Any) -> str:
    """The chart as an SVG document; `look` takes `size` and the fields of `Look`.

    One that is to `fit` is no wider than the page that it is put in.
    """
    from chartpact.render import picture
    from chartpact.render.svgdocument import document

    looks = read_look(look)
    return document(picture.compose(chart, looks), fonts=fonts, scale=looks.scale, fit=fit)


def png(chart: "ChartView", **look: Any) -> bytes:
    """The chart as a PNG: the same document, rasterised."""
    from chartpact.render import pool

    return pool.png(svg(chart, fonts=False, **look))
