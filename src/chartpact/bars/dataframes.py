"""Tables of pandas and polars frames, of structured NumPy arrays and of named columns."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chartpact.bars.columns import Column
from chartpact.bars.errors import BarsError
from chartpact.bars.filenames import NameClues
from chartpact.bars.roles import TIME_NAMES, plain_name, select_symbol
from chartpact.bars.table import BarTable


def tabulate_columns(columns: Mapping[str, ArrayLike]) -> BarTable:
    return _tabulate({str(name): np.asarray(values) for name, values in columns.items()})


def tabulate_numpy(array: Any) -> BarTable:
    """The table of a structured array, by its field names."""
    fields = np.asarray(array)
    if fields.dtype.names is None:
        raise BarsError(
            "from_numpy takes a structured array, with fields called time, open, high, low, close; "
            "for single arrays there is Bars.from_columns({'time': …, 'open': …, …})"
        )
    return _tabulate({name: fields[name] for name in fields.dtype.names})


def tabulate_pandas(frame: Any, symbol: str | None = None) -> BarTable:
    """The table of a DataFrame, with the times in a column or in the index.

    Of columns with two headings, such as yfinance's, those of one symbol are taken.
    """
    names, owner = [str(name) for name in frame.columns], ""
    if getattr(frame.columns, "nlevels", 1) == 2:
        names, owner = select_symbol([(str(a), str(b)) for a, b in frame.columns], symbol)
    columns = {name: frame.iloc[:, place] for place, name in enumerate(names) if name}
    index = frame.index
    # Row numbers are no times; an index of texts, dates or times is, and one with such a name.
    dated = (
        getattr(index.dtype, "kind", "") not in "iuf" or plain_name(str(index.name)) in TIME_NAMES
    )
    if dated and not any(plain_name(name) in TIME_NAMES for name in columns):
        columns = {"time": index.to_series(), **columns}
    aware = frozenset(
        name for name, series in columns.items() if getattr(series.dtype, "tz", None) is not None
    )
    arrays = {name: _pandas_values(series, name in aware) for name, series in columns.items()}
    return _tabulate(arrays, aware, owner)


def _pandas_values(series: Any, aware: bool) -> Column:
    if aware:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values: Column = np.asarray(series.to_numpy())
    if values.dtype.kind == "O" and getattr(series.dtype, "kind", "") in "iuf":
        values = np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return values


def clues_of(frame: Any) -> NameClues:
    """The symbol that `Bars.to_pandas` left with a frame."""
    symbol = getattr(frame, "attrs", {}).get("symbol", "")
    return NameClues(symbol if isinstance(symbol, str) else "")


def tabulate_polars(frame: Any) -> BarTable:
    """The table of a DataFrame; a lazy one is collected."""
    frame = frame.collect() if hasattr(frame, "collect") else frame
    columns = {name: frame[name] for name in frame.columns}
    aware = frozenset(
        name for name, series in columns.items() if getattr(series.dtype, "time_zone", None)
    )
    arrays = {name: np.asarray(series.to_numpy()) for name, series in columns.items()}
    return _tabulate(arrays, aware)


def _tabulate(
    columns: dict[str, Column], aware: frozenset[str] = frozenset(), symbol: str = ""
) -> BarTable:
    for name, column in columns.items():
        if column.ndim != 1:
            raise BarsError(f"{name} has {column.ndim} dimensions, not 1")
    return BarTable(columns, lambda row: f"row {row}", aware, symbol=symbol)
