"""The price series of bars: the columns that are stored, and those derived from them."""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

OHLC = ("open", "high", "low", "close")
STORED = (*OHLC, "volume")
DERIVED = {  # each is the mean of these columns
    "hl2": ("high", "low"),
    "hlc3": ("high", "low", "close"),
    "ohlc4": OHLC,
    "hlcc4": ("high", "low", "close", "close"),
}
# What a parameter of type `source` may name, in the order that lists show.
SOURCES = (*OHLC, *DERIVED, "volume")


def derive(name: str, column: Callable[[str], Any]) -> Any:
    """A derived price series: the mean of columns that `column` finds by their names.

    >>> derive("hl2", {"high": 4, "low": 2}.get)
    3.0
    """
    columns = [column(part) for part in DERIVED[name]]
    return reduce(add, columns) / len(columns)
