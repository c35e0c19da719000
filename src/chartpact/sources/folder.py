"""A folder of CSV and Parquet files: a file's name without its ending is its symbol."""

import stat
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from chartpact.bars import Bars
from chartpact.bars.load import of_content
from chartpact.bars.options import Options
from chartpact.sources.catalog import Listing
from chartpact.sources.errors import SourceFailed, UnknownSymbol, near

ENDINGS = (".csv", ".csv.gz", ".parquet")
LARGEST = 512 * 2**20  # bytes of a file, unpacked


class Folder:
    """The bars of one folder, read anew each time."""

    remote = False

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        tz: str | None = None,
        stamp: str = "open",
        largest: int = LARGEST,
    ) -> None:
        self.name = name
        self._folder = folder
        self._options = Options(tz=tz, stamp=stamp)
        self._largest = largest

    @property
    def about(self) -> str:
        return f"Files of the operator, asked for as NAME@{self.name}."

    def listings(self) -> Iterable[Listing]:
        return [Listing(f"{symbol}@{self.name}", None, self.name) for symbol in self._files()]

    def load(self, symbol: str, timeframe: str | None = None) -> Bars:
        files = self._files()
        if symbol not in files:
            raise self._unknown(symbol, files)
        path = files[symbol]
        try:
            if path.stat().st_size > self._largest:
                raise SourceFailed(
                    f"{symbol}@{self.name}: the file has {path.stat().st_size} bytes; "
                    f"up to {self._largest} are read"
                )
            content = path.read_bytes()
        except FileNotFoundError:
            raise self._unknown(symbol, files) from None
        except OSError as error:
            raise SourceFailed(f"{symbol}@{self.name} cannot be read: {error.strerror}") from None
        bars = of_content(content, path.name, self._options, self._largest)
        bars = replace(bars, source=self.name)
        return bars if timeframe is None else bars.resample(timeframe)

    def _unknown(self, symbol: str, files: Iterable[str]) -> UnknownSymbol:
        hint = near(symbol, (each for each in files if each != symbol))
        return UnknownSymbol(f"there is no {symbol!r:.80} at {self.name!r}{hint}")

    def _files(self) -> dict[str, Path]:
        """Symbol → file, of what is there: so no symbol can name a file outside the folder."""
        found: dict[str, list[Path]] = defaultdict(list)
        try:
            home = self._folder.resolve(strict=True)
            for path in sorted(home.iterdir()):
                symbol = _symbol(path.name)
                if symbol and _is_file_within(path, home):
                    found[symbol].append(path)
        except OSError as error:
            raise SourceFailed(
                f"the folder of {self.name!r} cannot be read: {error.strerror}"
            ) from None
        # Where ES.csv lies beside ES.parquet, both go by their whole names.
        return {
            symbol if len(paths) == 1 else path.name: path
            for symbol, paths in found.items()
            for path in paths
        }


def _symbol(name: str) -> str:
    """The symbol of a file name; empty for files without bars, hidden, or not to be written."""
    ending = next((each for each in ENDINGS if name.lower().endswith(each)), None)
    if ending is None or name.startswith(".") or not name.isprintable():
        return ""
    return name[: -len(ending)].strip()


def _is_file_within(path: Path, home: Path) -> bool:
    """Whether it is a plain file that stays in the folder, even where it is a link."""
    try:
        target = path.resolve(strict=True)
        return target.is_relative_to(home) and stat.S_ISREG(target.stat().st_mode)
    except (OSError, RuntimeError):  # a link to nowhere or to itself, or a file that is gone
        return False
