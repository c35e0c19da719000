"""Readings besides prices: funding, open interest, positions, fear and greed.

Two public HTTP services answer. Their addresses come from the environment, and an empty one
switches its service off:

- `CHARTPACT_FUTURES_URL` for funding, open interest and positions (Binance futures' API)
- `CHARTPACT_SENTIMENT_URL` for fear and greed (alternative.me's API)
- `CHARTPACT_HTTP_TIMEOUT_S` seconds until an unanswered request is given up
"""

import math
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from chartpact import checks
from chartpact.cache import Cache
from chartpact.clock.timeframe import HOUR
from chartpact.needs import PERIODS, Need, Readings, reporting_period
from chartpact.sources.errors import Misconfigured, SourceFailed
from chartpact.sources.http import HttpError, get_json

MOST_PAGES = 40
MOST_WAITS = 3  # time-outs that all pages of a range may take together
MOST_RANGES = 64  # in the cache
TROUBLE_S = 5  # how long a service that does not answer is left alone
FRESH_S = 30  # how long a range that is not over yet is remembered

QUOTES = "USDT BUSD USDC FDUSD BTC ETH BNB".split()


@dataclass(frozen=True)
class Feed:
    """How one quantity is asked for and found in the answer."""

    service: str  # futures or sentiment
    path: str
    time: str  # the key of the time, in units of `unit_ms`
    numbers: Mapping[str, str]  # our name → key in the answer
    page: int = 0  # most readings in one answer; 0: all come at once
    spacing: int = 0  # ms between readings; 0: the period that is asked for
    unit_ms: int = 1
    rows: str | None = None  # the key of the list, where it is not the answer itself
    query: Mapping[str, str] = field(default_factory=dict)


FEEDS: Mapping[str, Feed] = MappingProxyType(
    {
        "funding": Feed(
            "futures", "/fapi/v1/fundingRate", "fundingTime", {"rate": "fundingRate"},
            page=1000, spacing=8 * HOUR,
        ),
        "oi": Feed(
            "futures", "/futures/data/openInterestHist", "timestamp",
            {"value": "sumOpenInterestValue"}, page=500,
        ),
        "long_short": Feed(
            "futures", "/futures/data/globalLongShortAccountRatio", "timestamp",
            {"long": "longAccount", "short": "shortAccount"}, page=500,
        ),
        "fear_greed": Feed(
            "sentiment", "/fng/", "timestamp", {"value": "value"},
            unit_ms=1000, rows="data", query={"limit": "0", "format": "json"},
        ),
    }
)  # fmt: skip


def perpetual(symbol: str) -> str:
    """The name of a symbol's perpetual contract.

    >>> perpetual("BINANCE:BTCUSDT.P"), perpetual("eth/usdt")
    ('BTCUSDT', 'ETHUSDT')
    """
    name = re.sub(r"\.P$|[/_-]", "", symbol.upper().rpartition(":")[2])
    quoted = any(name.endswith(quote) and name != quote for quote in QUOTES)
    if not re.fullmatch(r"[A-Z0-9]{5,20}", name) or not quoted:
        raise SourceFailed(
            f"{symbol or 'this symbol'!r} has no perpetual contract: only pairs such as BTCUSDT do"
        )
    return name


@dataclass(frozen=True)
class Addresses:
    """Where the services are, and how long a request may take."""

    futures: str = "https://fapi.binance.com"
    sentiment: str = "https://api.alternative.me"
    timeout_s: float = 10.0


