"""Bars: the immutable columns of one symbol at one timeframe, checked where they are made."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact.arrays import freeze
from chartpact.bars import dataframes
from chartpact.bars.columns import COLUMNS, TIMES, check, to_column
from chartpact.bars.errors import BarsError, translate_clock_errors
from chartpact.bars.filenames import NO_CLUES, NameClues
from chartpact.bars.options import LoadOptions, check_options
from chartpact.bars.table import BarTable, to_fields, usual_days
from chartpact.checks import is_number, is_whole
from chartpact.clock.markets import LISTED, check_market
from chartpact.clock.periods import Periods, closes, periods
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.tradingcalendar import TradingCalendar, canonical_roll
from chartpact.clock.walltime import iso
from chartpact.frames import to_pandas, to_polars
from chartpact.prices import STORED, derive

Times = NDArray[np.int64]
Prices = NDArray[np.float64]

RESAMPLED = ", resampled"
AnyBars = TypeVar("AnyBars", bound="Bars")


def _price_property(name: str) -> "cached_property[Prices]":
    return cached_property(lambda bars: freeze(derive(name, lambda column: getattr(bars, column))))


class Bar(NamedTuple):
    """One bar, as `bars[i]` gives it."""

    time: int
    open: float
    high: float
    low: float
    close: float
    volume: float


@dataclass(frozen=True, eq=False, repr=False)
class Bars:
    """Columns of one symbol at one timeframe; `time` is each bar's opening in UTC ms.

    Volume is NaN where none was reported. The arrays are read-only, and so is everything else.

    >>> bars = Bars([0, 60_000], [1, 2], [3, 3], [1, 1], [2, 3], [10, 20], "X", "1m")
    >>> len(bars), bars[-1].close, bars[:1].high.tolist()
    (2, 3.0, [3.0])
    """

    time: Times
    open: Prices
    high: Prices
    low: Prices
    close: Prices
    volume: Prices
    symbol: str = ""
    timeframe: str = ""
    tick_size: float | None = None
    synthetic: bool = False
    day_roll: str = ""  # "" becomes what is usual for the symbol
    source: str = ""
    pair: str | None = None  # BARS of a related symbol, for indicators that compare two
    calendar: str | None = None  # where the economic events of these weeks are found
    market: str = ""  # "24x7", "fx" or "listed"; "" becomes what the symbol's name says
    ends: Times | None = None  # when bars are over, where time and timeframe do not say it
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was guessed of a file
    fetched: int | None = field(default=None, compare=False)  # when a service was asked, UTC ms

    @translate_clock_errors()
    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in COLUMNS:
            put(self, name, to_column(name, getattr(self, name)))
        check({name: getattr(self, name) for name in COLUMNS}, "bar {}".format)
        if self.timeframe:
            put(self, "timeframe", str(Timeframe.parse(self.timeframe)))
        if not isinstance(self.symbol, str):
            raise BarsError(f"symbol is {self.symbol!r}: it is a text")
        tick_size = self.tick_size
        if tick_size is not None and not (is_number(tick_size) and tick_size > 0):
            raise BarsError(f"tick_size is {tick_size!r}: it is a positive number")
        step = Timeframe.parse(self.timeframe) if self.timeframe else None
        market, roll = usual_days(self.symbol, self.time, step)
        put(self, "day_roll", canonical_roll(self.day_roll or roll))
        put(self, "market", check_market(self.market or market))
        if self.ends is not None:
            ends = to_column("ends", self.ends)
            if ends.shape != self.time.shape or (ends <= self.time).any():
                raise BarsError("ends has one time for each bar, after the bar's time")
            put(self, "ends", None if np.array_equal(ends, self._nominal_ends()) else ends)

    @classmethod
    def from_columns(cls, data: Mapping[str, ArrayLike], /, **options: Unpack[LoadOptions]) -> Self:
        """Bars of columns named as in a file, in any case: time, open, high, low, close, volume.

        Times are epoch seconds or ms, datetime64, or texts. The options are those of `load`.
        """
        table = dataframes.tabulate_columns(data)
        return of_table(cls, table, check_options(options), "columns")

    @classmethod
    def from_numpy(cls, array: Any, **options: Unpack[LoadOptions]) -> Self:
        """Bars of a structured NumPy array; the options are those of `load`."""
        table = dataframes.tabulate_numpy(array)
        return of_table(cls, table, check_options(options), "NumPy array")

    @classmethod
    def from_pandas(cls, frame: Any, **options: Unpack[LoadOptions]) -> Self:
        """Bars of a pandas frame, its times in a column or the index; options as in `load`."""
        table = dataframes.tabulate_pandas(frame, options.get("symbol"))
        clues = dataframes.clues_of(frame)
        return of_table(cls, table, check_options(options), "pandas frame", clues)

    @classmethod
    def from_polars(cls, frame: Any, **options: Unpack[LoadOptions]) -> Self:
        """Bars of a polars frame, or of a lazy one; the options are those of `load`."""
        table = dataframes.tabulate_polars(frame)
        return of_table(cls, table, check_options(options), "polars frame")

    def to_pandas(self) -> Any:
        """A pandas DataFrame indexed by the opening times; `attrs` holds symbol and timeframe."""
        frame = to_pandas({name: getattr(self, name) for name in STORED}, self.time)
        frame.attrs |= {"symbol": self.symbol, "timeframe": self.timeframe}
        return frame

    def to_polars(self) -> Any:
        """A polars DataFrame; its column `time` holds the opening times in UTC."""
        return to_polars({name: getattr(self, name) for name in STORED}, self.time)

    def __len__(self) -> int:
        return len(self.time)

    @overload
    def __getitem__(self, which: int) -> Bar: ...
    @overload
    def __getitem__(self, which: slice) -> Self: ...
    def __getitem__(self, which: int | slice) -> "Bar | Self":
        if isinstance(which, slice):
            if which.step not in (None, 1):
                raise BarsError(f"bars are cut in steps of 1, not {which.step}; see resample")
            return self._cut(which)
        return Bar(*(getattr(self, name)[which].item() for name in COLUMNS))

    def last(self, count: int) -> Self:
        """The last `count` bars, or all of them where there are fewer."""
        if count < 0:
            raise BarsError(f"last({count}): the number of bars is not negative")
        return self[max(len(self) - count, 0) :]

    def take(self, which: slice | NDArray[np.intp]) -> Self:
        """The bars at these places, in the order of time."""
        columns: dict[str, Any] = {name: getattr(self, name)[which] for name in COLUMNS}
        if self.ends is not None:
            columns["ends"] = self.ends[which]
        return replace(self, **columns)

    def _cut(self, which: slice) -> Self:
        """A run of the bars. They were checked when they were made, and so is any run of them."""
        if len(self.time[which]) == len(self):
            return self
        cut = object.__new__(type(self))
        for part in fields(self):
            value = getattr(self, part.name)
            value = value[which] if isinstance(value, np.ndarray) else value
            object.__setattr__(cut, part.name, value)
        if cut.ends is not None and np.array_equal(cut.ends, cut._nominal_ends()):
            object.__setattr__(cut, "ends", None)
        return cut

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bars):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=name not in TIMES)
            if name in (*COLUMNS, *TIMES)
            else getattr(self, name) == getattr(other, name)
            for name in (field.name for field in fields(self) if field.compare)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        what = " ".join(filter(None, (self.symbol, self.timeframe)))
        span = f", {iso(self.time[0])} to {iso(self.time[-1])}" if len(self) else ""
        kind = ", synthetic" if self.synthetic else ""
        return f"<Bars {what or '(no symbol)'}: {len(self)} bars{span}{kind}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    # ------------------------------------------------------------------------------- typical prices

    hl2 = _price_property("hl2")
    hlc3 = _price_property("hlc3")
    ohlc4 = _price_property("ohlc4")
    hlcc4 = _price_property("hlcc4")

    # ---------------------------------------------------------------------------------------- times

    @cached_property
    def close_time(self) -> Times:
        """When each bar is over, in UTC ms: at the end of its timeframe or of its trading day."""
        return self._nominal_ends() if self.ends is None else self.ends

    def _nominal_ends(self) -> Times:
        return freeze(closes(self.time, self._step("close_time"), self._trading_calendar))

    @cached_property
    def trading_day(self) -> Times:
        """The date of each bar's trading day, in days since 1970-01-01."""
        return freeze(self._trading_calendar.date(self.time))

    @property
    def _trading_calendar(self) -> TradingCalendar:
        return TradingCalendar.of(self.day_roll, self.market)

    # --------------------------------------------------------------------------- higher timeframes

    @translate_clock_errors()
    def resample(
        self,
        timeframe: str,
        day_roll: str | None = None,
        partial: bool = False,
        stamp: Literal["first", "period"] = "first",
    ) -> Self:
        """The whole bars of a higher timeframe, each at the time of its first bar here.

        With `stamp="period"` each is at the start of its period, as in the frames of other tools.

        A higher bar is there only once its period is over by the close of the last bar here, and
        the first only if its period does not begin before the first bar here. `partial` keeps
        these two; `periods(timeframe).whole` tells which they are. Intraday periods count from
        the start of the trading day; days, weeks and months consist of whole trading days, so
        that Monday of a futures week opens on Sunday evening.
        """
        higher, own = Timeframe.parse(timeframe), self._step("resample")
        roll = canonical_roll(day_roll or self.day_roll)
        if stamp not in ("first", "period"):
            raise BarsError(f"stamp is {stamp!r:.40}: it is 'first' or 'period'")
        if higher == own and roll == self.day_roll:
            return self if stamp == "first" or not len(self) else self._at_starts()
        if not own.nests_in(higher):
            reason = "is shorter" if higher.ms < own.ms else "is not made of whole bars"
            raise BarsError(f"bars of {own} cannot be resampled to {higher}, which {reason}")
        rolled = self if roll == self.day_roll else replace(self, day_roll=roll)
        if len(self) == 0:
            return replace(rolled, timeframe=str(higher), source=_describe_resampling(self.source))
        groups = rolled.periods(timeframe)
        first = groups.first
        columns: dict[str, Any] = {
            "time": self.time[first] if stamp == "first" else groups.start,
            "open": self.open[first],
            "high": np.maximum.reduceat(self.high, first),
            "low": np.minimum.reduceat(self.low, first),
            "close": self.close[groups.stop - 1],
            "volume": np.add.reduceat(self.volume, first),
            "ends": groups.end,
        }
        if not partial:
            columns = {name: column[groups.whole] for name, column in columns.items()}
        source = _describe_resampling(self.source)
        return replace(rolled, timeframe=str(higher), source=source, **columns)

    def _at_starts(self) -> Self:
        """The same bars, each at the start of its period."""
        groups = self.periods(self.timeframe)
        if len(groups.first) < len(self):
            raise BarsError(
                f"these bars of {self.timeframe} do not each lie in a period of their own, "
                "whose start they could be stamped with"
            )
        return replace(self, time=groups.start, ends=self.close_time)

    @translate_clock_errors()
    def periods(self, timeframe: str) -> Periods:
        """How these bars group into periods of a higher timeframe, those not whole included."""
        higher, own = Timeframe.parse(timeframe), self.timeframe and self._step("periods")
        if self.market == LISTED and own and higher.unit == own.unit == "D" and own.count > 1:
            raise BarsError(f"{higher} of a listed market is counted by daily bars, not by {own}")
        until = int(self.close_time[-1]) if own and len(self) else None
        return periods(self.time, higher, self._trading_calendar, until)

    def _step(self, why: str) -> Timeframe:
        if not self.timeframe:
            raise BarsError(f"{why} needs the bars' timeframe: pass timeframe= when making them")
        return Timeframe.parse(self.timeframe)


