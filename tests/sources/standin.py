"""What stands in for ccxt and its exchange: the calls that the adapter makes, on bars made here."""

from collections.abc import Callable
from typing import Any

NOW = 1_709_642_096_000  # 2024-03-05T12:34:56Z, a Tuesday
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
STEPS = {"1m": MINUTE, "5m": 5 * MINUTE, "1h": HOUR, "1d": DAY}
SYMBOLS = ("BTC/USDT", "ETH/USDT", "BTC/USDT:USDT", "EUR/USD")


class BaseError(Exception):
    pass


class NetworkError(BaseError):
    pass


class RequestTimeout(NetworkError):
    pass


class RateLimitExceeded(NetworkError):
    pass


class ExchangeError(BaseError):
    pass


def row(time: int) -> list[float]:
    """The bar of that time, always the same."""
    base = 100 + time // MINUTE % 97
    return [time, base, base + 2.5, base - 1.5, base + 0.5, 10 + time // HOUR % 7]


class Client:
    """An exchange that has traded since `first`, and gives `page` bars at once."""

    precisionMode = 4

    def __init__(self, first: int = NOW - 400 * DAY, page: int = 300, ahead: int = 0) -> None:
        self.first = first
        self.page = page
        self.ahead = ahead
        self.has: dict[str, Any] = {"fetchOHLCV": True, "fetchTime": True}
        self.timeframes: dict[str, str] = {each: each for each in STEPS} | {"1y": "1y"}
        self.markets: dict[str, Any] = {}
        self.asked: list[tuple[str, str, int, int]] = []
        self.spoil: Callable[[list[Any]], Any] = lambda rows: rows

    def load_markets(self) -> dict[str, Any]:
        self.markets = {each: {"precision": {"price": 0.5}} for each in SYMBOLS}
        return self.markets

    def fetch_time(self) -> int:
        return NOW + self.ahead

    def feature_value(self, symbol: str, method: str, name: str) -> int:
        assert (symbol in SYMBOLS, method, name) == (True, "fetchOHLCV", "limit")
        return self.page

    def fetch_ohlcv(self, symbol: str, timeframe: str, since: int, limit: int) -> Any:
        self.asked.append((symbol, timeframe, since, limit))
        step = STEPS[timeframe]
        begin = -(-max(since, self.first) // step) * step
        times = range(begin, self.fetch_time() + 1, step)[: min(limit, self.page)]
        return self.spoil([row(each) for each in times])
