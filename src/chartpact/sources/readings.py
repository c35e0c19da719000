"""What markets tell besides prices: funding, open interest, who is long, and the mood.

A source answers `read(what, symbol, timeframe, first, last)` with readings; the one in use asks two
public HTTP services. Their addresses come from the environment, and an empty one switches the
service off:

- `CHARTPACT_FUTURES_URL` for funding, open interest and positions (Binance futures' API)
- `CHARTPACT_SENTIMENT_URL` for fear and greed (alternative.me's API)
- `CHARTPACT_HTTP_TIMEOUT_S` seconds until an unanswered request is given up
"""

import math
import os
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.timeframe import Timeframe
from chartpact.sources.http import HttpError, Unavailable, get_json

HOUR = 3_600_000
DAY = 24 * HOUR
MOST_PAGES = 40
MOST_WAITS = 3  # time-outs that all pages of a range may take together
KEPT = 64  # ranges in the cache
TROUBLE_S = 5  # how long a service that does not answer is left alone
FRESH_S = 30  # how long a range that is not over yet is remembered

QUOTES = "USDT BUSD USDC FDUSD BTC ETH BNB".split()
PERIODS = {
    "5m": 300_000, "15m": 900_000, "30m": 1_800_000, "1h": HOUR, "2h": 2 * HOUR, "4h": 4 * HOUR,
    "6h": 6 * HOUR, "12h": 12 * HOUR, "1d": DAY,
}  # fmt: skip


class ReadingsError(Exception):
    """No readings; the message says why, in one sentence."""


@dataclass(frozen=True)
class Readings:
    """One quantity over time: when each reading was there (UTC ms, ascending), and its numbers."""

    time: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]


class Source(Protocol):
    """Where readings come from."""

    def read(self, what: str, symbol: str, timeframe: str, first: int, last: int) -> Readings:
        """All readings from time `first` to `last`, both included; raises ReadingsError."""


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
        raise ReadingsError(
            f"{symbol or 'this symbol'!r} has no perpetual contract: only pairs such as BTCUSDT do"
        )
    return name


def period(timeframe: str) -> str:
    """The longest period the service has that is not longer than a bar, at least 5 minutes.

    >>> period("1m"), period("8h"), period("1W")
    ('5m', '6h', '1d')
    """
    bar = Timeframe.parse(timeframe).ms if timeframe else HOUR
    fitting = [name for name, ms in PERIODS.items() if ms <= bar]
    return fitting[-1] if fitting else "5m"


