"""Bars of pandas and polars frames, of structured NumPy arrays and of named columns."""

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from chartpact.bars.bars import Bars
from chartpact.bars.errors import BarsError
from chartpact.bars.options import Known, Options
from chartpact.bars.table import TIME_NAMES, Column, Table, plain_name, to_bars


def from_columns(columns: Mapping[str, ArrayLike], **options: Unpack[Known]) -> Bars:
    """Bars of named columns."""
    arrays = {str(name): np.asarray(values) for name, values in columns.items()}
    return _to_bars(arrays, frozenset(), options, "columns")


def from_numpy(array: Any, **options: Unpack[Known]) -> Bars:
    """Bars of a structured array, by its field names."""
    fields = np.asarray(array)
    if fields.dtype.names is None:
        raise BarsError(
            "from_numpy takes a structured array, with fields called time, open, high, low, close; "
            "for single arrays there is Bars.from_columns({'time': …, 'open': …, …})"
        )
    arrays = {name: fields[name] for name in fields.dtype.names}
    return _to_bars(arrays, frozenset(), options, "NumPy array")


def from_pandas(frame: Any, **options: Unpack[Known]) -> Bars:
    """Bars of a DataFrame, with the times in a column or in the index."""
    columns = {str(name): frame[name] for name in frame.columns}
    dated = getattr(frame.index.dtype, "kind", "") == "M"  # not mere row numbers
    if dated and not any(plain_name(name) in TIME_NAMES for name in columns):
        columns = {"time": frame.index.to_series(), **columns}
    aware = frozenset(
        name for name, series in columns.items() if getattr(series.dtype, "tz", None) is not None
    )
    arrays = {name: _pandas_values(series, name in aware) for name, series in columns.items()}
    return _to_bars(arrays, aware, options, "pandas frame")


def _pandas_values(series: Any, aware: bool) -> Column:
    if aware:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values: Column = np.asarray(series.to_numpy())
    if values.dtype.kind == "O" and getattr(series.dtype, "kind", "") in "iuf":
        values = np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return values


def from_polars(frame: Any, **options: Unpack[Known]) -> Bars:
    """Bars of a polars DataFrame."""
    columns = {name: frame[name] for name in frame.columns}
    aware = frozenset(
        name for name, series in columns.items() if getattr(series.dtype, "time_zone", None)
    )
    arrays = {name: np.asarray(series.to_numpy()) for name, series in columns.items()}
    return _to_bars(arrays, aware, options, "polars frame")


def _to_bars(
    columns: dict[str, Column], aware: frozenset[str], options: Known, source: str
) -> Bars:
    for name, column in columns.items():
        if column.ndim != 1:
            raise BarsError(f"{name} has {column.ndim} dimensions, not 1")
    table = Table(columns, lambda row: f"row {row}", aware)
    return to_bars(table, Options(**options), "", source)
