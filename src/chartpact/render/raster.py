"""SVG to PNG in this process, with the package's fonts and no others.

Workers of the pool do this too, so it imports nothing heavy.

resvg 0.2.0 binds its options to the thread that made them, so they are made for each picture, in a
fraction of a millisecond. It takes a row-major transform, holds the GIL throughout, and panics with
a BaseException on a document it cannot read.
"""

import os
from collections.abc import Callable
from importlib.metadata import version

from chartpact.render.errors import RenderError
from chartpact.render.typeface import FACES, SANS, font_file

MISSING = "PNG needs the package resvg (or resvg_py), which is not installed"
EXTRA_FONTS = "CHARTPACT_FONTS"  # more font files, for scripts that the package's fonts lack


def extra_fonts() -> list[str]:
    """The font files named in the environment, in order."""
    paths = [path for path in os.environ.get(EXTRA_FONTS, "").split(os.pathsep) if path]
    for path in paths:
        if not os.path.isfile(path):
            raise RenderError(f"{EXTRA_FONTS} names {path!r}, which is not a font file")
    return paths


def status() -> str:
    """The package that draws PNGs here, in words."""
    if _resvg() is not None:
        return f"resvg {version('resvg')}"
    if _resvg_py() is not None:
        return f"resvg_py {version('resvg_py')} (slower than resvg)"
    return f"not possible: {MISSING}"


def rasterize(svg: str) -> bytes:
    """The PNG of an SVG document."""
    draw = _resvg() or _resvg_py()
    if draw is None:
        raise RenderError(MISSING)
    try:
        return draw(svg)
    except RenderError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
            raise
        raise RenderError(f"the SVG could not be drawn: {error}") from None


def _resvg() -> Callable[[str], bytes] | None:
    try:
        from resvg import render, usvg
    except ImportError:
        return None

    def draw(svg: str) -> bytes:
        options = usvg.Options.default()
        for name in FACES:
            options.load_font_data(font_file(name))
        for path in extra_fonts():
            options.load_font_file(path)
        options.font_family = SANS
        return bytes(render(usvg.Tree.from_str(svg, options), (1, 0, 0, 0, 1, 0)))

    return draw


def _resvg_py() -> Callable[[str], bytes] | None:
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        return None

    def draw(svg: str) -> bytes:
        from importlib.resources import as_file, files

        with as_file(files("chartpact.render").joinpath("fonts")) as folder:
            fonts = [str(folder / f"{name}.ttf") for name in FACES]
            return bytes(
                svg_to_bytes(
                    svg_string=svg,
                    skip_system_fonts=True,
                    font_files=[*fonts, *extra_fonts()],
                    font_family=SANS,
                    sans_serif_family=SANS,
                )
            )

    return draw
