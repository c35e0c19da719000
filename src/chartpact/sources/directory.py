"""Bars by name: `sample:NAME`, or `SYMBOL@SOURCE` of a source that the operator configured.

Over MCP and REST a symbol is always such a name, never a path, a URL or a command. A source that
fails says so; no other bars are delivered in its place.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from chartpact.bars import Bars, SourceNotConfigured, samples
from chartpact.problem import nearest
from chartpact.sources.errors import SourceFailed, UnknownSymbol

SAMPLES = "sample"


@dataclass(frozen=True)
class Symbol:
    """One symbol as the lists show it."""

    symbol: str  # as it is asked for
    timeframe: str | None  # None: not known before the bars are read
    source: str
    synthetic: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Source(Protocol):
    """A provider of bars of several symbols."""

    @property
    def name(self) -> str:
        """The part of `SYMBOL@SOURCE` after the @."""

    @property
    def about(self) -> str:
        """A sentence for users who choose a symbol."""

    @property
    def remote(self) -> bool:
        """Whether loading waits for a network rather than for a processor."""

    def symbols(self) -> Iterable[Symbol]:
        """The symbols that are known without asking a service."""

    def may_have(self, symbol: str) -> bool:
        """Whether a symbol that is not listed looks like one of the source's."""

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        """The completed bars of a symbol, at the source's own timeframe or the one asked for."""


@dataclass(frozen=True)
class SourceEntry:
    """One source as the lists show it: its symbols, or why they cannot be listed."""

    name: str
    about: str
    symbols: tuple[Symbol, ...] = ()
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        data = {"source": self.name, "about": self.about}
        return data if self.error is None else {**data, "error": self.error}


class Samples:
    """The samples that come with the package."""

    def may_have(self, symbol: str) -> bool:  # noqa: ARG002
        return False

    name = SAMPLES
    about = f"Bundled synthetic data, asked for as {samples.PREFIX}NAME."
    remote = False

    def symbols(self) -> Iterable[Symbol]:
        return [
            Symbol(f"{samples.PREFIX}{name}", sample.timeframe, SAMPLES, synthetic=True)
            for name, sample in samples.SAMPLES.items()
        ]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        bars = samples.bars(symbol)
        return bars if timeframe is None else bars.resample(timeframe)


class Directory:
    """The sources that one user may name, the samples among them."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._sources = {source.name: source for source in sources}
        self._samples = Samples()

    def __or__(self, source: Source) -> "Directory":
        """The directory with one source more, such as a user's own files."""
        return Directory([*self._sources.values(), source])

    def entries(self) -> list[SourceEntry]:
        """Every source with its symbols, the samples first; one that fails says why."""
        return [_describe(source) for source in (self._samples, *self._sources.values())]

    def symbols(self) -> list[Symbol]:
        """All symbols that can be listed."""
        return [symbol for entry in self.entries() for symbol in entry.symbols]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        """The bars of that name, at their own timeframe or the one asked for."""
        source, name = self.find(symbol)
        return source.load(name, timeframe)

    def has_source_of(self, symbol: str) -> bool:
        """Whether the symbol names a source of this directory."""
        name, _, source = symbol.rpartition("@")
        return symbol.startswith(samples.PREFIX) or bool(name.strip() and source in self._sources)

    def find(self, symbol: str) -> tuple[Source, str]:
        """The source that a symbol names, and the symbol's name there.

        A bare symbol is that of the first source that lists it, else of the first that may have it.
        """
        if symbol.startswith(samples.PREFIX):
            return self._samples, symbol
        name, at, source = symbol.rpartition("@")
        if not at and (found := self._find_bare(symbol)) is not None:
            return found, symbol
        if not at or not name.strip():
            raise UnknownSymbol(
                f"{symbol!r:.80} is not a symbol: ask for {samples.PREFIX}NAME or SYMBOL@SOURCE"
                f"; {self._name_sources()}{self._near(symbol)}"
            )
        if source not in self._sources:
            names = ", ".join(sorted(self._sources))
            names = f"{names}, and" if names else "none besides"
            raise SourceNotConfigured(
                f"{symbol:.80}: no source called {source!r:.80} is configured; "
                f"there is {names} {samples.PREFIX}NAME"
            )
        return self._sources[source], name

    def _find_bare(self, symbol: str) -> Source | None:
        for source in self._sources.values():
            with suppress(SourceFailed):
                if any(known.symbol == f"{symbol}@{source.name}" for known in source.symbols()):
                    return source
        return next((source for source in self._sources.values() if source.may_have(symbol)), None)

    def _name_sources(self) -> str:
        names = ", ".join(name for name in self._sources if name != "mine")
        if names:
            return f"the sources here are {names}"
        return "no source is configured here, which CHARTPACT_SOURCES does"

    def _near(self, symbol: str) -> str:
        """The symbols that were probably meant: those with the word in them, or like it."""
        word = symbol.strip().lower()
        bare = {
            known.symbol.removeprefix(samples.PREFIX).partition("@")[0].lower(): known.symbol
            for known in self.symbols()
        }
        with_it = [name for name in bare if word and word in name]
        alike = [name for name in nearest(word, bare, 3) if name not in with_it]
        names = ", ".join(bare[name] for name in (with_it + alike)[:3])
        return f"; near: {names}" if names else ""


def _describe(source: Source) -> SourceEntry:
    try:
        return SourceEntry(source.name, source.about, tuple(source.symbols()))
    except SourceFailed as error:
        return SourceEntry(source.name, source.about, error=str(error))
