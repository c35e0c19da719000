"""Sources on the network: what they share, however they connect and fetch."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Generic, TypedDict

from chartpact.bars import Bars
from chartpact.bars.errors import translate_clock_errors
from chartpact.clock.system import now_ms
from chartpact.clock.timeframe import Timeframe
from chartpact.sources.directory import Symbol
from chartpact.sources.errors import UnknownSymbol, near
from chartpact.sources.remote import Client, Deadlines, Remote


class Options(TypedDict, total=False):
    """The options that every source on the network takes."""

    history: int
    symbols: Iterable[str]
    deadlines: Deadlines | None
    now: Callable[[], int]


class Online(ABC, Generic[Client]):
    """A source on the network; each kind says how it connects and fetches.

    `symbols`, if any are given, are the only ones there are. `history` is the number of completed
    bars that are delivered.
    """

    remote = True
    failures: ClassVar[Mapping[str, str]]  # what a library's exceptions mean, by their names

    def __init__(
        self,
        name: str,
        *,
        timeframe: str,
        history: int = 1000,
        symbols: Iterable[str] = (),
        deadlines: Deadlines | None = None,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self.name = name
        self._timeframe = timeframe
        self._history = history
        self._symbols = tuple(symbols)
        self._deadlines = deadlines or Deadlines()
        self._now = now
        self._remote = Remote(name, self._client, self.failures, self._deadlines)

    @property
    def about(self) -> str:
        return (
            f"{self._describe_symbols()}; the last {self._history} completed bars, "
            f"of {self._timeframe} unless asked otherwise."
        )

    def symbols(self) -> Iterable[Symbol]:
        return [Symbol(f"{symbol}@{self.name}", None, self.name) for symbol in self._symbols]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        with translate_clock_errors():
            asked = Timeframe.parse(timeframe or self._timeframe)
        if self._symbols and symbol not in self._symbols:
            raise UnknownSymbol(
                f"{symbol!r:.80} is not among the symbols of {self.name!r}"
                + near(symbol, self._symbols)
            )
        self._check(symbol, asked)
        current = self._now() // asked.ms  # the same completed bars until the next one begins
        return self._remote.ask(
            (symbol, asked, current),
            lambda client, deadline: self._fetch(client, symbol, asked, deadline),
        )

    @abstractmethod
    def _describe_symbols(self) -> str:
        """Which symbols there are, and how one asks for them."""

    def _check(self, symbol: str, asked: Timeframe) -> None:
        """Refuses symbols and timeframes that the service certainly has not."""

    @abstractmethod
    def _client(self) -> Client:
        """A new connection to the service."""

    @abstractmethod
    def _fetch(self, client: Client, symbol: str, asked: Timeframe, deadline: float) -> Bars:
        """The completed bars; nobody waits for them after `deadline` (of time.monotonic)."""
