"""Bars on their way into a run, scenes on their way out: a document, and columns beside it.

Series, dots and signals cross as columns; a document names a column by its number. Bars come from
the server and are taken as they are. A scene comes from a run: every value of it passes the rules
of its field again, and whatever breaks one is a `WireError`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any, cast, get_args

import numpy as np

from chartpact.bars import COLUMNS, Bars
from chartpact.sandbox.wire import Column, WireError
from chartpact.scene import (
    PLOTS,
    DotPlot,
    Paint,
    Plot,
    Points,
    Rows,
    Rule,
    Scene,
    Series,
    Signals,
    rules,
)
from chartpact.textcolumn import TextColumn

Document = dict[str, Any]

_MOST_TEXTS = 1 << 22  # places in a plot, of which each bar has a few

_SERIES = get_args(Series)[1]
_PAINT = get_args(Paint)[1]
_ABOUT_BARS = tuple(field.name for field in fields(Bars) if field.name not in COLUMNS)


# ------------------------------------------------------------------------------------------ bars


def pack_bars(bars: Bars, columns: list[Column]) -> Document:
    """What tells these bars apart; their columns go to the end of `columns`."""
    first = len(columns)
    columns += (getattr(bars, name) for name in COLUMNS)
    return {"first": first, **{name: getattr(bars, name) for name in _ABOUT_BARS}}


def join(job: Document, columns: list[Column], shared: Document, more: list[Column]) -> None:
    """Adds to a job the bars that it shares with other jobs."""
    bars = shared["bars"]
    job["bars"] = {**bars, "first": bars["first"] + len(columns)}
    columns += more


def unpack_bars(document: Document, columns: Sequence[Column]) -> Bars:
    """The bars, unchecked and uncopied: they were checked where they were made."""
    bars = object.__new__(Bars)
    first = document["first"]
    put = bars.__dict__
    put |= {name: columns[first + i] for i, name in enumerate(COLUMNS)}
    put |= {name: document[name] for name in _ABOUT_BARS}
    return bars


# ---------------------------------------------------------------------------------------- scenes


def pack_scene(scene: Scene, columns: list[Column]) -> Document:
    """The scene as a document; series, dots and signals go to the end of `columns`."""
    document: Document = {}
    for name, rule in rules(Scene).items():
        value = getattr(scene, name)
        if name == "plots":
            document[name] = _pack_plots(value, columns)
            if dots := [cast(DotPlot, each).columns for each in value if each.kind == "dot"]:
                document["dots"] = _pack_rows(Points.joined(dots), columns)
        elif name == "signals":
            document[name] = _pack_rows(value, columns)
        else:
            document[name] = rule.encode(value)
    return document


def unpack_scene(document: Any, columns: Sequence[Column]) -> Scene:
    """The scene in a document nobody vouches for."""
    try:
        named = _Columns(columns)
        scene = _unpack_scene(document, named)
        if named.wasteful:
            scene = _unpack_scene(document, _Columns([each.copy() for each in columns]))
        return scene
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"it holds no scene ({type(error).__name__})") from None


def _unpack_scene(document: Any, columns: "_Columns") -> Scene:
    known = rules(Scene)
    given: Document = {}
    dots = _Dots(_unpack_rows(Points, document["dots"], columns) if "dots" in document else ())
    for name, value in document.items():
        if name == "plots":
            given[name] = tuple(_unpack_plots(value, columns, dots))
        elif name == "dots":
            continue
        elif name == "signals":
            given[name] = _unpack_rows(Signals, value, columns)
        else:
            given[name] = known[name].decode(value)
    dots.all_taken()
    return Scene(**given)


def _pack_plots(plots: Iterable[Plot], columns: list[Column]) -> list[Document]:
    """One document for a plot with series; levels and lines in a row share one, field by field."""
    packed: list[Document] = []
    sent: dict[int, int] = {}
    for kind, some in groupby(plots, _simple):
        if kind:
            alike = list(some)
            names = [name for name, _, _ in _PLANS[kind]]
            rows = [[getattr(plot, name) for plot in alike] for name in names]
            packed.append({"kind": kind, "rows": rows})
        else:
            packed += [_pack_plot(plot, columns, sent) for plot in some]
    return packed


class _Columns:
    """Columns of one packet, and which of them a scene names."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._named: set[int] = set()

    def named(self, number: Any, kind: type | None = None) -> Column:
        if type(number) is not int or not 0 <= number < len(self._columns):
            raise ValueError("column")
        column = self._columns[number]
        if kind is not None and column.dtype != kind:
            raise ValueError("column")
        self._named.add(number)
        return column

    @property
    def wasteful(self) -> bool:
        """Whether a scene would keep more in memory than it is made of: all lie in one packet."""
        named = sum(self._columns[number].nbytes for number in self._named)
        return 2 * named < sum(each.nbytes for each in self._columns)


