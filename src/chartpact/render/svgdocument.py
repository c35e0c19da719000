"""The display list as a self-contained SVG document.

Every text is cleaned and escaped here, where it is written. Nothing in the document refers to
anything outside it: the fonts are embedded, subset to the characters that occur.
"""

from collections.abc import Iterable
from functools import lru_cache
from html import escape

import numpy as np

from chartpact.render import typeface, typesetting
from chartpact.render.display import (
    Area,
    Begin,
    Circles,
    DisplayList,
    End,
    Floats,
    Op,
    Panel,
    Rects,
    Shape,
    Stroke,
    Words,
)

FALLBACKS = {  # families after our own, for a renderer that ignores embedded fonts
    "sans": f"{typeface.SYMBOLS},Inter,system-ui,sans-serif",
    "mono": f"{typeface.SYMBOLS},ui-monospace,monospace",
}

_FIT = 'style="max-width:100%;height:auto" '  # of a document inside of a page


@lru_cache(1 << 16)
def _tenths(tenths: int) -> str:
    """A whole number of tenths of a pixel, as SVG writes it."""
    whole, rest = divmod(abs(tenths), 10)
    sign = "-" if tenths < 0 else ""
    return f"{sign}{whole}" if not rest else f"{sign}{whole or ''}.{rest}"


# The steps of most lines are among these: a dict is looked up in half the time of a cache.
_SMALL = {tenths: _tenths(tenths) for tenths in range(-2048, 2048)}


def _n(value: float) -> str:
    return _tenths(round(value * 10))


def document(
    picture: DisplayList, *, fonts: bool = True, scale: float = 1.0, fit: bool = False
) -> str:
    """The document; without `fonts`, its renderer must have the package's fonts.

    One that is to `fit` shrinks with the page around it.
    """
    body = [_write(op) for op in picture.ops]
    clips = {op.clip for op in picture.ops if isinstance(op, Begin) and op.clip is not None}
    width, height = picture.width, picture.height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:g}" '
        f'height="{height * scale:g}" viewBox="0 0 {width} {height}" role="img" '
        f"{_FIT if fit else ''}"
        f'font-family="{typeface.SANS},{FALLBACKS["sans"]}" font-size="12">',
        f"<title>{_escape(picture.title)}</title>",
    ]
    if fonts:
        parts.append(f"<style>{''.join(_font_faces(picture.ops))}</style>")
    if clips:
        parts.append(f"<defs>{''.join(sorted(map(_clip, clips)))}</defs>")
    parts.append(f'<rect width="{width}" height="{height}" fill="{picture.background}"/>')
    return "".join([*parts, *body, "</svg>"])


def _escape(words: str) -> str:
    return escape(typesetting.clean(words), quote=True)


def _font_faces(ops: Iterable[Op]) -> Iterable[str]:
    used: dict[str, set[str]] = {}
    for op in ops:
        if isinstance(op, Words):
            used.setdefault(op.face, set()).update(typesetting.clean(op.text))
    everything = set().union(*used.values())
    if any(ord(char) in typeface.typeface(typeface.FALLBACK).glyphs for char in everything):
        used[typeface.FALLBACK] = everything
    for face in sorted(used):
        yield typeface.font_face(face, "".join(sorted(used[face])))


def _clip_id(area: Area) -> str:
    """The id of a clip, made of its place: two pictures in one page then agree on it."""
    return "clip-" + "-".join(_n(v) for v in (area.left, area.top, area.right, area.bottom))


def _clip(area: Area) -> str:
    return f'<clipPath id="{_clip_id(area)}"><rect {_place(area)}/></clipPath>'


def _place(area: Area) -> str:
    return (
        f'x="{_n(area.left)}" y="{_n(area.top)}" '
        f'width="{_n(max(area.width, 0))}" height="{_n(max(area.height, 0))}"'
    )


def _paint(name: str, color: str | None) -> str:
    if color is None:
        return f' {name}="none"'
    if len(color) == 7 or color.endswith("ff"):
        return f' {name}="{color[:7]}"'
    return f' {name}="{color[:7]}" {name}-opacity="{int(color[7:], 16) / 255:.3g}"'


