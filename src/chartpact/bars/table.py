"""Tables of named columns: which column is which, and the fields of the Bars they make."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from chartpact.arrays import freeze
from chartpact.bars import timestamps
from chartpact.bars.columns import Column, Place, check
from chartpact.bars.errors import BarsError, translate_clock_errors
from chartpact.bars.filenames import NO_CLUES, NO_TIME, NameClues
from chartpact.bars.numerals import numbers, to_texts
from chartpact.bars.ticksize import tick_size_of
from chartpact.clock.markets import check_market, market_and_roll
from chartpact.clock.periods import opens
from chartpact.clock.timeframe import Timeframe, of_steps
from chartpact.clock.tradingcalendar import TradingCalendar
from chartpact.clock.zones import zone
from chartpact.prices import OHLC
from chartpact.problem import did_you_mean

TIME_NAMES = ("time_utc", "time", "timestamp", "datetime", "date", "open_time")
VOLUME_NAMES = ("volume", "vol", "real_volume")
TICK_VOLUME_NAMES = ("tickvol", "tick_volume", "tickvolume")
WANTED = (*TIME_NAMES, *OHLC, *VOLUME_NAMES, *TICK_VOLUME_NAMES)
MOST_LISTED = 20  # names of columns in a refusal


class Known(TypedDict, total=False):
    """The options as keyword arguments: what a caller knows better than the data."""

    tz: str | None  # the zone of times that name none
    stamp: str  # "open" or "close": what of a bar its time is
    symbol: str | None
    timeframe: str | None
    tick_size: float | None
    day_roll: str | None
    market: str | None  # "24x7", "fx" or "listed": which days are trading days


@dataclass(frozen=True)
class Options:
    """The options with their defaults filled in."""

    tz: str | None = None
    stamp: str = "open"
    symbol: str | None = None
    timeframe: str | None = None
    tick_size: float | None = None
    day_roll: str | None = None
    market: str | None = None

    @translate_clock_errors()
    def __post_init__(self) -> None:
        if self.stamp not in ("open", "close"):
            raise BarsError(f"stamp is {self.stamp!r}: a bar is stamped at its open or its close")
        if self.tz is not None:
            zone(self.tz)  # a misspelt zone is an error even where every time has an offset


@dataclass(frozen=True)
class Table:
    """Columns by their own names; `place` names a row, `aware` lists datetime columns in UTC."""

    columns: Mapping[str, Column]
    place: Place
    aware: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()  # what was guessed of the table itself


@dataclass(frozen=True)
class Roles:
    """The names of the columns that hold times, prices and volumes."""

    time: str
    date: str | None  # a second column that holds the date of each time
    prices: tuple[str, ...]
    volumes: tuple[str, ...]  # the first that is not all zero counts

    @property
    def names(self) -> list[str]:
        """All columns that bars are made of."""
        return [self.time, *filter(None, (self.date,)), *self.prices, *self.volumes]


def plain_name(name: str) -> str:
    """A heading without case, spaces around it, or the angle brackets of MetaTrader.

    >>> plain_name(" <TickVol> "), plain_name("Open Time")
    ('tickvol', 'open_time')
    """
    return re.sub(r"\s+", "_", name.strip().strip("<>").strip().lower())


def roles(names: list[str]) -> Roles:
    """Finds the columns of a bar among headings in any order and case."""
    headings: dict[str, str] = {}
    for name in names:
        plain = plain_name(name)
        if plain in WANTED and plain in headings:
            raise BarsError(f"there are two columns called {plain}")
        headings.setdefault(plain, name)
    time = next((name for name in TIME_NAMES if name in headings), None)
    missing = [*([] if time else ["time"]), *(name for name in OHLC if name not in headings)]
    if time is None or missing:
        more = ", …" if len(names) > MOST_LISTED else ""
        listed = ", ".join(f"{name!r:.40}" for name in names[:MOST_LISTED]) + more or "none"
        others = [name for plain, name in headings.items() if plain not in WANTED]
        hints = "".join(did_you_mean(name, others, before="; ") for name in missing if name in OHLC)
        needs = " and ".join(missing)
        accepted = "" if time else f" (a time column is called {' or '.join(TIME_NAMES)})"
        raise BarsError(f"no column {needs}{accepted}; the columns are {listed}{hints}")
    both = time == "time" and "date" in headings
    volumes = [name for name in (*VOLUME_NAMES, *TICK_VOLUME_NAMES) if name in headings]
    return Roles(
        time=headings[time],
        date=headings["date"] if both else None,
        prices=tuple(headings[name] for name in OHLC),
        volumes=tuple(headings[name] for name in volumes),
    )


@translate_clock_errors()
def to_fields(
    table: Table, options: Options, *, source: str, clues: NameClues = NO_CLUES
) -> dict[str, Any]:
    """The fields of the Bars of a table, checked row by row; `clues` are of a file's name."""
    which = roles(list(table.columns))
    time = _times(table, which, options.tz)
    columns: dict[str, Column] = {"time": time}
    for name, key in zip(OHLC, which.prices, strict=True):
        columns[name] = _numbers(table.columns[key], name, table.place)
    columns["volume"] = _volume(table, which)
    check(columns, table.place)
    if len(time) == 0:
        raise BarsError("there are no bars")
    symbol = options.symbol if options.symbol is not None else clues.symbol
    step = _timeframe(time, options.timeframe, clues.timeframe)
    market, roll = market_and_roll(symbol)
    market, roll = check_market(options.market or market), options.day_roll or roll
    if options.stamp == "close":
        if step is None:
            raise BarsError("the opening of one bar needs its timeframe: give it, as in '5m'")
        columns["time"] = opens(time, step, TradingCalendar.of(roll, market))
    prices = np.concatenate([columns[name] for name in OHLC])
    return {name: freeze(column) for name, column in columns.items()} | {
        "symbol": symbol,
        "timeframe": "" if step is None else str(step),
        "tick_size": tick_size_of(prices) if options.tick_size is None else options.tick_size,
        "day_roll": roll,
        "market": market,
        "source": source,
        "notes": (*table.notes, *_describe_clues(options, clues)),
    }