class Services:
    """The public HTTP services that readings come from; a range that was read is remembered."""

    def __init__(
        self,
        addresses: Addresses,
        *,
        trouble_s: float = TROUBLE_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._addresses = addresses
        self._timeout_s = addresses.timeout_s
        self._now = now
        # A range that is over stays as it is; one that reaches into the future fills up.
        self._over: Cache[Any, Readings] = Cache(MOST_RANGES)
        self._open: Cache[Any, Readings] = Cache(MOST_RANGES, seconds=FRESH_S, clock=now)
        self._trouble: Cache[str, str] = Cache(8, seconds=trouble_s)  # why an address fails

    def read(self, need: Need) -> Readings:
        """All readings of a feed from time `first` to `last`, both included."""
        feed = FEEDS[need.what]
        query = dict(feed.query)
        spacing = feed.spacing
        if feed.service == "futures":
            query["symbol"] = perpetual(need.name)
            if not spacing:
                query["period"] = reporting_period(need.timeframe)
                spacing = PERIODS[query["period"]]
        cache = self._over if need.last < 1000 * self._now() else self._open
        key = (need.what, *sorted(query.items()), need.first, need.last)
        return cache.get_or_make(
            key, lambda: _sort(self._rows(feed, query, spacing, need.first, need.last), feed, need)
        )

    def _rows(
        self, feed: Feed, query: dict[str, str], spacing: int, first: int, last: int
    ) -> list[Any]:
        if not feed.page:
            return self._ask(feed, query)
        rows: list[Any] = []
        begin, reach = first, (feed.page - 1) * spacing
        too_long = SourceFailed(
            f"the bars span more than {MOST_PAGES} answers of {feed.page} readings"
        )
        if last - first >= MOST_PAGES * (reach + 1):
            raise too_long
        within_s = MOST_WAITS * self._timeout_s
        deadline = time.monotonic() + within_s
        for _ in range(MOST_PAGES):
            if time.monotonic() > deadline:
                raise SourceFailed(f"the readings were not all there within {within_s:g} s")
            end = min(last, begin + reach)
            span = {"startTime": str(begin), "endTime": str(end), "limit": str(feed.page)}
            page = self._ask(feed, {**query, **span})
            rows += page
            # A full page may not reach the end of its span: go on after its last reading.
            begin = _time_ms(page[-1], feed) + 1 if len(page) >= feed.page else end + 1
            if begin > last:
                return rows
        raise too_long

    def _ask(self, feed: Feed, query: dict[str, str]) -> list[Any]:
        base: str = getattr(self._addresses, feed.service)
        if not base:
            raise SourceFailed(f"the {feed.service} service is switched off here")
        reason = self._trouble.get(base)
        if reason is not None:  # of several quantities only the first is waited for
            raise SourceFailed(reason)
        try:
            answer = get_json(base, feed.path, query, self._timeout_s)
        except HttpError as error:
            reason = f"the {feed.service} service {error}"
            if error.passing:
                self._trouble.put(base, reason)
            raise SourceFailed(reason) from None
        rows = answer.get(feed.rows) if feed.rows and isinstance(answer, dict) else answer
        if not isinstance(rows, list):
            raise _unreadable(f"{str(answer)!r:.80} is not a list of readings")
        return rows


def _unreadable(why: str) -> SourceFailed:
    return SourceFailed(f"the answer cannot be read: {why}")


def _number(row: Any, key: str) -> float:
    try:
        value = row[key]
        return float(checks.number(float(value) if isinstance(value, str) else value))
    except (TypeError, KeyError, ValueError, IndexError):
        raise _unreadable(f"{row!r:.80} has no number {key!r}") from None


def _time_ms(row: Any, feed: Feed) -> int:
    return int(_number(row, feed.time) * feed.unit_ms)


def _sort(rows: list[Any], feed: Feed, need: Need) -> Readings:
    """The rows as columns, each time once, those outside the range left out."""
    keys = feed.numbers.values()
    by_time = {_time_ms(row, feed): [_number(row, key) for key in keys] for row in rows}
    times = sorted(moment for moment in by_time if need.first <= moment <= need.last)
    if not times:
        raise SourceFailed(f"the service has no {need.what} readings for the period of these bars")
    table = np.array([by_time[moment] for moment in times])
    columns = {name: table[:, k] for k, name in enumerate(feed.numbers)}
    return Readings(np.array(times, dtype=np.int64), columns)


def from_environment(environ: Mapping[str, str] = os.environ) -> Addresses:
    """The services that the environment names."""
    fields: dict[str, Any] = {
        "futures": environ.get("CHARTPACT_FUTURES_URL"),
        "sentiment": environ.get("CHARTPACT_SENTIMENT_URL"),
    }
    if timeout_s := environ.get("CHARTPACT_HTTP_TIMEOUT_S"):
        try:
            fields["timeout_s"] = float(timeout_s)
        except ValueError:
            fields["timeout_s"] = math.nan
        if not 0 < fields["timeout_s"] <= 600:
            raise Misconfigured(f"CHARTPACT_HTTP_TIMEOUT_S={timeout_s!r} is no number of seconds")
    return Addresses(**{name: value for name, value in fields.items() if value is not None})


_services: Cache[Addresses, Services] = Cache(8)


def services(addresses: Addresses) -> Services:
    """The services at these addresses; all who ask share what was read."""
    return _services.get_or_make(addresses, lambda: Services(addresses))
