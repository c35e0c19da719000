"""`ohlcv`: the bars as a script sees them."""

import math
from collections.abc import Callable
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from chartpact.arrays import any_true
from chartpact.bars import Bars, BarsError, last_closed, stretch
from chartpact.bars.alignment import times_to_match
from chartpact.clock.timeframe import of_steps
from chartpact.prices import DERIVED, STORED, decimals_of
from chartpact.script.errors import OPERAND, Fault
from chartpact.script.host.text import MOST_DECIMALS, number
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import (
    OPERATION,
    Array,
    Series,
    TextSeries,
    array_of,
    check_lengths,
)
from chartpact.script.runtime.values import LISTS, HostObject, a_type
from chartpact.ta.arithmetic import round_number
from chartpact.textcolumn import TextColumn

Call = Callable[..., Any]  # how a run calls a function of the script
SERIES = (*STORED, "time", *DERIVED)
CLOCK = ("close_time", "trading_day")  # what the clock tells of each bar
TIMES = ("time", *CLOCK)
FACTS = ("symbol", "timeframe", "tick_size", "day_roll", "market")
GROUPS = ("first_bar", "whole")  # of higher bars: the first bar of each, whether it is complete
_LARGEST_PRICE = 1e15  # that is written by its tick
_MOST_TICKS = 2**53  # in a price: beyond it every float is a whole number of them


