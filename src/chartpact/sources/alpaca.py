"""Bars of US stocks and of crypto pairs from Alpaca's data service.

Written against Alpaca's documentation and tried against a local server that answers as it does; it
has not been tried live. The two keys of an account stand in APCA_API_KEY_ID and
APCA_API_SECRET_KEY; crypto pairs need none.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Unpack

from chartpact.clock.markets import EVERY_DAY, LISTED, NEW_YORK_MIDNIGHT
from chartpact.clock.timeframe import MINUTE, Timeframe
from chartpact.clock.walltime import iso
from chartpact.sources.errors import SourceFailed, UnknownSymbol
from chartpact.sources.online import Options
from chartpact.sources.rest import RestSource, read_time
from chartpact.sources.rows import Answer, Row, choose_step, day_roll_of

KEYS = {"APCA-API-KEY-ID": "APCA_API_KEY_ID", "APCA-API-SECRET-KEY": "APCA_API_SECRET_KEY"}
URL = "https://data.alpaca.markets"
FEEDS = ("iex", "sip", "delayed_sip")
STOCK, PAIR = re.compile(r"[A-Z]{1,6}(\.[A-Z]{1,3})?"), re.compile(r"[A-Z0-9]{2,8}/[A-Z]{3,5}")
STEPS = {
    "1m": "1Min", "5m": "5Min", "15m": "15Min", "30m": "30Min", "1h": "1Hour", "1D": "1Day",
}  # fmt: skip
OURS = tuple(map(Timeframe.parse, STEPS))
PAGE = 10_000  # rows of one request
LATE_MS = 16 * MINUTE  # behind the market, of the feed that is delayed


class Alpaca(RestSource):
    """US stocks by their tickers, such as AAPL, and crypto pairs, such as BTC/USD."""

    def __init__(
        self,
        name: str,
        *,
        timeframe: str = "1D",
        url: str = URL,
        feed: str = "iex",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, timeframe=timeframe, url=url, **options)
        self._feed = feed

    def _describe_symbols(self) -> str:
        which = "The listed symbols" if self._symbols else "US stocks and crypto pairs"
        return f"{which} of Alpaca, asked for as AAPL@{self.name} or BTC/USD@{self.name}"

    def _has_form(self, symbol: str) -> bool:
        return bool(STOCK.fullmatch(symbol) or PAIR.fullmatch(symbol))

    def _check(self, symbol: str, asked: Timeframe) -> None:
        if not self._has_form(symbol):
            raise UnknownSymbol(f"{symbol!r:.80} is no symbol of Alpaca, such as AAPL or BTC/USD")
        choose_step(asked, OURS, self.name)

    def _client(self) -> Mapping[str, str]:
        return {}

    def _steps(self, client: Mapping[str, str]) -> Iterable[Timeframe]:  # noqa: ARG002
        return OURS

    def _ask(
        self,
        client: Mapping[str, str],  # noqa: ARG002
        symbol: str,
        step: Timeframe,
        since: int | None,
        count: int,
        deadline: float,
    ) -> Answer:
        pair = "/" in symbol
        path = "/v1beta3/crypto/us/bars" if pair else "/v2/stocks/bars"
        who = {} if pair else KEYS
        headers = {key: self._secret(name, "the key of an account") for key, name in who.items()}
        query = {"symbols": symbol, "timeframe": STEPS[str(step)], "sort": "desc"}
        query["start"] = "2000-01-01T00:00:00Z" if since is None else iso(since)
        # Prices adjusted for dividends would change with every dividend.
        query |= {} if pair else {"feed": self._feed, "adjustment": "split"}
        now = self._now()
        rows: list[Row] = []
        token: str | None = ""
        while token is not None and len(rows) <= count:
            # The running bar comes first, so that one more is asked for.
            more = {"limit": str(min(PAGE, count + 1 - len(rows)))}
            more |= {"page_token": token} if token else {}
            answer = self._get(path, {**query, **more}, headers, deadline)
            rows += self._read(answer, symbol)
            token = answer.get("next_page_token")
            if token is not None and not (isinstance(token, str) and token):
                raise SourceFailed(f"{self.name} answered with a page token that is no text")
        if not rows:
            raise UnknownSymbol(f"{self.name} has no {step} bars of {symbol!r}")
        rows.reverse()
        if pair:
            return Answer(rows, now, EVERY_DAY, day_roll_of(rows, step))
        settled = now - LATE_MS if self._feed == "delayed_sip" else None
        return Answer(rows, now, LISTED, NEW_YORK_MIDNIGHT, settled)

    def _read(self, answer: dict[str, object], symbol: str) -> list[Row]:
        by_symbol = answer.get("bars")
        if not isinstance(by_symbol, dict) or by_symbol.keys() - {symbol}:
            raise SourceFailed(f"{self.name} was asked for {symbol}, and answered without its bars")
        bars = self._list(by_symbol.get(symbol, []), "bars")
        return [(read_time(bar.get("t")), *(bar.get(key) for key in "ohlcv")) for bar in bars]
