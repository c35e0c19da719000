"""The price series of bars, stored and derived, and the decimals of a step of prices."""

from collections.abc import Callable
from decimal import Decimal
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


def decimals_of(step: float) -> int:
    """The decimals a step has when written out.

    >>> decimals_of(0.25), decimals_of(1e-05), decimals_of(2.0)
    (2, 5, 0)
    """
    exponent = Decimal(f"{step:.10g}").normalize().as_tuple().exponent
    return max(0, -int(exponent))
