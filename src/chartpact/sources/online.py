"""Bars of a service on the network: what all of them share, however they connect and fetch."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Generic, TypedDict

from chartpact.bars import Bars
from chartpact.bars.errors import clock_errors_translated
from chartpact.clock.timeframe import Timeframe
from chartpact.sources.catalog import Listing
from chartpact.sources.errors import UnknownSymbol, near
from chartpact.sources.remote import Client, Patience, Remote


class Options(TypedDict, total=False):
    """What every source on the network takes beside its own."""

    history: int
    symbols: Iterable[str]
    patience: Patience | None
    now: Callable[[], int]


class Online(ABC, Generic[Client]):
    """What the sources on the network have in common; each says how it connects and fetches.

    With `symbols` nothing else is asked for. `history` is how many completed bars are given.
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
        patience: Patience | None = None,
        now: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self.name = name
        self._timeframe = timeframe
        self._history = history
        self._symbols = tuple(symbols)
        self._patience = patience or Patience()
        self._now = now
        self._remote = Remote(name, self._client, self.failures, self._patience)

    @property
    def about(self) -> str:
        return (
            f"{self._offer()}; the last {self._history} completed bars, of {self._timeframe} "
            "unless asked otherwise."
        )

    def listings(self) -> Iterable[Listing]:
        return [Listing(f"{each}@{self.name}", None, self.name) for each in self._symbols]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        with clock_errors_translated():
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
    def _offer(self) -> str:
        """Which symbols there are, and how one asks for them."""

    def _check(self, symbol: str, asked: Timeframe) -> None:
        """Refuses what the service need not be asked about."""

    @abstractmethod
    def _client(self) -> Client:
        """A new connection to the service."""

    @abstractmethod
    def _fetch(self, client: Client, symbol: str, asked: Timeframe, deadline: float) -> Bars:
        """The completed bars; nobody waits for them after `deadline` (of time.monotonic)."""
