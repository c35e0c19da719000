"""A folder of files and partitions.

A file's name without its ending is its symbol. A file of many symbols has them by a column:
`all/NQ` are the rows of NQ in the file `all`. Partitions are folders called `key=value`, or by a
year, a month or a day; a value of `symbol=` or `ticker=` is the symbol of the files below it, and
of the others a column tells it.
"""

import os
import re
import stat
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Unpack
from urllib.parse import unquote

from chartpact.bars import COLUMNS, Bars, BarsError
from chartpact.bars.bars import of_table
from chartpact.bars.filenames import NameClues
from chartpact.bars.loading import of_content, table_of_content
from chartpact.bars.options import LoadOptions, check_options
from chartpact.bars.table import BarTable, join, rows_of
from chartpact.cache import Cache
from chartpact.sources.directory import Symbol
from chartpact.sources.errors import SourceFailed, UnknownSymbol, near

ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".parquet", ".json", ".json.gz", ".dbn", ".dbn.zst")
PARTITION = re.compile(r"[A-Za-z_]\w{0,40}=.{1,80}|\d{1,8}(-\d\d){0,2}")
OF_SYMBOL = re.compile(r"(?:symbol|ticker)=(.+)", re.IGNORECASE)
MOST_PARTS, DEEPEST = 20_000, 6
LARGEST = 512 * 2**20  # bytes of a file, unpacked
SETTLED_NS = 2_000_000_000


def count_bytes(bars: Bars) -> int:
    return sum(getattr(bars, name).nbytes for name in COLUMNS)


# Files that were parsed before. A key says everything that the bars depend on, and whose they are:
# a hit on another user's file would tell by the clock that it is there.
PARSED: Cache[Hashable, Bars] = Cache(1000, weight=64 * 2**20, weigh=count_bytes)


