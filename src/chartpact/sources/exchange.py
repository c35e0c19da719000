"""Bars of crypto exchanges, by ccxt, which the extra `exchanges` installs.

Written against ccxt's documentation and tried against a local server that speaks one exchange's
API; it has not been tried against a live exchange.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

from chartpact.checks import is_number, is_whole
from chartpact.clock.errors import ClockError
from chartpact.clock.markets import EVERY_DAY
from chartpact.clock.timeframe import Timeframe
from chartpact.sources.errors import SourceFailed, UnknownSymbol, near, not_installed
from chartpact.sources.online import Online, Options
from chartpact.sources.rows import Answer, Row, day_roll_of, longest_ms

PAIR = re.compile(r"[A-Za-z0-9.$-]{1,20}/[A-Za-z0-9.:-]{1,30}")
PAGE = 200  # bars to ask for at once where the exchange does not say how many it gives

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
class ExchangeClient:
    """A client of ccxt that knows its markets, and how far the exchange's clock is ahead."""

    client: Any
    ahead_ms: int = 0


def connect(exchange: str, request_s: float) -> Any:
    """A client of ccxt."""
    try:
        import ccxt
    except ModuleNotFoundError:
        raise not_installed(exchange, "ccxt", "exchanges") from None
    if exchange not in ccxt.exchanges:
        raise SourceFailed(
            f"ccxt knows no exchange {exchange!r:.80}{near(exchange, ccxt.exchanges)}"
        )
    return getattr(ccxt, exchange)({"enableRateLimit": True, "timeout": int(request_s * 1000)})


class Exchange(Online[ExchangeClient]):
    """The markets of one exchange, by their names in ccxt, such as BTC/USDT."""

    failures: ClassVar[Mapping[str, str]] = FAILURES

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

    def _client(self) -> ExchangeClient:
        client = self._connect(self._exchange, self._deadlines.request_s)
        if client.has.get("fetchOHLCV") is not True:
            raise SourceFailed(f"{self.name} gives no bars, only trades")
        client.load_markets()
        if not client.markets:  # what ccxt makes of an answer that it cannot read
            raise SourceFailed(f"{self.name} names no markets")
        if client.has.get("fetchTime") is not True:
            return ExchangeClient(client)
        before = self._now()
        theirs = client.fetch_time()
        if not is_whole(theirs):
            raise SourceFailed(f"{self.name} does not report its clock")
        return ExchangeClient(client, theirs - (before + self._now()) // 2)

    def _has_form(self, symbol: str) -> bool:
        return bool(PAIR.fullmatch(symbol))

    def _check_market(self, client: ExchangeClient, symbol: str) -> None:
        # ccxt would also take BTCUSDT, and choose among the markets of that id.
        markets = client.client.markets
        if symbol not in markets:
            raise UnknownSymbol(f"{self.name} has no market {symbol!r:.80}{near(symbol, markets)}")

    def _steps(self, client: ExchangeClient) -> Iterable[Timeframe]:
        return _own_timeframes(client.client.timeframes or {})

    def _ask(
        self,
        client: ExchangeClient,
        symbol: str,
        step: Timeframe,
        since: int | None,
        count: int,
        deadline: float,
    ) -> Answer:
        """The rows from `since`, or from `count` bars ago, to the running one, page by page."""
        ccxt = client.client
        spelling = _own_timeframes(ccxt.timeframes)[step]
        now = self._now() + client.ahead_ms
        running = now // step.ms * step.ms
        page = min(_page(ccxt, symbol), count + 1)
        begin = running - count * longest_ms(step) if since is None else since
        rows: list[Row] = []
        while begin < running:
            if time.monotonic() > deadline:
                raise SourceFailed(f"{self.name} takes too long to give {count} bars of {symbol}")
            answer = ccxt.fetch_ohlcv(symbol, spelling, begin, page)
            # An exchange that keeps less than was asked for answers with what it has.
            fresh = [row for row in answer if row[0] >= begin]
            rows += fresh
            begin = max(row[0] for row in fresh) + 1 if fresh else begin + page * step.ms
        return Answer(
            rows,
            now,
            market=EVERY_DAY,
            day_roll=day_roll_of(rows, step),
            tick_size=_tick_size(ccxt, symbol),
        )


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
