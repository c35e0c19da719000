"""Sources on the network: what they share, however they connect and what they ask."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Generic, TypedDict

import numpy as np

from chartpact.bars import Bars
from chartpact.bars.errors import translate_clock_errors
from chartpact.clock.system import now_ms
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.walltime import iso
from chartpact.sources.archive import Archive, KeptBars
from chartpact.sources.directory import Symbol
from chartpact.sources.errors import SAMPLE_HINT, SourceFailed, UnknownSymbol, near
from chartpact.sources.remote import Client, Deadlines, Remote
from chartpact.sources.rows import Answer, choose_step, completed_bars

MOST = 20_000  # bars fetched for one answer


class Options(TypedDict, total=False):
    """The options that every source on the network takes."""

    history: int
    symbols: Iterable[str]
    deadlines: Deadlines | None
    now: Callable[[], int]
    archive: Archive | None


class Online(ABC, Generic[Client]):
    """A source on the network; each kind says how it connects and what it asks.

    `symbols`, if any are given, are the only ones there are. `history` is the number of completed
    bars that are delivered. An `archive` keeps those of closed days.
    """

    remote = True
    failures: ClassVar[Mapping[str, str]] = {}  # what a library's exceptions mean, by their names

    def __init__(
        self,
        name: str,
        *,
        timeframe: str,
        history: int = 1000,
        symbols: Iterable[str] = (),
        deadlines: Deadlines | None = None,
        now: Callable[[], int] = now_ms,
        archive: Archive | None = None,
    ) -> None:
        self.name = name
        self._timeframe = timeframe
        self._history = history
        self._symbols = tuple(symbols)
        self._deadlines = deadlines or Deadlines()
        self._now = now
        self._archive = archive
        self._remote = Remote(name, self._client, self.failures, self._deadlines)

    @property
    def about(self) -> str:
        return (
            f"{self._describe_symbols()}; the last {self._history} completed bars, "
            f"of {self._timeframe} unless asked otherwise."
        )

    def symbols(self) -> Iterable[Symbol]:
        return [Symbol(f"{symbol}@{self.name}", None, self.name) for symbol in self._symbols]

    def may_have(self, symbol: str) -> bool:
        return symbol in self._symbols if self._symbols else self._has_form(symbol)

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        with translate_clock_errors():
            asked = Timeframe.parse(timeframe or self._timeframe)
        if self._symbols and symbol not in self._symbols:
            raise UnknownSymbol(
                f"{symbol!r:.80} is not among the symbols of {self.name!r}"
                + near(symbol, self._symbols)
            )
        self._check(symbol, asked)
        kept = self._kept(symbol, asked, self._history)
        if kept is not None and kept.is_complete(self._now()):
            return self._tell_age(kept.last(self._history), int(kept.fetched[-1]))
        current = self._now() // asked.ms  # the same completed bars until the next one begins
        try:
            return self._remote.ask(
                (symbol, asked, current),
                lambda client, deadline: self._fetch(client, symbol, asked, deadline),
            )
        except SourceFailed as failure:
            details = {"symbol": f"{symbol}@{self.name}", **failure.problem.details}
            raise SourceFailed(failure.message, SAMPLE_HINT, **details) from None

    def _kept(self, symbol: str, step: Timeframe, count: int) -> KeptBars | None:
        kept = None if self._archive is None else self._archive.read(symbol, step)
        return None if kept is None or kept.reach < count else kept

    def _fetch(self, client: Client, symbol: str, asked: Timeframe, deadline: float) -> Bars:
        """The completed bars; those that are kept already are asked for no more."""
        self._check_market(client, symbol)
        offered = self._steps(client)
        step = asked if offered is None else choose_step(asked, offered, self.name)
        count = min(self._history * max(1, asked.ms // step.ms), MOST)
        kept = self._kept(symbol, step, count)
        joined: KeptBars | None = None
        if kept is not None:
            answer = self._ask(client, symbol, step, kept.last_day, count, deadline)
            if any(row[1] is not None for row in answer.rows[:1]):
                fresh = completed_bars(answer, symbol, step, self.name)
                joined = kept.join(fresh, self._now())
        if joined is None:
            answer = self._ask(client, symbol, step, None, count, deadline)
            fresh = completed_bars(answer, symbol, step, self.name)
            joined = KeptBars(fresh, np.full(len(fresh), self._now()), count)
        if self._archive is not None:
            self._archive.write(joined.closed(answer.final_until))
        bars = self._tell_age(joined.last(count), self._now())
        return bars.resample(str(asked)).last(self._history)

    def _tell_age(self, kept: KeptBars, asked_at: int) -> Bars:
        """The bars, with when the service was asked for them."""
        older = kept.fetched < asked_at
        notes = [f"fetched {iso(asked_at)}"]
        if older.any():
            first = iso(int(kept.fetched[0]))[:10]
            notes.append(f"{int(older.sum())} bars of closed days were kept on disk since {first}")
        return replace(kept.bars, source=self.name, fetched=asked_at, notes=tuple(notes))

    @abstractmethod
    def _describe_symbols(self) -> str:
        """Which symbols there are, and how one asks for them."""

    def _has_form(self, symbol: str) -> bool:
        """Whether a symbol looks like one of this service's."""
        return bool(symbol)

    def _check(self, symbol: str, asked: Timeframe) -> None:
        """Refuses symbols and timeframes that the service certainly has not."""

    @abstractmethod
    def _client(self) -> Client:
        """A new connection to the service."""

    def _check_market(self, client: Client, symbol: str) -> None:
        """Refuses symbols that the service, once it is connected, says it has not."""

    @abstractmethod
    def _steps(self, client: Client) -> Iterable[Timeframe] | None:
        """The timeframes that the service has itself; None: whatever is asked for."""

    @abstractmethod
    def _ask(
        self,
        client: Client,
        symbol: str,
        step: Timeframe,
        since: int | None,
        count: int,
        deadline: float,
    ) -> Answer:
        """The rows from `since` (UTC ms) on, or without it the last `count` and the running one.

        Nobody waits for them after `deadline` (of time.monotonic).
        """
