"""Bars of Yahoo Finance, by yfinance, which the extra `yahoo` installs.

Written against yfinance's documentation and tried against a local server that answers as Yahoo
does; it has not been tried live.
"""

import logging
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Unpack

from chartpact.checks import is_number
from chartpact.clock.markets import EVERY_DAY, LISTED, UTC_MIDNIGHT, market_and_roll
from chartpact.clock.timeframe import HOUR, Timeframe
from chartpact.sources.errors import SourceFailed, UnknownSymbol, not_installed
from chartpact.sources.online import Online, Options
from chartpact.sources.rows import Answer, Row, choose_step

log = logging.getLogger(__name__)

TICKER = re.compile(r"[A-Za-z0-9^][A-Za-z0-9.^=_&-]{0,29}")

# Our timeframe → Yahoo's interval, and the longest period it gives that interval for.
INTERVALS = {
    "1m": ("1m", "5d"),
    "2m": ("2m", "1mo"),
    "5m": ("5m", "1mo"),
    "15m": ("15m", "1mo"),
    "1h": ("1h", "2y"),
    "1D": ("1d", "10y"),
    "1W": ("1wk", "max"),
    "1M": ("1mo", "max"),
}

STEPS = tuple(map(Timeframe.parse, INTERVALS))

FAILURES = {
    "YFRateLimitError": "refuses for now, because it was asked too often: try again later",
    "YFPricesMissingError": "has no such bars to give",
    "YFDataException": "is down",
    "Timeout": "did not answer in time",
    "ConnectionError": "cannot be reached",
    "HTTPError": "refused the request",
    "RequestException": "cannot be reached",
}


def connect() -> Any:
    """The module yfinance."""
    try:
        import yfinance
    except ModuleNotFoundError:
        raise not_installed("Yahoo", "yfinance", "yahoo") from None
    return yfinance


class Yahoo(Online[Any]):
    """Stocks, indices, futures and currencies by their tickers at Yahoo, such as AAPL or ES=F."""

    failures: ClassVar[Mapping[str, str]] = FAILURES

    def __init__(
        self,
        name: str,
        *,
        timeframe: str = "1D",
        connect: Callable[[], Any] = connect,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, timeframe=timeframe, **options)
        self._connect = connect

    def _describe_symbols(self) -> str:
        which = "The listed tickers" if self._symbols else "Any ticker"
        return f"{which} of Yahoo Finance, asked for as AAPL@{self.name} or ES=F@{self.name}"

    def _client(self) -> Any:
        return self._connect()

    def _has_form(self, symbol: str) -> bool:
        return bool(TICKER.fullmatch(symbol))

    def _check(self, symbol: str, asked: Timeframe) -> None:
        if not TICKER.fullmatch(symbol):
            raise UnknownSymbol(
                f"{symbol!r:.80} is no ticker of Yahoo, such as AAPL, ^GSPC or ES=F"
            )
        choose_step(asked, STEPS, self.name)

    def _steps(self, client: Any) -> Iterable[Timeframe]:  # noqa: ARG002
        return STEPS

    def _ask(
        self,
        client: Any,
        symbol: str,
        step: Timeframe,
        since: int | None,
        count: int,  # noqa: ARG002  (Yahoo gives a whole period at once)
        deadline: float,  # noqa: ARG002
    ) -> Answer:
        interval, period = INTERVALS[str(step)]
        ticker = client.Ticker(symbol)
        try:
            with _raising_errors(client) as options:
                frame = ticker.history(
                    period=period if since is None else None,
                    start=None if since is None else since // 1000,
                    interval=interval,
                    auto_adjust=False,  # prices adjusted for dividends change with every dividend
                    back_adjust=False,
                    actions=False,
                    keepna=True,
                    timeout=self._deadlines.request_s,
                    **options,
                )
        except Exception as error:
            if not _says_unknown(error):
                raise
            raise UnknownSymbol(
                f"{self.name} has no {step} bars of {symbol!r}{self._similar(client, symbol)}"
            ) from None
        meta = ticker.history_metadata
        theirs = meta.get("symbol")
        if not isinstance(theirs, str) or theirs.upper() != symbol.upper():
            raise SourceFailed(f"{self.name} was asked for {symbol}, and answered {theirs!r:.40}")
        now = self._now()
        market, day_roll = _days(symbol, meta)
        settled = _complete_until(meta.get("regularMarketTime"), now)
        return Answer(_rows(frame), now, market, day_roll, settled)

    def _similar(self, module: Any, symbol: str) -> str:
        """Tickers that Yahoo finds by that name."""
        try:
            quotes = module.Search(symbol, max_results=3, news_count=0, timeout=2).quotes
            names = [str(quote["symbol"]) for quote in quotes]
        except Exception as error:  # noqa: BLE001  (only the suggestion is lost)
            log.info("%s: no search for %s: %s", self.name, symbol, error)
            return ""
        return f"; near: {', '.join(names)}" if names else ""


@contextmanager
def _raising_errors(module: Any) -> Iterator[dict[str, Any]]:
    """Makes yfinance raise its errors, which it otherwise logs; yields options for its call."""
    debug: Any = getattr(getattr(module, "config", None), "debug", None)
    if getattr(debug, "hide_exceptions", None) is None:  # before yfinance 1
        yield {"raise_errors": True}
        return
    hidden = debug.hide_exceptions
    debug.hide_exceptions = False
    try:
        yield {}
    finally:
        debug.hide_exceptions = hidden


def _says_unknown(error: Exception) -> bool:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    missing = "YFPricesMissingError" in kinds and re.search("delisted|not found", str(error), re.I)
    status = getattr(getattr(error, "response", None), "status_code", None)
    return bool(missing) or "YFTzMissingError" in kinds or status == 404


def _rows(frame: Any) -> list[Row]:
    times = [round(stamp.timestamp() * 1000) for stamp in frame.index]
    columns = [frame[name].tolist() for name in ("Open", "High", "Low", "Close", "Volume")]
    return [
        (moment, *(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row))
        for moment, *row in zip(times, *columns, strict=True)
    ]


def _complete_until(last_trade: Any, now: int) -> int:
    """Until when the answer is complete: Yahoo shows some markets some twenty minutes late.

    Bars are final up to the last trade that was seen, and an hour after their end in any case.
    """
    seen = last_trade.timestamp() if hasattr(last_trade, "timestamp") else last_trade
    return max(min(now, int(seen * 1000)) if is_number(seen) else 0, now - HOUR)


def _days(symbol: str, meta: Mapping[str, Any]) -> tuple[str, str]:
    """The kind of market and the day roll: by the symbol where it tells them, else by Yahoo.

    What trades on an exchange has its days by the exchange's midnight.
    """
    if symbol.upper().endswith(("=F", "=X")):
        return market_and_roll(symbol)
    zone = meta.get("exchangeTimezoneName")
    market = EVERY_DAY if meta.get("instrumentType") == "CRYPTOCURRENCY" else LISTED
    return market, f"00:00 {zone}" if isinstance(zone, str) and zone else UTC_MIDNIGHT
