"""Bars of currencies, metals and CFDs from OANDA: the middle of bid and ask.

Written against OANDA's documentation and tried against a local server that answers as it does; it
has not been tried live. The token of an account stands in OANDA_API_TOKEN.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Unpack

from chartpact.clock.markets import FX, FX_ROLL
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.walltime import iso
from chartpact.sources.errors import SourceFailed, UnknownSymbol
from chartpact.sources.online import Options
from chartpact.sources.rest import RestSource, read_decimal, read_time
from chartpact.sources.rows import Answer, Row, choose_step

VARIABLE = "OANDA_API_TOKEN"
URLS = {
    "practice": "https://api-fxpractice.oanda.com",
    "live": "https://api-fxtrade.oanda.com",
}
INSTRUMENT = re.compile(r"[A-Z0-9]{2,12}_[A-Z]{3}")
STEPS = {"5s": "S5", "1m": "M1", "5m": "M5", "15m": "M15", "30m": "M30", "1h": "H1", "1D": "D"}
OURS = tuple(map(Timeframe.parse, STEPS))
PAGE = 5_000  # candles of one request


class Oanda(RestSource):
    """Instruments by their names at OANDA, such as EUR_USD; days begin at 17:00 in New York."""

    def __init__(
        self,
        name: str,
        *,
        timeframe: str = "1h",
        account: str = "practice",
        url: str = "",
        **options: Unpack[Options],
    ) -> None:
        super().__init__(name, timeframe=timeframe, url=url or URLS[account], **options)

    def _describe_symbols(self) -> str:
        which = "The listed instruments" if self._symbols else "Any instrument"
        return f"{which} of OANDA, asked for as EUR_USD@{self.name}"

    def _has_form(self, symbol: str) -> bool:
        return bool(INSTRUMENT.fullmatch(symbol))

    def _check(self, symbol: str, asked: Timeframe) -> None:
        if not self._has_form(symbol):
            raise UnknownSymbol(f"{symbol!r:.80} is no instrument of OANDA, such as EUR_USD")
        choose_step(asked, OURS, self.name)

    def _client(self) -> Mapping[str, str]:
        token = self._secret(VARIABLE, "the token of an account")
        return {"Authorization": f"Bearer {token}"}

    def _steps(self, client: Mapping[str, str]) -> Iterable[Timeframe]:  # noqa: ARG002
        return OURS

    def _ask(
        self,
        client: Mapping[str, str],
        symbol: str,
        step: Timeframe,
        since: int | None,
        count: int,
        deadline: float,
    ) -> Answer:
        granularity = STEPS[str(step)]
        query = {"granularity": granularity, "price": "M", "alignmentTimezone": "America/New_York"}
        query |= {"dailyAlignment": "17"}
        now = self._now()
        rows: list[Row] = []
        while len(rows) < count and (since is None or not rows or rows[0][0] > since):
            page = min(PAGE, count + 1 - len(rows))
            # The candles before those that are there already; the running one comes with the first.
            earlier = {"to": iso(rows[0][0])} if rows else {}
            more = {"count": str(page), **earlier}
            path = f"/v3/instruments/{symbol}/candles"
            answer = self._get(path, {**query, **more}, client, deadline)
            asked = answer.get("instrument"), answer.get("granularity")
            if asked != (symbol, granularity):
                raise SourceFailed(f"{self.name} was asked for {symbol}, and answered {asked!r}")
            candles = self._list(answer.get("candles"), "candles")
            fresh = [self._read(candle) for candle in candles if candle.get("complete") is True]
            if rows and fresh and fresh[-1][0] == rows[0][0]:
                fresh.pop()
            rows = [*fresh, *rows]
            if not fresh or len(candles) < page:
                break
        if since is not None:
            rows = [row for row in rows if row[0] >= since]
        return Answer(rows, now, FX, FX_ROLL)

    def _read(self, candle: Mapping[str, object]) -> Row:
        prices = candle.get("mid")
        if not isinstance(prices, dict):
            raise SourceFailed(f"{self.name} answered with a candle without prices")
        mid = (read_decimal(prices.get(key)) for key in "ohlc")
        return (read_time(candle.get("time")), *mid, candle.get("volume"))