def _stroke(stroke: Stroke | None) -> str:
    if stroke is None:
        return ""
    dash = f' stroke-dasharray="{" ".join(map(_n, stroke.dash))}"' if stroke.dash else ""
    joins = ' stroke-linejoin="bevel"'
    if stroke.round:
        joins = ' stroke-linejoin="round" stroke-linecap="round"'
    return f'{_paint("stroke", stroke.color)} stroke-width="{stroke.width:g}"{dash}{joins}'


def _write(op: Op) -> str:
    match op:
        case Words():
            return _words(op)
        case Shape():
            d = "".join(_polyline(x, y, op.fill is not None) for x, y in op.parts)
            return f'<path d="{d}"{_paint("fill", op.fill)}{_stroke(op.stroke)}/>' if d else ""
        case Rects():
            sides = op.boxes[:, [0, 1, 2, 3, 2]].ravel().tolist()
            d = "M%d %dh%dv%dh-%dz" * len(op.boxes) % tuple(sides)
            crisp = ' shape-rendering="crispEdges"'
            return f'<path d="{d}"{_paint("fill", op.fill)}{crisp}/>' if d else ""
        case Panel():
            radius = f' rx="{_n(op.radius)}"' if op.radius else ""
            paint = _paint("fill", op.fill) + _stroke(op.stroke)
            return f"<rect {_place(op.area)}{radius}{paint}/>"
        case Circles():
            return f"<g{_paint('fill', op.fill)}>{''.join(_circles(op))}</g>"
        case Begin():
            clip = f' clip-path="url(#{_clip_id(op.clip)})"' if op.clip else ""
            title = f"<title>{_escape(op.tooltip)}</title>" if op.tooltip else ""
            return f'<g class="{op.name}"{clip}>{title}'
        case End():
            return "</g>"


def _circles(op: Circles) -> Iterable[str]:
    titles = op.titles or ("",) * len(op.x)
    spots = zip(op.x.tolist(), op.y.tolist(), op.radius.tolist(), titles, strict=True)
    for x, y, radius, title in spots:
        place = f'cx="{_n(x)}" cy="{_n(y)}" r="{radius:g}"'
        yield (
            f"<circle {place}><title>{_escape(title)}</title></circle>"
            if title
            else f"<circle {place}/>"
        )


def _words(op: Words) -> str:
    family, weight, slant = typeface.FACES[op.face]
    style = f' font-family="{family},{FALLBACKS["mono"]}"' if family == typeface.MONO else ""
    style += f' font-weight="{weight}"' if weight != 400 else ""
    style += f' font-style="{slant}"' if slant != "normal" else ""
    style += f' font-size="{op.size:g}"' if op.size != 12 else ""
    style += f' text-anchor="{op.anchor}"' if op.anchor != "start" else ""
    if op.halo:
        style += f'{_stroke(Stroke(op.halo, op.size / 4))} paint-order="stroke"'
    words = typesetting.clean(op.text)
    if "  " in words or words != words.strip():
        style += ' xml:space="preserve"'
    body = escape(words, quote=True) if words.isascii() else "".join(_spans(words, op.face))
    return f'<text x="{_n(op.x)}" y="{_n(op.y)}"{_paint("fill", op.color)}{style}>{body}</text>'


def _spans(words: str, face: str) -> Iterable[str]:
    """The runs of a text; symbols name their font, as not every renderer looks for a fallback."""
    for symbols, run in typesetting.runs(words, face):
        span = escape(run, quote=True)
        yield f'<tspan font-family="{typeface.SYMBOLS}">{span}</tspan>' if symbols else span


def _polyline(x: Floats, y: Floats, closed: bool) -> str:
    """A subpath: its start and its steps, without steps of length 0."""
    points = np.rint(np.column_stack((x, y)) * 10).astype(np.int64)
    steps = np.diff(points, axis=0)
    steps = steps[steps.any(axis=1)]
    start = f"M{_tenths(int(points[0, 0]))} {_tenths(int(points[0, 1]))}"
    if not len(steps):
        return f"{start}h0" if not closed else ""
    numbers = steps.ravel().tolist()
    try:
        path = " ".join(map(_SMALL.__getitem__, numbers))
    except KeyError:
        path = " ".join(map(_tenths, numbers))
    return f"{start}l{path.replace(' -', '-')}{'z' if closed else ''}"
