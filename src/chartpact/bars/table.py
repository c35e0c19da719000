"""Tables of named columns, and the fields of the Bars they make."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.arrays import freeze
from chartpact.bars import timestamps
from chartpact.bars.columns import Column, DescribeRow, check
from chartpact.bars.errors import BarsError, translate_clock_errors
from chartpact.bars.filenames import NO_CLUES, NO_TIME, NameClues
from chartpact.bars.numerals import find_mark, numbers, to_texts
from chartpact.bars.options import LoadOptions
from chartpact.bars.roles import Roles, pick_symbol, plain_name, roles
from chartpact.bars.ticksize import tick_size_of
from chartpact.clock.markets import Market, day_roll_of_dates, explain_guess, market_and_roll
from chartpact.clock.periods import opens
from chartpact.clock.timeframe import DAY, Timeframe, of_steps
from chartpact.clock.tradingcalendar import TradingCalendar
from chartpact.prices import OHLC

NINJATRADER = "NinjaTrader"
NO_SYMBOL = "without a symbol, trading days begin at midnight UTC"
BILLION = 1e9
SORTED = "rows were newest first, and are turned around"


@dataclass(frozen=True)
class BarTable:
    """Columns by their own names; `place` names a row, `aware` lists datetime columns in UTC."""

    columns: Mapping[str, Column]
    place: DescribeRow
    aware: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()  # what was guessed of the table itself
    symbol: str = ""  # where headings tell it
    roles: Roles | None = None  # where they were found already
    shape: str = ""  # whose file it is, where its first row tells

    def take(self, rows: NDArray[np.intp]) -> "BarTable":
        """The table of these rows, which keep the names of their places."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, columns=columns, place=lambda row: self.place(int(rows[row])))


@translate_clock_errors()
def to_fields(
    table: BarTable, options: LoadOptions, *, source: str, clues: NameClues = NO_CLUES
) -> dict[str, Any]:
    """The fields of the Bars of a table, checked row by row; `clues` are of a file's name."""
    which = table.roles or roles(list(table.columns), options.get("columns"))
    table = replace(table, notes=(*which.notes, *table.notes) if not table.roles else table.notes)
    table = _rows_of_one_symbol(table, which, options)
    stamps = _stamps(table, which, options)
    table, stamps = _oldest_first(table, stamps, options)
    tz = "UTC" if which.utc else options.get("tz")
    time = timestamps.to_utc(stamps, tz, table.place)
    if options.get("sort"):
        order = np.argsort(time, kind="stable")
        table, time = _reorder(table, order), time[order]
    columns, notes = _price_columns(table, which, options)
    columns = {"time": time, **columns}
    check(columns, table.place)
    if len(time) == 0:
        raise BarsError("there are no bars")
    if table.symbol:
        clues = replace(clues, symbol=table.symbol, guessed=False)
    symbol, tick_size = options.get("symbol"), options.get("tick_size")
    if symbol is None:
        symbol = clues.symbol
    step = _timeframe(time, options.get("timeframe"), clues.timeframe)
    market, roll = usual_days(symbol, time, step)
    market, roll = options.get("market") or market, options.get("day_roll") or roll
    told = "market" in options or "day_roll" in options
    intraday = step is None or step.intraday
    if (options.get("stamp") or (intraday and clues.stamp)) == "close":
        if step is None:
            raise BarsError("the opening of one bar needs its timeframe: give it, as in '5m'")
        columns["time"] = opens(time, step, TradingCalendar.of(roll, market))
    prices = np.concatenate([columns[name] for name in OHLC])
    return {name: freeze(column) for name, column in columns.items()} | {
        "symbol": symbol,
        "timeframe": "" if step is None else str(step),
        "tick_size": tick_size_of(prices) if tick_size is None else tick_size,
        "day_roll": roll,
        "market": market,
        "source": source,
        "notes": (
            *_describe_clues(options, clues, intraday, table.shape),
            *table.notes,
            *stamps.notes,
            *notes,
            *([] if symbol or "day_roll" in options or not intraday else [NO_SYMBOL]),
            *filter(None, [intraday and not told and explain_guess(symbol)]),
        ),
    }


def usual_days(symbol: str, time: NDArray[np.int64], step: Timeframe | None) -> tuple[Market, str]:
    """The market and the day roll that are usual for a symbol, with bars at these times."""
    market, roll = market_and_roll(symbol)
    dates = step is not None and not step.intraday and not (time % DAY).any()
    return market, day_roll_of_dates(roll) if dates else roll