class Folder:
    """The bars of one folder, read anew when a file has changed."""

    remote = False

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        largest: int = LARGEST,
        **options: Unpack[LoadOptions],
    ) -> None:
        self.name = name
        self._folder = folder
        self._options = check_options(options)  # of all its files
        self._largest = largest

    @property
    def about(self) -> str:
        return f"Files of the operator, asked for as NAME@{self.name}."

    def symbols(self) -> Iterable[Symbol]:
        named = dict.fromkeys([*self._files(), *(symbol for _, symbol in self._parts() if symbol)])
        return [Symbol(f"{symbol}@{self.name}", None, self.name) for symbol in named]

    def may_have(self, symbol: str) -> bool:  # noqa: ARG002  (all its symbols are listed)
        return False

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        files = self._files()
        file, _, owner = symbol.rpartition("/")
        try:
            if symbol in files:
                bars = self._read(symbol, [files[symbol]])
            elif file in files:
                bars = self._read(symbol, [files[file]], owner)
            else:
                bars = self._read_parts(symbol, files)
        except FileNotFoundError:
            raise self._unknown(symbol, files) from None
        except OSError as error:
            raise SourceFailed(f"{symbol}@{self.name} cannot be read: {error.strerror}") from None
        except BarsError as error:
            if error.option != "symbol":
                raise
            hint = f"{error.message} (or ask for {symbol}/SYMBOL@{self.name})"
            raise BarsError(hint, "symbol") from None
        return bars if timeframe is None else bars.resample(timeframe)

    def _read_parts(self, symbol: str, files: Iterable[str]) -> Bars:
        """The bars of a symbol whose files lie in partitions."""
        parts = self._parts()
        own = [path for path, owner in parts if owner == symbol]
        if own:
            return self._read(symbol, own)
        shared = [path for path, owner in parts if not owner]
        if not shared:
            raise self._unknown(symbol, [*files, *(owner for _, owner in parts)])
        return self._read(symbol, shared, symbol)

    def _read(self, symbol: str, paths: list[Path], owner: str = "") -> Bars:
        """The bars of these files: all their rows, or those of one owner."""
        states = [path.stat() for path in paths]
        size = sum(status.st_size for status in states)
        if size > self._largest:
            raise SourceFailed(
                f"{symbol}@{self.name}: the file{'s' * (len(paths) > 1)} "
                f"{'have' if len(paths) > 1 else 'has'} {size} bytes; "
                f"up to {self._largest} are read"
            )

        def read() -> Bars:
            return replace(self._parse(symbol, paths, owner), source=self.name)

        # Two changes within one tick of the file system's clock cannot be told apart.
        changed = max(max(status.st_mtime_ns, status.st_ctime_ns) for status in states)
        if time.time_ns() - changed < SETTLED_NS:
            return read()
        how = (self.name, *self._options.items(), self._largest, owner)
        versions = tuple(zip(paths, map(_version, states), strict=True))
        return PARSED.get_or_make(("folder", how, versions), read)

    def _parse(self, symbol: str, paths: list[Path], owner: str) -> Bars:
        if not owner and len(paths) == 1 and paths[0].parent == self._folder.resolve():
            [path] = paths
            return of_content(_content(path), path.name, self._options, self._largest)
        tables: dict[str, BarTable] = {}
        for path in paths:
            table: BarTable | None = None
            try:
                table = table_of_content(_content(path), self._options, self._largest)
            except BarsError as error:
                raise BarsError(f"{path.name}: {error}", error.option) from None
            if owner:
                table = rows_of(table, owner)
            if table is not None:
                tables[str(path.relative_to(self._folder.resolve()))] = table
        if not tables:
            raise self._unknown(symbol, ())
        name = owner or symbol
        options: LoadOptions = {"sort": len(tables) > 1 or None, **self._options}
        table = replace(join(tables), symbol=name) if owner else join(tables)
        return of_table(Bars, table, check_options(options), symbol, NameClues(name))

    def _unknown(self, symbol: str, files: Iterable[str]) -> UnknownSymbol:
        hint = near(symbol, (known for known in files if known != symbol))
        return UnknownSymbol(f"there is no {symbol!r:.80} at {self.name!r}{hint}")

    def _parts(self) -> list[tuple[Path, str]]:
        """The files in partitions, each with the symbol that its folders name."""
        try:
            home = self._folder.resolve(strict=True)
            found: list[tuple[Path, str]] = []
            folders = [(path, "") for path in sorted(home.iterdir()) if _is_partition(path)]
            for _ in range(DEEPEST):
                below: list[tuple[Path, str]] = []
                for folder, above in folders:
                    named = OF_SYMBOL.fullmatch(folder.name)
                    owner = unquote(named[1]) if named else above
                    for path in sorted(folder.iterdir()):
                        if _is_partition(path):
                            below.append((path, owner))
                        elif _symbol(path.name) and _is_file_within(path, home):
                            found.append((path, owner))
                folders = below
        except OSError as error:
            raise SourceFailed(
                f"the folder of {self.name!r} cannot be read: {error.strerror}"
            ) from None
        if len(found) > MOST_PARTS:
            raise SourceFailed(f"{self.name!r} has more than {MOST_PARTS} files in partitions")
        return found

    def _files(self) -> dict[str, Path]:
        """Symbol → file, by listing the folder: no symbol can name a file outside of it."""
        by_symbol: dict[str, list[Path]] = defaultdict(list)
        try:
            home = self._folder.resolve(strict=True)
            for path in sorted(home.iterdir()):
                symbol = _symbol(path.name)
                if symbol and _is_file_within(path, home):
                    by_symbol[symbol].append(path)
        except OSError as error:
            raise SourceFailed(
                f"the folder of {self.name!r} cannot be read: {error.strerror}"
            ) from None
        # Where ES.csv lies beside ES.parquet, both go by their whole names.
        return {
            symbol if len(paths) == 1 else path.name: path
            for symbol, paths in by_symbol.items()
            for path in paths
        }


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read()


def _is_partition(path: Path) -> bool:
    return bool(PARTITION.fullmatch(path.name)) and not path.is_symlink() and path.is_dir()


def _version(status: os.stat_result) -> tuple[int, ...]:
    """Numbers that change with the file, even if its time is set back or it is replaced."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _symbol(name: str) -> str:
    """The symbol of a file name; empty for other files, hidden ones and unprintable names."""
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), None)
    if ending is None or name.startswith(".") or not name.isprintable():
        return ""
    return name[: -len(ending)].strip()


def _is_file_within(path: Path, home: Path) -> bool:
    """Whether it is a plain file in the folder, or a link to one."""
    try:
        target = path.resolve(strict=True)
        return target.is_relative_to(home) and stat.S_ISREG(target.stat().st_mode)
    except (OSError, RuntimeError):  # a link to nowhere or to itself, or a file that is gone
        return False