class Ohlcv(HostObject):
    """Prices, volume and times of the chart's bars, of higher bars, or of another symbol.

    `bars` are the bars themselves; `columns` what the script sees of them, which may be stretched
    or have gaps where they are laid `on` the bars of a chart. A series is made when it is first
    read, and is an ordinary attribute from then on: helpers read `o.close[i]` bar by bar.
    """

    type_name = "ohlcv"
    fields = frozenset((*SERIES, *CLOCK, *GROUPS, "bar_index", "first_visible", *FACTS))
    methods = frozenset(("price_text", "resample", "security", "series"))

    def __init__(
        self,
        bars: Bars,
        meter: Meter,
        columns: Any = None,
        on: Bars | None = None,
        *,
        call: Call,
        first_visible: int = 0,
    ) -> None:
        self._bars = bars
        self._on = bars if on is None else on
        self.first_visible = first_visible
        self.call = call
        self.meter = meter
        self.columns = bars if columns is None else columns
        self._index: Array | None = None  # of the bar that each chart bar sees, if stretched
        self._made: tuple[Ohlcv, str, bool] | None = None  # of which it was resampled, and how

    def __len__(self) -> int:
        return len(self.columns.close)

    def __getattr__(self, name: str) -> Series:
        if name in SERIES:
            self.meter.charge(18)
            column = getattr(self.columns, name)
            if name in DERIVED and any_true(infinite := np.isinf(column)):
                column = np.where(infinite, np.nan, column)  # the sum of prices is beyond floats
            series = Series(column, self.meter)
        elif name in CLOCK:
            series = self._clock(name)
        elif name in GROUPS:
            series = self._grouping(name)
        else:
            raise AttributeError(name)
        if name in TIMES and series.array.dtype == np.float64:  # stretched: na before the first
            self._keep_whole(series)
        setattr(self, name, series)
        return series

    @cached_property
    def bar_index(self) -> Series:
        """The number of each bar."""
        self.meter.charge(OPERATION + len(self) // 16)
        return Series(np.arange(len(self), dtype=np.float64), self.meter)

    @property
    def symbol(self) -> str:
        return self._bars.symbol

    @property
    def timeframe(self) -> str:
        """The timeframe of the bars; without one, what the steps between them show."""
        return self._bars.timeframe or self._timeframe_of_steps

    @cached_property
    def _timeframe_of_steps(self) -> str:
        self.meter.charge(OPERATION + len(self._bars))
        return str(of_steps(self._bars.time) or "")

    @property
    def tick_size(self) -> float | None:
        tick = self._bars.tick_size
        return None if tick is None else float(tick)

    @property
    def day_roll(self) -> str:
        return self._bars.day_roll

    @property
    def market(self) -> str:
        return self._bars.market

    def _clock(self, name: str) -> Series:
        self.meter.charge(5_000 + len(self) // 2)
        try:
            if self._index is None:
                return Series(getattr(self._on, name), self.meter)
            return Series(stretch(getattr(self._bars, name), self._index), self.meter)
        except BarsError as error:
            raise Fault("value", str(error)) from None

    def _grouping(self, name: str) -> Series:
        """`first_bar` and `whole` of what `resample` made."""
        if self._made is None:
            raise Fault(
                "value", f"{name} is of higher bars: write ohlcv.resample(timeframe).{name}"
            )
        lower, timeframe, partial = self._made
        self.meter.charge(10_000 + 2 * len(lower))
        if lower._bars is self._bars:  # resampled to its own timeframe
            first, whole = np.arange(len(self)), np.ones(len(self), np.bool_)
        else:
            groups = lower._bars.periods(timeframe)
            kept = np.flatnonzero(groups.whole | partial)
            first, whole = groups.first[kept], groups.whole[kept]
        if name == "whole":
            return Series(whole, self.meter)
        at = np.searchsorted(lower._on.time, lower._bars.time[first])
        return Series(at.astype(np.int64), self.meter)

    def resample(self, timeframe: Any, partial: Any = False) -> "Ohlcv":
        """The whole bars of a higher timeframe, a shorter ohlcv; those in part too if asked."""
        if type(partial) is not bool:
            raise Fault("type", f"partial is True or False, not {a_type(partial)}")
        return self._resampled(self._higher(timeframe, partial), timeframe, partial)

    def _resampled(self, higher: Bars, timeframe: str, partial: bool = False) -> "Ohlcv":
        first = self._first_of(higher)
        shorter = Ohlcv(higher, self.meter, call=self.call, first_visible=first)
        shorter._made = (self, timeframe, partial)
        return shorter

    def series(self, value: Any) -> Series | TextSeries:
        """A series of one value on every bar, or of a list with one value a bar.

        Numbers and None give a series, True and False a condition, texts a text series.
        """
        length = len(self)
        self.meter.charge(OPERATION + length // 8)
        if type(value) in (Series, TextSeries):
            check_lengths(length, len(value))
            return value  # type: ignore[no-any-return]
        of_list = type(value) in LISTS
        values = value if of_list else [value]
        kinds = set(map(type, values))
        self.meter.charge(len(values) // 8)
        if str in kinds and kinds <= {str, type(None)}:
            if of_list:
                self.meter.charge(5 * length)
                check_lengths(length, len(values))
            column = TextColumn.encode(values) if of_list else TextColumn.repeat(value, length)
            return TextSeries(column, self.meter)
        try:
            array = array_of(values, length if of_list else None, self.meter)
        except Fault as error:
            if error.cause != OPERAND:
                raise
            message = "a series is made of numbers, of conditions or of texts, not {}"
            hint = "write ohlcv.series(0), or a list with one value a bar, None where it is na"
            raise Fault("type", message.format(a_type(error.value)), hint) from None
        return Series(array if of_list else np.repeat(array, length), self.meter)

    def price_text(self, x: Any) -> str:
        """A price rounded to the tick and with its decimals; na is "NaN"."""
        self.meter.charge(80)
        if type(x) not in (int, float, type(None)):
            hint = "take one bar: s[i]" if type(x) is Series else ""
            raise Fault("type", f"ohlcv.price_text takes a number, not {a_type(x)}", hint)
        tick = self.tick_size
        if x is None or tick is None or not abs(x) < _LARGEST_PRICE:
            self.meter.charge(x.bit_length() // 2 if type(x) is int else 0)
            return number(x)
        price = round_number(x / tick) * tick if abs(x / tick) < _MOST_TICKS else float(x)
        return number(price, min(decimals_of(tick), MOST_DECIMALS))

    def security(self, timeframe: Any, calculate: Any = None) -> Any:
        """A higher timeframe on the chart's bars: each sees the last completed higher bar.

        `calculate` is a function of the higher bars; what it gives is laid on the chart's bars.
        """
        higher = self._higher(timeframe)
        self.meter.charge(6_000 + 2 * len(self._on))
        index = last_closed(self._on, higher)
        if calculate is not None:
            calculated = self.call(calculate, self._resampled(higher, timeframe))
            return self._lay(calculated, len(higher), index)
        stretched = {name: stretch(getattr(higher, name), index) for name in SERIES}
        columns = SimpleNamespace(**stretched)
        laid = Ohlcv(
            higher,
            self.meter,
            columns,
            self._on,
            call=self.call,
            first_visible=self.first_visible,
        )
        laid._index = index
        return laid

    def _first_of(self, higher: Bars) -> int:
        """The first higher bar in view: the one that holds the first bar in view."""
        if not self.first_visible or self.first_visible >= len(self._on):
            return 0
        time = self._on.time[self.first_visible]
        return max(int(np.searchsorted(higher.time, time, "right")) - 1, 0)

    def _lay(self, calculated: Any, length: int, index: Array) -> Any:
        """A series of the higher bars, or a tuple of some, on the chart's bars."""
        if type(calculated) is tuple:
            return tuple(self._lay(part, length, index) for part in calculated)
        self.meter.charge(OPERATION + len(index) // 8)
        if type(calculated) in LISTS:
            calculated = Series(array_of(calculated, length, self.meter), self.meter)
        if type(calculated) is not Series or len(calculated) != length:
            what = a_type(calculated)
            if type(calculated) is Series:
                what = f"a series of {len(calculated)} bars, where there are {length} higher ones"
            message = f"what is calculated on higher bars is a series of them, not {what}"
            hint = 'as in ohlcv.security("1h", lambda h: ta.ema(h.close, 20))'
            raise Fault("type", message, hint)
        if calculated.array.dtype == np.bool_:
            return Series(np.append(calculated.array, False)[index], self.meter)
        laid = Series(stretch(calculated.array, index), self.meter)
        if calculated.array.dtype == np.int64:
            self._keep_whole(laid)
        return laid

    def _keep_whole(self, series: Series) -> None:
        """Makes the elements of a stretched series ints again, na where it has none."""
        self.meter.charge(len(series))
        numbers = series.array.tolist()
        series.listed = [number if math.isnan(number) else int(number) for number in numbers]

    def _higher(self, timeframe: Any, partial: bool = False) -> Bars:
        if type(timeframe) is not str:
            raise Fault("type", f'a timeframe is a string such as "1D", not {a_type(timeframe)}')
        self.meter.charge(10_000 + 3 * len(self._bars))
        try:
            return self._bars.resample(timeframe, partial=partial)
        except BarsError as error:
            raise Fault("value", str(error)) from None


def lay_on(bars: Bars, other: Bars, meter: Meter, call: Call, first_visible: int) -> Ohlcv:
    """Another symbol on the chart's bars: na on bars it does not have, nothing carried forward."""
    meter.charge(10 + (len(bars) + len(other)) // 4)
    columns: dict[str, Array] = {"time": bars.time}
    here, theirs = times_to_match(bars, other)
    at = np.minimum(np.searchsorted(theirs, here), max(len(other) - 1, 0))
    there = theirs[at] == here if len(other) else np.zeros(len(bars), bool)
    for name in SERIES:
        if name != "time":
            column = np.full(len(bars), np.nan)
            column[there] = getattr(other, name)[at[there]]
            columns[name] = column
    # Functions of `ta` that are given the times ask for the days too.
    laid = SimpleNamespace(**columns, day_roll=other.day_roll, market=other.market)
    return Ohlcv(other, meter, laid, bars, call=call, first_visible=first_visible)