@dataclass(frozen=True)
class HttpReadings:
    """Readings from the public HTTP services; a range that was read is remembered."""

    futures: str = "https://fapi.binance.com"
    sentiment: str = "https://api.alternative.me"
    timeout_s: float = 10.0
    _kept: "OrderedDict[tuple[Any, ...], tuple[float, Readings]]" = field(
        default_factory=OrderedDict, repr=False, compare=False
    )  # until when, what
    _trouble: dict[str, tuple[float, str]] = field(
        default_factory=dict, repr=False, compare=False
    )  # by address: until when, why
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    def read(self, what: str, symbol: str, timeframe: str, first: int, last: int) -> Readings:
        feed = FEEDS[what]
        query = dict(feed.query)
        spacing = feed.spacing
        if feed.service == "futures":
            query["symbol"] = perpetual(symbol)
            if not spacing:
                query["period"] = period(timeframe)
                spacing = PERIODS[query["period"]]
        key = (what, *sorted(query.items()), first, last)
        now = time.time()
        with self._lock:
            until, kept = self._kept.get(key, (0.0, None))
            if kept is not None and now < until:
                self._kept.move_to_end(key)
                return kept
        found = _sorted(self._rows(feed, query, spacing, first, last), feed, what, first, last)
        with self._lock:
            # A range that is over stays as it is; one that reaches into the future fills up.
            self._kept[key] = (math.inf if last < 1000 * now else now + FRESH_S, found)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    def _rows(
        self, feed: Feed, query: dict[str, str], spacing: int, first: int, last: int
    ) -> list[Any]:
        if not feed.page:
            return self._ask(feed, query)
        rows: list[Any] = []
        begin, reach = first, (feed.page - 1) * spacing
        too_long = ReadingsError(
            f"the bars span more than {MOST_PAGES} answers of {feed.page} readings"
        )
        if last - first >= MOST_PAGES * (reach + 1):
            raise too_long
        patience = MOST_WAITS * self.timeout_s
        deadline = time.monotonic() + patience
        for _ in range(MOST_PAGES):
            if time.monotonic() > deadline:
                raise ReadingsError(f"the readings were not all there within {patience:g} s")
            end = min(last, begin + reach)
            span = {"startTime": str(begin), "endTime": str(end), "limit": str(feed.page)}
            page = self._ask(feed, {**query, **span})
            rows += page
            # A full page may not reach the end of its span: go on after its last reading.
            begin = _when(page[-1], feed) + 1 if len(page) >= feed.page else end + 1
            if begin > last:
                return rows
        raise too_long

    def _ask(self, feed: Feed, query: dict[str, str]) -> list[Any]:
        base = self.futures if feed.service == "futures" else self.sentiment
        if not base:
            raise ReadingsError(f"the {feed.service} service is switched off here")
        until, why = self._trouble.get(base, (0.0, ""))
        if time.monotonic() < until:  # who asks for several quantities waits for none but the first
            raise ReadingsError(why)
        try:
            answer = get_json(base, feed.path, query, self.timeout_s)
        except HttpError as error:
            if isinstance(error, Unavailable):
                self._trouble[base] = (time.monotonic() + TROUBLE_S, str(error))
            raise ReadingsError(str(error)) from None
        rows = answer.get(feed.rows) if feed.rows and isinstance(answer, dict) else answer
        if not isinstance(rows, list):
            raise _malformed(f"{str(answer)!r:.80} is not a list of readings")
        return rows


def _malformed(why: str) -> ReadingsError:
    return ReadingsError(f"the answer cannot be read: {why}")


def _number(row: Any, key: str) -> float:
    try:
        number = float(row[key])
    except (TypeError, KeyError, ValueError, IndexError, OverflowError):
        raise _malformed(f"{row!r:.80} has no number {key!r}") from None
    if isinstance(row[key], bool) or not math.isfinite(number):
        raise _malformed(f"{key} is {row[key]!r}")
    return number


def _when(row: Any, feed: Feed) -> int:
    return int(_number(row, feed.time) * feed.unit_ms)


def _sorted(rows: list[Any], feed: Feed, what: str, first: int, last: int) -> Readings:
    """The rows as columns, each time once, those outside the range left out."""
    by_time = {
        _when(row, feed): [_number(row, key) for key in feed.numbers.values()] for row in rows
    }
    times = sorted(moment for moment in by_time if first <= moment <= last)
    if not times:
        raise ReadingsError(f"the service has no {what} readings of the time of these bars")
    table = np.array([by_time[moment] for moment in times])
    columns = {name: table[:, k] for k, name in enumerate(feed.numbers)}
    return Readings(np.array(times, dtype=np.int64), columns)


# ------------------------------------------------------------------------------ the one in use

_chosen: Source | None = None


def use(source: Source | None) -> None:
    """Reads from this source from now on; None: from the services the environment names."""
    global _chosen  # noqa: PLW0603
    _chosen = source


def current() -> Source:
    """The source that indicators read from."""
    if _chosen is not None:
        return _chosen
    names = ("CHARTPACT_FUTURES_URL", "CHARTPACT_SENTIMENT_URL", "CHARTPACT_HTTP_TIMEOUT_S")
    return _from_environment(*(os.environ.get(name) for name in names))


@lru_cache(maxsize=8)
def _from_environment(
    futures: str | None, sentiment: str | None, timeout_s: str | None
) -> HttpReadings:
    given: dict[str, Any] = {"futures": futures, "sentiment": sentiment}
    if timeout_s:
        try:
            given["timeout_s"] = float(timeout_s)
        except ValueError:
            given["timeout_s"] = math.nan
        if not 0 < given["timeout_s"] <= 600:
            raise ReadingsError(f"CHARTPACT_HTTP_TIMEOUT_S={timeout_s!r} is no number of seconds")
    return HttpReadings(**{name: value for name, value in given.items() if value is not None})
