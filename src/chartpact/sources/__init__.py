"""Where bars come from: files, samples, and the sources that CHARTPACT_SOURCES describes.

>>> load("sample:es-5m", timeframe="1h").timeframe
'1h'
"""

from dataclasses import replace
from os import PathLike, fspath
from typing import Any, Unpack

from chartpact.bars import Bars, BarsError
from chartpact.bars import load as load_file
from chartpact.bars.load import at_source
from chartpact.bars.options import Known, Options
from chartpact.sources.catalog import Catalog, Listing, Shelf, Source
from chartpact.sources.configured import VARIABLE, catalog, from_environment
from chartpact.sources.errors import Misconfigured, SourceFailed, UnknownSymbol

__all__ = [
    "Catalog",
    "Listing",
    "Misconfigured",
    "Shelf",
    "Source",
    "SourceFailed",
    "UnknownSymbol",
    "load",
]


def load(source: str | PathLike[str], **options: Unpack[Known]) -> Bars:
    """Bars of a CSV or Parquet file, of `sample:NAME`, or of `SYMBOL@SOURCE`.

    `tz` is the zone of times that name none; `stamp` says whether times are the bars' opens or
    their closes; `symbol`, `timeframe`, `tick_size` and `day_roll` override what a file tells. Of
    `sample:NAME` and `SYMBOL@SOURCE`, `timeframe` asks for longer bars.
    """
    text = fspath(source)
    if at_source(text) is None:
        return load_file(text, **options)
    given = Options(**options)
    if given.tz is not None or given.stamp != "open":
        raise BarsError(
            f"{text}: tz and stamp are for files; those of a folder are told in "
            f"{VARIABLE}, as in data=folder:/srv/bars?tz=America/New_York"
        )
    changes: dict[str, Any] = {
        key: getattr(given, key)
        for key in ("symbol", "tick_size", "day_roll")
        if getattr(given, key) is not None
    }
    # Days that begin when the caller says are made of the source's own bars.
    asked = None if given.day_roll is not None else given.timeframe
    bars = catalog(from_environment()).load(text, asked)
    bars = replace(bars, **changes) if changes else bars
    return bars if given.timeframe is None else bars.resample(given.timeframe)