def of_table(
    kind: type[AnyBars],
    table: BarTable,
    options: LoadOptions,
    source: str,
    clues: NameClues = NO_CLUES,
) -> AnyBars:
    """Bars of a table's rows, as the options ask for them; `clues` are of a file's name."""
    return as_asked(kind(**to_fields(table, options, source=source, clues=clues)), options)


def as_asked(bars: AnyBars, options: LoadOptions) -> AnyBars:
    """The bars in the timeframe that options ask for, stamped so, and the last of them."""
    timeframe, last = options.get("timeframe"), options.get("last")
    stamp = options.get("resample_stamp") or "first"
    if bars.timeframe and (timeframe is not None or stamp == "period"):
        made = bars.resample(timeframe or bars.timeframe, stamp=stamp)
        if not len(made) and len(bars):
            raise BarsError(
                f"there is no whole bar of {made.timeframe} in {len(bars)} bars of {bars.timeframe}"
            )
        bars = made
    if last is None:
        return bars
    if not is_whole(last) or last < 1:
        raise BarsError(f"last is {last!r:.40}: it is a number of bars, from 1")
    return bars.last(last)


def _describe_resampling(source: str) -> str:
    """The source of bars that were made of its bars; its name may tell their timeframe."""
    return source and source.removesuffix(RESAMPLED) + RESAMPLED
