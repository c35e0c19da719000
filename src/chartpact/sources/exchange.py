"""Bars of crypto exchanges, by ccxt, which the extra `exchanges` installs.

Written against ccxt's documentation and tried against a local server that speaks one exchange's
API; it has not been tried against a live exchange.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Unpack

from chartpact.bars import Bars
from chartpact.checks import is_number, is_whole
from chartpact.clock.errors import ClockError
from chartpact.clock.markets import EVERY_DAY, UTC_MIDNIGHT
from chartpact.clock.timeframe import DAY, Timeframe
from chartpact.sources.errors import SourceFailed, UnknownSymbol, near
from chartpact.sources.online import Online, Options
from chartpact.sources.rows import Row, choose_step, completed_bars, longest_ms

PAGE = 200  # bars to ask for at once where the exchange does not say how many it gives
MOST = 20_000  # bars fetched for one answer

# ccxt's exceptions, by what they mean to the one who asked; the nearest class counts.
FAILURES = {
    "RequestTimeout": "did not answer in time",
    "RateLimitExceeded": "refuses for now, because it was asked too often: try again later",
    "DDoSProtection": "refuses for now, because it was asked too often: try again later",
    "OnMaintenance": "is closed for maintenance",
    "RestrictedLocation": "does not serve the place where this runs",
    "AuthenticationError": "does not give bars without an account",
    "NetworkError": "cannot be reached",
    "ExchangeError": "refused the request",
}


@dataclass(frozen=True)
class Market:
    """A client of ccxt that knows its markets, and how far the exchange's clock is ahead."""

    client: Any
    ahead_ms: int = 0


def connect(exchange: str, request_s: float) -> Any:
    """A client of ccxt."""
    try:
        import ccxt
    except ModuleNotFoundError:
        raise SourceFailed(
            f"{exchange} needs ccxt, which is not installed: it comes with chartpact[exchanges]"
        ) from None
    if exchange not in ccxt.exchanges:
        raise SourceFailed(
            f"ccxt knows no exchange {exchange!r:.80}{near(exchange, ccxt.exchanges)}"
        )
    return getattr(ccxt, exchange)({"enableRateLimit": True, "timeout": int(request_s * 1000)})


class Exchange(Online[Market]):
    """The markets of one exchange, by their names in ccxt, such as BTC/USDT."""

    failures = FAILURES

    def __init__(
        self,
        name: str,
        exchange: str,
        *,
        timeframe: str = "1h",
        connect: Callable[[str, float], Any] = connect,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, timeframe=timeframe, **options)
        self._exchange = exchange
        self._connect = connect

    def _describe_symbols(self) -> str:
        which = "The listed symbols" if self._symbols else "Any symbol that ccxt knows"
        return f"{which} at the exchange {self._exchange}, asked for as BTC/USDT@{self.name}"

    def _client(self) -> Market:
        client = self._connect(self._exchange, self._deadlines.request_s)
        if client.has.get("fetchOHLCV") is not True:
            raise SourceFailed(f"{self.name} gives no bars, only trades")
        client.load_markets()
        if not client.markets:  # what ccxt makes of an answer that it cannot read
            raise SourceFailed(f"{self.name} names no markets")
        if client.has.get("fetchTime") is not True:
            return Market(client)
        before = self._now()
        theirs = client.fetch_time()
        if not is_whole(theirs):
            raise SourceFailed(f"{self.name} does not report its clock")
        return Market(client, theirs - (before + self._now()) // 2)

    def _fetch(self, market: Market, symbol: str, asked: Timeframe, deadline: float) -> Bars:
        client = market.client
        # ccxt would also take BTCUSDT, and choose among the markets of that id.
        if symbol not in client.markets:
            raise UnknownSymbol(
                f"{self.name} has no market {symbol!r:.80}{near(symbol, client.markets)}"
            )
        spellings = _own_timeframes(client.timeframes or {})
        step = choose_step(asked, spellings, self.name)
        count = min(self._history * max(1, asked.ms // step.ms), MOST)
        now = self._now() + market.ahead_ms
        rows = self._rows(client, symbol, spellings[step], step, count, now, deadline)
        bars = completed_bars(
            rows,
            symbol=symbol,
            source=self.name,
            timeframe=step,
            now=now,
            day_roll=_day_roll(rows, step),
            market=EVERY_DAY,
            tick_size=_tick_size(client, symbol),
        )
        return bars.last(count).resample(str(asked)).last(self._history)

    def _rows(
        self,
        client: Any,
        symbol: str,
        spelling: str,
        step: Timeframe,
        count: int,
        now: int,
        deadline: float,
    ) -> list[Row]:
        """The rows from `count` bars ago to the running one, page by page."""
        page = min(_page(client, symbol), count + 1)
        running = now // step.ms * step.ms
        since = running - count * longest_ms(step)
        rows: list[Row] = []
        while since < running:
            if time.monotonic() > deadline:
                raise SourceFailed(f"{self.name} takes too long to give {count} bars of {symbol}")
            answer = client.fetch_ohlcv(symbol, spelling, since, page)
            # An exchange that keeps less than was asked for answers with what it has.
            fresh = [row for row in answer if row[0] >= since]
            rows += fresh
            since = max(row[0] for row in fresh) + 1 if fresh else since + page * step.ms
        return rows


def _own_timeframes(timeframes: Iterable[str]) -> dict[Timeframe, str]:
    """The exchange's timeframes that are ours, and how it spells them.

    Exchanges count several days or weeks from 1970; those of ours are made of its days.
    """
    spellings: dict[Timeframe, str] = {}
    for spelling in timeframes:
        with suppress(ClockError):  # such as 1y, which no chart asks for
            step = Timeframe.parse(spelling)
            if step.intraday or step.count == 1:
                spellings[step] = spelling
    return spellings


def _page(client: Any, symbol: str) -> int:
    try:
        most = client.feature_value(symbol, "fetchOHLCV", "limit")
    except (AttributeError, KeyError, TypeError):  # an exchange that tells nothing about itself
        most = None
    return most if is_whole(most) and most > 0 else PAGE


def _tick_size(client: Any, symbol: str) -> float | None:
    """The price step the exchange declares, where it declares a step and not a digit count."""
    price: Any = (client.markets[symbol].get("precision") or {}).get("price")
    declares_steps = getattr(client, "precisionMode", None) == 4  # ccxt.TICK_SIZE
    return float(price) if declares_steps and is_number(price) and price > 0 else None


def _day_roll(rows: list[Row], step: Timeframe) -> str:
    """Crypto trades round the clock; its days begin at UTC midnight, unless the bars say other."""
    minutes = {int(row[0]) % DAY // 60_000 for row in rows} if str(step) == "1D" else {0}
    if len(minutes) != 1:
        return UTC_MIDNIGHT
    return f"{minutes.copy().pop() // 60:02d}:{minutes.pop() % 60:02d} UTC"
