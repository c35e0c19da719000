"""OHLCV bars as immutable columns: load them, check them, resample them, align them.

>>> bars = load("sample:es-5m")
>>> bars.last(3).resample("15m").timeframe
'15m'
"""

from chartpact.bars.alignment import align, last_closed, stretch
from chartpact.bars.bars import Bar, Bars
from chartpact.bars.columns import COLUMNS
from chartpact.bars.errors import BarsError, SourceNotConfigured
from chartpact.bars.loading import BarsLike, load, to_bars

__all__ = [
    "COLUMNS",
    "Bar",
    "Bars",
    "BarsError",
    "BarsLike",
    "SourceNotConfigured",
    "align",
    "last_closed",
    "load",
    "stretch",
    "to_bars",
]
