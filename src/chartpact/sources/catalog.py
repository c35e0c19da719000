"""Bars by the names an operator configured: `sample:NAME`, or `SYMBOL@SOURCE`.

Over MCP and REST a symbol is always such a name, never a path, a URL or a command. A source that
fails says so; nothing else is ever handed over in its place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from chartpact.bars import Bars, BarsError, load, samples


class UnknownSymbol(BarsError):
    """No bars go by that name; the message lists what is near."""


class SourceFailed(Exception):
    """A source could not deliver: unreachable, refused, or with an answer that makes no sense."""


@dataclass(frozen=True)
class Listing:
    """One symbol as the lists show it."""

    symbol: str  # as it is asked for
    timeframe: str
    source: str
    synthetic: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Source(Protocol):
    """Where bars of several symbols come from."""

    def listings(self) -> Iterable[Listing]: ...

    def load(self, symbol: str) -> Bars: ...


class Folder:
    """CSV and Parquet files of one folder; a file's stem is its symbol."""

    ENDINGS = (".csv", ".csv.gz", ".parquet")

    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._folder = folder

    def listings(self) -> Iterable[Listing]:
        return [Listing(f"{symbol}@{self._name}", "", self._name) for symbol in self._files()]

    def load(self, symbol: str) -> Bars:
        files = self._files()
        if symbol not in files:
            raise UnknownSymbol(
                f"there is no {symbol!r:.80} at {self._name!r}"
                + _near(symbol, [f"{each}@{self._name}" for each in files])
            )
        return replace(load(files[symbol], symbol=symbol), source=self._name)

    def _files(self) -> dict[str, Path]:
        # Looked up among what is there, so that no symbol can name a file outside the folder.
        found: dict[str, Path] = {}
        for path in sorted(self._folder.iterdir()):
            for ending in self.ENDINGS:
                if path.name.endswith(ending) and path.is_file():
                    found.setdefault(path.name.removesuffix(ending), path)
        return found


class Catalog:
    """Every source there is, behind one way of asking."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = dict(sources)

    def listings(self) -> list[Listing]:
        """All symbols, the bundled samples first."""
        bundled = [
            Listing(f"{samples.PREFIX}{name}", sample.timeframe, "sample", synthetic=True)
            for name, sample in samples.SAMPLES.items()
        ]
        return bundled + [each for source in self._sources.values() for each in source.listings()]

    def load(self, symbol: str) -> Bars:
        """The bars of that name."""
        if symbol.startswith(samples.PREFIX):
            return samples.bars(symbol)
        name, at, source = symbol.rpartition("@")
        if not at or not name:
            raise UnknownSymbol(
                f"{symbol!r:.80} is not a symbol: ask for sample:NAME or SYMBOL@SOURCE"
                + _near(symbol, [each.symbol for each in self.listings()])
            )
        if source not in self._sources:
            known = ", ".join(sorted(self._sources)) or "none besides the samples"
            raise UnknownSymbol(f"there is no source {source!r:.80}; configured: {known}")
        return self._sources[source].load(name)


def _near(symbol: str, known: Iterable[str]) -> str:
    near = get_close_matches(symbol, list(known), 3, 0.4)
    return f"; near: {', '.join(near)}" if near else "; list_symbols names them all"
