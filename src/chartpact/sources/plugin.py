"""Bars from a Python function: `python:package.module:function`, or an entry point's.

The function is asked as `function(symbol, timeframe, start, end)`, with times in UTC, and answers
with Bars, a frame of pandas or polars, or columns by their names. The same rules hold for its rows
as for those of any service: nothing in them is mended.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any, Unpack

from chartpact.bars import COLUMNS, Bars, BarsError
from chartpact.bars.loading import of_value
from chartpact.clock.markets import market_and_roll
from chartpact.clock.timeframe import Timeframe
from chartpact.sources.errors import SourceFailed, UnknownSymbol
from chartpact.sources.online import Online, Options
from chartpact.sources.rows import Answer

GROUP = "chartpact.sources"
# How much longer than its bars a span is, at most: shares trade a fifth of the hours of a week.
INTRADAY_SPAN, DAILY_SPAN = 6.0, 1.6

Function = Callable[[str, str, datetime, datetime], Any]


def installed() -> dict[str, str]:
    """`package.module:function` of each source that an installed package offers, by its name."""
    return {entry.name: entry.value for entry in entry_points(group=GROUP)}


def find_function(where: str) -> Function:
    """The function at `package.module:function`."""
    try:
        target: Any = resolve_name(where)
    except Exception as error:  # noqa: BLE001  (the module is the operator's, and may do anything)
        raise SourceFailed(f"{where} cannot be used: {type(error).__name__}: {error}") from None
    if not callable(target):
        raise SourceFailed(f"{where} is no function")
    function: Function = target
    return function


class PythonSource(Online[Function]):
    """The bars that a function of the operator's delivers."""

    def __init__(
        self,
        name: str,
        function: str,
        *,
        timeframe: str = "1D",
        timeframes: Iterable[str] = (),
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, timeframe=timeframe, **options)
        self._function = function
        self._timeframes = tuple(map(Timeframe.parse, timeframes))

    def _describe_symbols(self) -> str:
        which = "The listed symbols" if self._symbols else "Any symbol"
        return f"{which} that {self._function} knows, asked for as SYMBOL@{self.name}"

    def _client(self) -> Function:
        return find_function(self._function)

    def _steps(self, client: Function) -> Iterable[Timeframe] | None:  # noqa: ARG002
        return self._timeframes or None

    def _ask(
        self,
        client: Function,
        symbol: str,
        step: Timeframe,
        since: int | None,
        count: int,
        deadline: float,  # noqa: ARG002  (nobody can stop a function)
    ) -> Answer:
        now = self._now()
        span = INTRADAY_SPAN if step.intraday else DAILY_SPAN
        start = now - int((count + 1) * step.ms * span) if since is None else since
        ends = (datetime.fromtimestamp(max(ms, 0) / 1000, UTC) for ms in (start, now))
        try:
            given = client(symbol, str(step), *ends)
        except (UnknownSymbol, SourceFailed):
            raise
        except LookupError as error:
            raise UnknownSymbol(f"{self.name} has no {symbol!r:.80}: {error}") from None
        except Exception as error:  # noqa: BLE001  (the function is the operator's)
            reason = " ".join(str(error).split())
            raise SourceFailed(f"{self.name}: {type(error).__name__}: {reason:.200}") from None
        bars = self._read(given, symbol, step)
        columns = (getattr(bars, name).tolist() for name in COLUMNS)
        rows = [
            (*row[:5], None if row[5] != row[5] else row[5]) for row in zip(*columns, strict=True)
        ]
        rows = [row for row in rows if since is None or row[0] >= since]
        return Answer(rows, now, bars.market, bars.day_roll, tick_size=bars.tick_size)

    def _read(self, given: Any, symbol: str, step: Timeframe) -> Bars:
        if isinstance(given, Bars):
            bars: Bars | None = given
            if given.symbol not in ("", symbol) or given.timeframe not in ("", str(step)):
                raise SourceFailed(
                    f"{self.name} was asked for {step} bars of {symbol}, and answered {given!r}"
                )
        else:
            market, roll = market_and_roll(symbol)
            try:
                bars = of_value(given, {"sort": False, "market": market, "day_roll": roll})
            except BarsError as error:
                raise SourceFailed(
                    f"{self.name} answered with bars that cannot be: {error}"
                ) from None
            if bars is not None and bars.symbol not in ("", symbol):
                raise SourceFailed(
                    f"{self.name} was asked for {symbol}, and answered {bars.symbol!r:.40}"
                )
        if bars is None:
            raise SourceFailed(f"{self.name} answered with {type(given).__name__}, and no frame")
        return bars
