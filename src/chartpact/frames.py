"""Columns as frames of pandas or polars, which are imported only here and only when asked for."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


def to_pandas(columns: Mapping[str, Column], time: Column | None = None) -> Any:
    """A DataFrame of columns, with `time` (UTC ms) as its index, or the numbers of the rows."""
    pandas = _import("pandas")
    index = None
    if time is not None:
        moments = np.asarray(time).astype("datetime64[ms]")
        index = pandas.DatetimeIndex(moments, tz="UTC", name="time")
    return pandas.DataFrame({name: np.array(values) for name, values in columns.items()}, index)


def to_polars(columns: Mapping[str, Column], time: Column | None = None) -> Any:
    """A DataFrame of columns, the first of them `time` where it is given in UTC ms."""
    polars = _import("polars")
    series = [polars.Series(name, np.array(values)) for name, values in columns.items()]
    if time is not None:
        kind = polars.Datetime("ms", "UTC")
        series.insert(0, polars.Series("time", np.array(time, np.int64)).cast(kind))
    return polars.DataFrame(series)


def _import(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        message = f"to_{name} needs {name}, which is not installed: pip install {name}"
        raise ModuleNotFoundError(message, name=name) from None
