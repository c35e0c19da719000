"""What a scene may hold when it comes out of a run: the caps its run had, looked at once more.

A run that broke out of the language draws without caps, and a few bytes of a document can stand
for gigabytes. So it is weighed before anything is made of it: a column counts as often as it is
named, and a text as often as it stands somewhere.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from chartpact.sandbox.wire import Column, WireError
from chartpact.script.limits import (
    DOT_TEXT_CHARS,
    DOTS,
    OBJECT_TEXT_CHARS,
    OBJECTS,
    PLOTS,
    POINTS,
    SCENE_TEXT_CHARS,
)

_BY_BAR = ("values", "a", "b")
_AHEAD = ("ahead", "a_ahead", "b_ahead")
_OBJECTS = ("labels", "lines", "boxes")


def check(document: Any, columns: Sequence[Column], bars: int) -> None:
    """Raises `WireError` for a scene that no run on so many bars could have drawn."""
    try:
        _check(document, columns, bars)
    except WireError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise WireError(f"it holds no scene ({type(error).__name__})") from None


def _check(document: Any, columns: Sequence[Column], bars: int) -> None:
    plots, signals = document.get("plots", []), document.get("signals", {})
    together = [plot["rows"] for plot in plots if "rows" in plot]  # simple plots, field by field
    counts = (len(each) for rows in together for each in rows[:1])
    _most("plots", sum(counts) + len(plots) - len(together), PLOTS)
    if any(len(each) != len(rows[0]) for rows in together for each in rows):
        raise WireError("it holds plots of which fields are missing")
    for plot in plots:
        for name in _BY_BAR:
            if name in plot and _length(plot[name], columns) != bars:
                raise WireError("it holds a series of another length than the bars")
    series = (plot[name] for plot in plots for name in (*_BY_BAR, *_AHEAD) if name in plot)
    _most("points", sum(_length(each, columns) for each in series), POINTS)
    colors = (plot["color"] for plot in plots if isinstance(plot.get("color"), list))
    _most("colours", sum(_length(each, columns) for each in colors), POINTS + DOTS)
    _check_rows("dots", document.get("dots", {}), columns, bars)
    _check_rows("signals", signals, columns, bars)
    for channel in _OBJECTS:
        _most(channel, len(document.get(channel, ())), OBJECTS)
    _check_texts([[document.get("label")], *(plot.values() for plot in plots), *chain(*together)])
    cells = (cell for table in document.get("tables", ()) for cell in table.get("cells", ()))
    objects = (each for name in _OBJECTS for each in document.get(name, ()))
    _check_texts(thing.values() for thing in chain(objects, cells))


def _check_rows(what: str, table: dict[str, Any], columns: Sequence[Column], bars: int) -> None:
    _most(what, max((_length(each, columns) for each in table.values()), default=0), DOTS)
    named = (packed for packed in table.values() if isinstance(packed, list))
    _most(f"text of {what}", sum(_chars(packed, columns) for packed in named), DOT_TEXT_CHARS)
    for name in ("x", "bar", "confirmed_bar"):
        if name in table and not _within(_named(table[name], columns), bars):
            raise WireError(f"it holds {what} where no bar is")


def _check_texts(fields: Iterable[Iterable[Any]]) -> None:
    sizes = [len(text) for text in chain.from_iterable(fields) if isinstance(text, str)]
    _most("characters of a text", max(sizes, default=0), OBJECT_TEXT_CHARS)
    _most("characters", sum(sizes), 2 * SCENE_TEXT_CHARS)  # names of colours and styles among them


def _most(what: str, count: int, most: int) -> None:
    if count > most:
        raise WireError(f"it holds more {what} than may be drawn")


def _named(number: Any, columns: Sequence[Column]) -> Column:
    if type(number) is not int or number < 0:
        raise ValueError("column")
    return columns[number]


def _length(packed: Any, columns: Sequence[Column]) -> int:
    """Of a column, or of texts: those that differ and which stands where, or one and how often."""
    if not isinstance(packed, list):
        return len(_named(packed, columns))
    different, number = packed
    if isinstance(different, list):
        return len(_named(number, columns))
    if type(number) is not int or number < 0:
        raise ValueError("texts")
    return number


def _chars(packed: list[Any], columns: Sequence[Column]) -> int:
    different, number = packed
    if not isinstance(different, list):
        return len(different or "") * _length(packed, columns)
    which = _named(number, columns)
    if which.dtype.kind not in "ui" or not _within(which, len(different)):
        raise ValueError("texts")
    often = np.bincount(which, minlength=len(different)).tolist()
    return sum(len(text or "") * times for text, times in zip(different, often, strict=True))


def _within(column: Column, end: int) -> bool:
    return not len(column) or bool(column.min() >= 0 and column.max() < end)
