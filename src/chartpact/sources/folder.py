"""A folder of CSV and Parquet files: a file's name without its ending is its symbol."""

import os
import stat
import time
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from chartpact.bars import COLUMNS, Bars
from chartpact.bars.loading import of_content
from chartpact.bars.options import LoadOptions, check_options
from chartpact.cache import Cache
from chartpact.sources.directory import Symbol
from chartpact.sources.errors import SourceFailed, UnknownSymbol, near

ENDINGS = (".csv", ".csv.gz", ".parquet")
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
        return [Symbol(f"{symbol}@{self.name}", None, self.name) for symbol in self._files()]

    def may_have(self, symbol: str) -> bool:  # noqa: ARG002  (all its symbols are listed)
        return False

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        files = self._files()
        if symbol not in files:
            raise self._unknown(symbol, files)
        try:
            bars = self._read(symbol, files[symbol])
        except FileNotFoundError:
            raise self._unknown(symbol, files) from None
        except OSError as error:
            raise SourceFailed(f"{symbol}@{self.name} cannot be read: {error.strerror}") from None
        return bars if timeframe is None else bars.resample(timeframe)

    def _read(self, symbol: str, path: Path) -> Bars:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > self._largest:
                raise SourceFailed(
                    f"{symbol}@{self.name}: the file has {status.st_size} bytes; "
                    f"up to {self._largest} are read"
                )

            def read() -> Bars:
                bars = of_content(file.read(), path.name, self._options, self._largest)
                return replace(bars, source=self.name)

            # Two changes within one tick of the file system's clock cannot be told apart.
            if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < SETTLED_NS:
                return read()
            how = (self.name, *self._options.items(), self._largest)
            return PARSED.get_or_make(("folder", how, path, _version(status)), read)

    def _unknown(self, symbol: str, files: Iterable[str]) -> UnknownSymbol:
        hint = near(symbol, (known for known in files if known != symbol))
        return UnknownSymbol(f"there is no {symbol!r:.80} at {self.name!r}{hint}")

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
