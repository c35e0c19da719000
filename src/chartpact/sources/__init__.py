"""Where bars come from: files, samples, and the sources that CHARTPACT_SOURCES describes.

>>> load("sample:es-5m", timeframe="1h").timeframe
'1h'
"""

import os.path
import re
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from threading import Thread
from typing import Unpack

from chartpact.bars import Bars, BarsError, BarsLike, SourceNotConfigured, samples
from chartpact.bars import load as load_file
from chartpact.bars.errors import unreadable
from chartpact.bars.loading import at_source, override
from chartpact.bars.options import LoadOptions, check_options, content_options
from chartpact.needs import BARS, CALENDAR, Fetch, Need, Supply
from chartpact.problem import Failure
from chartpact.sources import calendars
from chartpact.sources.configuration import (
    VARIABLE,
    explain_absence,
    of_local_user,
    open_directory,
)
from chartpact.sources.directory import Directory, Source, SourceEntry, Symbol
from chartpact.sources.errors import Misconfigured, SourceFailed, UnknownSymbol

__all__ = [
    "Directory",
    "Misconfigured",
    "Source",
    "SourceEntry",
    "SourceFailed",
    "Symbol",
    "UnknownSymbol",
    "fetch",
    "fetch_side_by_side",
    "load",
    "to_bars",
]


# Of files, whether they are there or not.
FILE_ENDING = re.compile(r"\.(csv|txt|tsv|json|parquet|dbn|gz|zst|feather|star|pine)$", re.I)


def fetch(need: Need) -> Supply:
    """What an indicator needs, for a user who may name anything that `load` takes."""
    if need.what == BARS:
        return _load_at(need.name, need.timeframe or None)
    if need.what == CALENDAR:
        return calendars.load(need.name)
    from chartpact.sources import readings  # and an HTTP client, which few charts need

    return readings.services(readings.from_environment()).read(need)


def fetch_side_by_side(needs: Iterable[Need]) -> Fetch:
    """`fetch` for these needs, with the services of readings asked at the same time.

    Two services that do not answer take as long as one. Each is asked for one thing after another:
    once it has not answered, it is asked no more.
    """
    wanted = [need for need in dict.fromkeys(needs) if need.what not in (BARS, CALENDAR)]
    if len(wanted) < 2:
        return fetch
    from chartpact.sources import readings

    by_service: dict[str, list[Need]] = {}
    for need in wanted:
        if (feed := readings.FEEDS.get(need.what)) is not None:
            by_service.setdefault(feed.service, []).append(need)
    outcomes: dict[Need, Supply | Failure] = {}

    def ask(needs: Iterable[Need]) -> None:
        for need in needs:
            try:
                outcomes[need] = fetch(need)
            except Failure as failure:
                outcomes[need] = failure

    threads = [Thread(target=ask, args=(asked,), daemon=True) for asked in by_service.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    def look_up(need: Need) -> Supply:
        outcome = outcomes[need] if need in outcomes else fetch(need)
        if isinstance(outcome, Failure):
            raise outcome
        return outcome

    return look_up


def _load_at(name: str, timeframe: str | None) -> Bars:
    """The bars of a name, in longer ones where the timeframe says so."""
    if name.startswith(samples.PREFIX) or at_source(name) or is_bare_symbol(name):
        return load(name, timeframe=timeframe)
    bars = load(name)  # of a file, `timeframe` would say what the file does not
    return bars if timeframe is None else bars.resample(timeframe)


def to_bars(source: BarsLike) -> Bars:
    """Bars as they are, or those that `load` loads."""
    return source if isinstance(source, Bars) else load(source)


def load(source: BarsLike, **options: Unpack[LoadOptions]) -> Bars:
    """Bars of a CSV or Parquet file, of `sample:NAME`, of `SYMBOL@SOURCE`, or of a frame.

    A frame is one of pandas or polars, a mapping of columns, or a structured array.

    `tz` is the zone of times that name none; `stamp` says whether times are the bars' opens or
    their closes; `symbol`, `timeframe`, `tick_size`, `day_roll` and `market` ("24x7", "fx" or
    "listed") override what a file tells; `columns`, `sort`, `date_order` and `decimal` say how its
    rows are read. What was guessed is in `bars.notes`. Of `sample:NAME` and `SYMBOL@SOURCE`,
    `timeframe` asks for longer bars.
    """
    if not isinstance(source, str | PathLike):
        return load_file(source, **options)
    symbol = fspath(source)
    bare = is_bare_symbol(symbol)
    if not bare and at_source(symbol) is None:
        return load_file(source, **options)
    given = check_options(options)
    if unfit := content_options(given):
        raise BarsError(
            f"{symbol}: {' and '.join(unfit)} is for files; that of a folder is told "
            f"in {VARIABLE}, as in data=folder:/srv/bars?tz=America/New_York"
        )
    # Days that are as the caller says are made of the source's own bars.
    asked = None if "day_roll" in given or "market" in given else given.get("timeframe")
    directory = open_directory(of_local_user())
    try:
        return override(directory.load(symbol, asked), given)
    except SourceNotConfigured as error:
        raise SourceNotConfigured(f"{error}; {explain_absence(symbol)}") from None
    except UnknownSymbol as error:
        if not bare:
            raise
        file = unreadable(Path(symbol), FileNotFoundError())
        raise UnknownSymbol(f"{symbol}: {file}, and {error}") from None
    except BarsError as error:
        owner = given.get("symbol")
        if error.option != "symbol" or owner is None:
            raise
        file, at, source = symbol.rpartition("@")  # of a file of many symbols
        named = f"{file}/{owner}@{source}" if at else f"{symbol}/{owner}"
        return override(directory.load(named, asked), given)


def is_bare_symbol(text: str) -> bool:
    """Whether a text may be a symbol without a source, and no file's path.

    >>> is_bare_symbol("BTC/USDT"), is_bare_symbol("ES=F"), is_bare_symbol("es.csv")
    (True, True, False)
    """
    if text.startswith(samples.PREFIX) or FILE_ENDING.search(text) or os.path.exists(text):
        return False
    form = re.fullmatch(r"[A-Za-z0-9^][A-Za-z0-9.^=_&:-]{0,29}(/[A-Za-z0-9:-]{1,20})?", text)
    return form is not None