def _describe_clues(options: Options, clues: NameClues) -> list[str]:
    """What was taken from the file's name."""
    parts = [f"symbol {clues.symbol}"] if options.symbol is None and clues.guessed else []
    parts += (
        [f"timeframe {clues.timeframe}"] if options.timeframe is None and clues.timeframe else []
    )
    return [f"{' and '.join(parts)} by the file's name"] if parts else []


def _times(table: Table, which: Roles, tz: str | None) -> NDArray[np.int64]:
    values, name = table.columns[which.time], plain_name(which.time)
    if values.dtype.kind == "M":
        missing = np.isnat(values)
        if missing.any():
            raise BarsError(f"{table.place(int(np.argmax(missing)))}: {name} is empty")
        read = timestamps.of_datetimes(values, naive=which.time not in table.aware)
    elif values.dtype.kind in "iuf" and which.date is None:
        read = timestamps.of_numbers(values, table.place)
    else:
        texts = to_texts(values)
        if which.date is not None:
            dates = to_texts(table.columns[which.date])
            texts = timestamps.of_dates_and_times(dates, texts, table.place)
        read = timestamps.of_texts(texts, name, table.place)
    return timestamps.to_utc(read, "UTC" if name == "time_utc" else tz, table.place)


def _volume(table: Table, which: Roles) -> NDArray[np.float64]:
    """The first volume column that counts something; brokers fill one of theirs with zeros."""
    volumes = [_numbers(table.columns[key], "volume", table.place) for key in which.volumes]
    if not volumes:
        return np.full(len(table.columns[which.time]), np.nan)
    return next((volume for volume in volumes if np.nan_to_num(volume).any()), volumes[0])


def _numbers(values: Column, name: str, place: Place) -> NDArray[np.float64]:
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    return numbers(to_texts(values), name, place)


def _timeframe(time: NDArray[np.int64], option: str | None, named: str) -> Timeframe | None:
    """The timeframe that a caller or a file's name says, or that the steps between bars show.

    One bar alone has none.
    """
    step = of_steps(time)
    if option is not None:
        return _check_option(time, step, Timeframe.parse(option))
    if named:
        return _check_named(time, step, named)
    if step is None and len(time) > 1:
        raise BarsError("the timeframe cannot be told from these times: give it, as in '5m'")
    return step


def _check_option(time: NDArray[np.int64], step: Timeframe | None, wanted: Timeframe) -> Timeframe:
    # Days with a clock change are shorter than others, and so is February.
    if step is not None and np.mean(np.diff(time) < 0.9 * wanted.ms) > 0.5:
        raise BarsError(
            f"timeframe {wanted} was given, but the bars are {step} apart; "
            f"longer bars are made of them by bars.resample('{wanted}')"
        )
    return wanted


def _check_named(time: NDArray[np.int64], step: Timeframe | None, named: str) -> Timeframe:
    """The timeframe of a file's name, unless the rows contradict it."""
    if NO_TIME.fullmatch(named):
        raise BarsError(
            f"by the file's name these are bars of {named} on TradingView, which counts ticks or "
            "prices, not time: if they are to be read as bars of a timeframe, give it, as in '5m'"
        )
    wanted = Timeframe.parse(named)
    steps = np.diff(time)
    # A quiet symbol lacks bars, even most of them, but two of many are next to each other.
    sparse = wanted.intraday and not (steps % wanted.ms).any() and (steps == wanted.ms).any()
    if step in (None, wanted) or sparse:
        return wanted
    raise BarsError(
        f"the file's name says {wanted}, but the bars are {step} apart: "
        f"give the timeframe, as in '{step}'"
    )