def _describe_clues(
    options: LoadOptions, clues: NameClues, intraday: bool, shape: str
) -> list[str]:
    """What was taken from the file's name."""
    parts = [f"symbol {clues.symbol}"] if "symbol" not in options and clues.guessed else []
    parts += (
        [f"timeframe {clues.timeframe}"] if "timeframe" not in options and clues.timeframe else []
    )
    notes = [f"{' and '.join(parts)} by the file's name"] if parts else []
    if "stamp" not in options and intraday and clues.stamp == "close":
        notes.append("times are the bars' closes, as in NinjaTrader's files of this name")
    elif "stamp" not in options and intraday and shape == NINJATRADER:
        notes.append(
            "times are read as the bars' opens; NinjaTrader's are closes, which stamp says"
        )
    return notes


def _rows_of_one_symbol(table: BarTable, which: Roles, options: LoadOptions) -> BarTable:
    """The rows of the symbol that a column of the table names, or of the one that is wanted."""
    if which.symbol is None or not len(table.columns[which.symbol]):
        return table
    owners = to_texts(table.columns[which.symbol])
    if (owners == owners[0]).all():
        owner = owners[0].decode("utf-8", "replace")
        note = f"symbol {owner} by the column {which.symbol!r}"
        notes = (*table.notes, note) if owner and "symbol" not in options else table.notes
        return replace(table, symbol=owner, notes=notes)
    symbols = [symbol.decode("utf-8", "replace") for symbol in np.unique(owners)]
    owner = pick_symbol(symbols, options.get("symbol"), "rows of")
    return replace(table.take(np.flatnonzero(owners == owner.encode())), symbol=owner)


def rows_of(table: BarTable, symbol: str) -> BarTable | None:
    """The rows of a symbol by the column that names it; None where it names no such symbol."""
    which = table.roles or roles(list(table.columns))
    if which.symbol is None:
        return None
    rows = np.flatnonzero(to_texts(table.columns[which.symbol]) == symbol.encode())
    return table.take(rows) if len(rows) else None


def join(parts: Mapping[str, BarTable]) -> BarTable:
    """The rows of tables of one form, one after the other; errors name the part and its row."""
    tables = list(parts.values())
    first = tables[0]
    for name, table in parts.items():
        if (table.columns.keys(), table.aware) != (first.columns.keys(), first.aware):
            raise BarsError(f"{name}: its columns are not those of {next(iter(parts))}")
    counts = [len(next(iter(table.columns.values()))) for table in tables]
    begins = np.cumsum([0, *counts[:-1]])

    def place(row: int) -> str:
        number = int(np.searchsorted(begins, row, side="right")) - 1
        return f"{list(parts)[number]}: {tables[number].place(row - int(begins[number]))}"

    columns = {
        name: np.concatenate([table.columns[name] for table in tables]) for name in first.columns
    }
    return replace(first, columns=columns, place=place)


def _oldest_first(
    table: BarTable, stamps: timestamps.Stamps, options: LoadOptions
) -> tuple[BarTable, timestamps.Stamps]:
    """Rows that are newest first, turned around: before a wall clock is read, which may go back."""
    steps = np.diff(stamps.ms)
    backwards = (
        len(steps) and stamps.ms[0] > stamps.ms[-1] and (steps < 0).sum() > (steps > 0).sum()
    )
    if not backwards or options.get("sort") is False:
        return table, stamps
    order = np.arange(len(stamps.ms))[::-1]
    table = table.take(order)
    return replace(table, notes=(*table.notes, SORTED)), stamps.take(order)


def _reorder(table: BarTable, order: NDArray[np.intp]) -> BarTable:
    """The rows in the order of time."""
    if (np.diff(order) == 1).all():
        return table
    notes = table.notes if SORTED in table.notes else (*table.notes, "rows were sorted by time")
    return replace(table.take(order), notes=notes)


def _stamps(table: BarTable, which: Roles, options: LoadOptions) -> timestamps.Stamps:
    values, name = table.columns[which.time], plain_name(which.time) or "time"
    if values.dtype.kind == "M":
        missing = np.isnat(values)
        if missing.any():
            raise BarsError(f"{table.place(int(np.argmax(missing)))}: {name} is empty")
        return timestamps.of_datetimes(values, naive=which.time not in table.aware)
    if values.dtype.kind in "iuf" and which.date is None:
        return timestamps.of_numbers(values, table.place)
    texts = to_texts(values)
    if which.date is not None:
        dates = to_texts(table.columns[which.date])
        texts = timestamps.of_dates_and_times(dates, texts, table.place)
    return timestamps.of_texts(texts, name, table.place, options.get("date_order"))


