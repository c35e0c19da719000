"""From a chart to a picture: layout, display list, SVG, PNG.

>>> import chartpact as cp
>>> cp.chart(cp.load("sample:es-5m"), ["rsi"], last=100).svg(theme="light")[:4]
'<svg'
"""

from typing import TYPE_CHECKING, Any

from chartpact.render.errors import RenderError

if TYPE_CHECKING:  # a worker that only rasterises loads neither bars nor scenes
    from chartpact.render.frame import Chart

__all__ = ["FORMATS", "RenderError", "png", "svg"]

FORMATS = ("png", "svg")


def svg(chart: "Chart", *, fonts: bool = True, **look: Any) -> str:
    """The chart as an SVG document; `look` takes `size` and the fields of `Look`."""
    from chartpact.render import picture
    from chartpact.render.look import read_look
    from chartpact.render.svgdocument import document

    looks = read_look(look)
    return document(picture.compose(chart, looks), fonts=fonts, scale=looks.scale)


def png(chart: "Chart", **look: Any) -> bytes:
    """The chart as a PNG: the same document, rasterised."""
    from chartpact.render import pool

    return pool.png(svg(chart, fonts=False, **look))
