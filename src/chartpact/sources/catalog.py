"""Bars by the names an operator configured: `sample:NAME`, or `SYMBOL@SOURCE`.

Over MCP and REST a symbol is always such a name, never a path, a URL or a command. A source that
fails says so; nothing else is ever handed over in its place.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from chartpact.bars import Bars, SourceNotConfigured, samples
from chartpact.sources.errors import SourceFailed, UnknownSymbol, near

SAMPLES = "sample"


@dataclass(frozen=True)
class Listing:
    """One symbol as the lists show it."""

    symbol: str  # as it is asked for
    timeframe: str | None  # None: not known before the bars are read
    source: str
    synthetic: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Source(Protocol):
    """Where bars of several symbols come from."""

    @property
    def name(self) -> str:
        """What stands after the @."""

    @property
    def about(self) -> str:
        """A sentence for whoever chooses a symbol."""

    @property
    def remote(self) -> bool:
        """Whether loading waits for a network rather than for a processor."""

    def listings(self) -> Iterable[Listing]:
        """The symbols that can be listed without asking anybody far away."""

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        """The completed bars of a symbol, at the source's own timeframe or the one asked for."""


@dataclass(frozen=True)
class Shelf:
    """One source as the lists show it: its symbols, or why they cannot be told."""

    name: str
    about: str
    listings: tuple[Listing, ...] = ()
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        told = {"source": self.name, "about": self.about}
        return told if self.error is None else {**told, "error": self.error}


class Bundled:
    """The samples that come with the package."""

    name = SAMPLES
    about = f"Bundled synthetic data, asked for as {samples.PREFIX}NAME."
    remote = False

    def listings(self) -> Iterable[Listing]:
        return [
            Listing(f"{samples.PREFIX}{name}", sample.timeframe, SAMPLES, synthetic=True)
            for name, sample in samples.SAMPLES.items()
        ]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        bars = samples.bars(symbol)
        return bars if timeframe is None else bars.resample(timeframe)


class Catalog:
    """Every source there is, behind one way of asking."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._sources = {source.name: source for source in sources}
        self._bundled = Bundled()

    def __or__(self, source: Source) -> "Catalog":
        """The catalog with one source more, such as a user's own files."""
        return Catalog([*self._sources.values(), source])

    def shelves(self) -> list[Shelf]:
        """Every source with its symbols, the bundled samples first; one that fails says why."""
        return [_shelf(each) for each in (self._bundled, *self._sources.values())]

    def listings(self) -> list[Listing]:
        """All symbols that can be listed."""
        return [each for shelf in self.shelves() for each in shelf.listings]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        """The bars of that name, at their own timeframe or the one asked for."""
        source, name = self.find(symbol)
        return source.load(name, timeframe)

    def has_source_of(self, symbol: str) -> bool:
        """Whether the symbol names a source that is there."""
        name, _, source = symbol.rpartition("@")
        return symbol.startswith(samples.PREFIX) or bool(name.strip() and source in self._sources)

    def find(self, symbol: str) -> tuple[Source, str]:
        """The source that a symbol names, and what it is called there."""
        if symbol.startswith(samples.PREFIX):
            return self._bundled, symbol
        name, at, source = symbol.rpartition("@")
        if not at or not name.strip():
            raise UnknownSymbol(
                f"{symbol!r:.80} is not a symbol: ask for {samples.PREFIX}NAME or SYMBOL@SOURCE"
                + near(symbol, [each.symbol for each in self.listings()])
            )
        if source not in self._sources:
            known = ", ".join(sorted(self._sources))
            known = f"{known}, and" if known else "none besides"
            raise SourceNotConfigured(
                f"{symbol:.80}: no source called {source!r:.80} is configured; "
                f"there is {known} {samples.PREFIX}NAME"
            )
        return self._sources[source], name


def _shelf(source: Source) -> Shelf:
    try:
        return Shelf(source.name, source.about, tuple(source.listings()))
    except SourceFailed as error:
        return Shelf(source.name, source.about, error=str(error))