def _price_columns(
    table: BarTable, which: Roles, options: LoadOptions
) -> tuple[dict[str, Column], tuple[str, ...]]:
    """The prices and the volume, and what was guessed to read them."""
    keys = {
        **dict(zip(OHLC, which.prices, strict=True)),
        **{f"volume {key}": key for key in which.volumes},
    }
    texts = {
        name.partition(" ")[0]: to_texts(table.columns[key])
        for name, key in keys.items()
        if table.columns[key].dtype.kind not in "iuf"
    }
    decimal = options.get("decimal")
    mark, notes = (decimal, ()) if decimal else find_mark(texts, table.place)
    columns = {
        name: _numbers(table.columns[key], name, table.place, mark)
        for name, key in zip(OHLC, which.prices, strict=True)
    }
    if which.billionths and all(_is_whole(table.columns[key]) for key in which.prices):
        columns = {name: column / BILLION for name, column in columns.items()}
        notes = (*notes, "prices are read as billionths, as in Databento's files")
    # The first volume that counts something; brokers fill one of theirs with zeros.
    volumes = [_numbers(table.columns[key], "volume", table.place, mark) for key in which.volumes]
    volumes = volumes or [np.full(len(table.columns[which.time]), np.nan)]
    counted = (volume for volume in volumes if np.nan_to_num(volume).any())
    columns["volume"] = next(counted, volumes[0])
    return columns, notes


def _is_whole(values: Column) -> bool:
    """Whether a column has whole numbers, or texts without a decimal point."""
    return values.dtype.kind in "iu" or (
        values.dtype.kind in "SU" and not (np.char.find(to_texts(values), b".") >= 0).any()
    )


def _numbers(values: Column, name: str, place: DescribeRow, mark: str) -> NDArray[np.float64]:
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    return numbers(to_texts(values), name, place, mark)


def _timeframe(time: NDArray[np.int64], option: str | None, named: str) -> Timeframe | None:
    """The timeframe of the rows: that of a file's name, or the one that their steps show.

    What a caller asks for may be longer, and decides where the rows tell nothing. One bar alone has
    no timeframe.
    """
    step = of_steps(time)
    if option is not None:
        return _check_option(time, step, Timeframe.parse(option), named)
    if named:
        return _check_named(time, step, named)
    if step is None and len(time) > 1:
        raise BarsError(
            "the timeframe cannot be told from these times: give it, as in '5m'",
            option="timeframe",
        )
    return step


def _check_option(
    time: NDArray[np.int64], step: Timeframe | None, wanted: Timeframe, named: str
) -> Timeframe:
    of_name = None if not named or NO_TIME.fullmatch(named) else Timeframe.parse(named)
    for own in (wanted, of_name):
        if own is not None and (step in (None, own) or _may_be(time, own)):
            return own
    if step is None or step.ms < wanted.ms:
        return step or wanted
    raise BarsError(
        f"timeframe {wanted} was asked for, but the bars are {step} apart: "
        "shorter bars cannot be made of them",
        option="timeframe",
    )


def _may_be(time: NDArray[np.int64], own: Timeframe) -> bool:
    """Whether the rows may be bars of a timeframe that is not the commonest step.

    A quiet symbol lacks bars, even most of them, but two are next to each other. Where two steps
    are as common, as in closes of a few short days, neither is the commonest.
    """
    steps, counts = np.unique(np.diff(time), return_counts=True)
    here = counts[steps == own.ms]
    quiet = own.intraday and not (steps % own.ms).any()
    return bool(len(here) and (quiet or here[0] == counts.max()))


def _check_named(time: NDArray[np.int64], step: Timeframe | None, named: str) -> Timeframe:
    """The timeframe of a file's name, unless the rows contradict it."""
    if NO_TIME.fullmatch(named):
        raise BarsError(
            f"by the file's name these are bars of {named} on TradingView, which counts ticks or "
            "prices, not time: if they are to be read as bars of a timeframe, give it, as in '5m'",
            option="timeframe",
        )
    wanted = Timeframe.parse(named)
    if step in (None, wanted) or _may_be(time, wanted):
        return wanted
    raise BarsError(
        f"the file's name says {wanted}, but the bars are {step} apart: "
        f"give the timeframe, as in '{step}'",
        option="timeframe",
    )