class _Dots:
    """The dots of all plots, which take theirs in turn."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows
        self._taken = 0

    def take(self, count: Any) -> Sequence[Any]:
        if type(count) is not int or not 0 <= count <= len(self._rows) - self._taken:
            raise ValueError("dots")
        self._taken += count
        return self._rows[self._taken - count : self._taken]

    def all_taken(self) -> None:
        if self._taken != len(self._rows):
            raise ValueError("dots")


def _unpack_plots(documents: Iterable[Document], columns: _Columns, dots: _Dots) -> Iterator[Plot]:
    for document in documents:
        if "rows" in document:
            plot_type = PLOTS[document["kind"]]
            names = [name for name, _, _ in _PLANS[plot_type.kind]]
            if len(document["rows"]) != len(names) or plot_type.kind not in _SIMPLE:
                raise ValueError("rows")
            yield from _alike(plot_type, dict(zip(names, document["rows"], strict=True)))
        else:
            yield _unpack_plot(document, columns, dots)


def _alike(plot_type: type[Plot], fields: Document) -> Iterator[Plot]:
    """The plots of these fields; where colours and numbers differ, one is seen for all."""
    rows = (dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True))
    first = next(rows, None)
    if first is None:
        return
    plot = plot_type(**first)
    yield plot
    varying = {
        name: each[1:]
        for name, each in fields.items()
        if name == "color" or type(first[name]) is not str
    }
    if all(
        len(set(map(type, each))) == 1 if name in varying else each.count(each[0]) == len(each)
        for name, each in fields.items()
    ):
        yield from plot.alike(**varying)
    else:
        yield from (plot_type(**row) for row in rows)


def _simple(plot: Plot) -> str:
    """The kind of a plot whose fields are all single values, else nothing."""
    return plot.kind if plot.kind in _SIMPLE and isinstance(plot.color, str) else ""


def _pack_plot(plot: Plot, columns: list[Column], sent: dict[int, int]) -> Document:
    document: Document = {"kind": plot.kind}
    for name, rule, default in _PLANS[plot.kind]:
        value = getattr(plot, name)
        if value is default or (name in plot.optional and not len(value)):
            continue
        if rule is _SERIES:
            document[name] = _add_once(value, columns, sent)
        elif rule is _PAINT:
            document[name] = value if isinstance(value, str) else _pack_texts(value, columns)
        elif name == "points":
            document[name] = len(value)
        else:
            document[name] = value  # numbers, texts and names are JSON as they are
    return document


def _unpack_plot(document: Document, columns: _Columns, dots: _Dots) -> Plot:
    plot_type = PLOTS[document["kind"]]
    known = rules(plot_type)
    given: Document = {}
    for name, value in document.items():
        if name == "kind":
            continue
        rule = known[name]
        if rule is _SERIES:
            given[name] = columns.named(value, np.float64)
        elif rule is _PAINT and not isinstance(value, str):
            given[name] = _unpack_texts(value, columns)
        elif name == "points":
            given[name] = dots.take(value)
        else:
            given[name] = value
    return plot_type(**given)


def _fields(plot_type: type[Plot]) -> tuple[tuple[str, Rule, Any], ...]:
    defaults = {each.name: each.default for each in fields(plot_type)}
    return tuple((name, rule, defaults[name]) for name, rule in rules(plot_type).items())


# For each field of a kind of plot its name, its rule, and the value that need not be sent.
_PLANS = {plot_type.kind: _fields(plot_type) for plot_type in PLOTS.values()}
_SIMPLE = frozenset(("hline", "hbar", "divline"))


def _pack_rows(rows: Rows[Any], columns: list[Column]) -> Document:
    packed: Document = {}
    for name in rows.names():
        value = getattr(rows, name)
        texts = isinstance(value, TextColumn)
        packed[name] = _pack_texts(value, columns) if texts else _add(value, columns)
    return packed


def _unpack_rows(rows: type[Rows[Any]], document: Document, columns: _Columns) -> Rows[Any]:
    given: Document = {}
    for name, value in document.items():
        texts = isinstance(value, list)
        given[name] = _unpack_texts(value, columns) if texts else columns.named(value)
    if set(given) != set(rows.names()):
        raise ValueError("rows")
    return rows(**given)


def _pack_texts(texts: TextColumn, columns: list[Column]) -> list[Any]:
    """The texts that differ, and for each place which it is; one alone is told by its count."""
    if len(texts.categories) == 1:
        return [texts.categories[0], len(texts)]
    return [texts.categories, _add(texts.codes, columns)]


def _unpack_texts(packed: list[Any], columns: _Columns) -> TextColumn:
    different, number = packed
    if not isinstance(different, list):
        if type(number) is not int or not 0 <= number <= _MOST_TEXTS:
            raise ValueError("texts")
        return TextColumn.repeat(different, number)
    which = columns.named(number)
    if which.dtype.kind not in "ui":
        raise ValueError("texts")
    if len(which) and not 0 <= which.min() <= which.max() < len(different):
        raise ValueError("texts")
    return TextColumn(different, which)


def _add(column: Column, columns: list[Column]) -> int:
    columns.append(column)
    return len(columns) - 1


def _add_once(column: Column, columns: list[Column], sent: dict[int, int]) -> int:
    """A series that several plots share crosses once."""
    number = sent.get(id(column))
    if number is None:
        sent[id(column)] = number = _add(column, columns)
    return number
