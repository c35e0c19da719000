"""One door to bars: `sample:NAME`, the path of a file, or `SYMBOL@SOURCE`."""

import gzip
import re
import zlib
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from chartpact.bars import csvfile, parquet, samples
from chartpact.bars.columns import Bars
from chartpact.bars.errors import BarsError, SourceNotConfigured, nearest
from chartpact.bars.options import Options
from chartpact.bars.table import to_bars

_SOURCE = re.compile(r"(?P<symbol>[^@\s]+)@(?P<source>[A-Za-z][\w-]*)")
_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
}


def load(
    source: str | PathLike[str],
    *,
    tz: str | None = None,
    stamp: str = "open",
    symbol: str | None = None,
    timeframe: str | None = None,
    tick_size: float | None = None,
    day_roll: str | None = None,
) -> Bars:
    """Bars of a CSV or Parquet file, of `sample:NAME`, or of `SYMBOL@SOURCE`.

    `tz` is the zone of times that name none; `stamp` says whether times are the bars' opens or
    their closes; the others override what is told by the file's name and its rows.
    """
    options = Options(tz, stamp, symbol, timeframe, tick_size, day_roll)
    text = fspath(source)
    if text.startswith(samples.PREFIX):
        return _sample(text, options)
    path = Path(text)
    remote = _SOURCE.fullmatch(text)
    if remote and not path.exists():
        return from_source(remote["symbol"], remote["source"], options)
    try:
        return _file(path, options)
    except BarsError as error:
        raise type(error)(f"{path.name}: {error}") from None


def from_source(symbol: str, source: str, options: Options) -> Bars:  # noqa: ARG001
    """Bars of a symbol that a configured source delivers."""
    raise SourceNotConfigured(
        f"{symbol}@{source}: no source called {source!r} is configured here; "
        f"use a file, or a bundled sample such as {samples.PREFIX}es-5m"
    )


def _sample(name: str, options: Options) -> Bars:
    bars = samples.bars(name)
    changes: dict[str, Any] = {
        key: value
        for key, value in (
            ("symbol", options.symbol),
            ("tick_size", options.tick_size),
            ("day_roll", options.day_roll),
        )
        if value is not None
    }
    changed = replace(bars, **changes) if changes else bars
    return changed if options.timeframe is None else changed.resample(options.timeframe)


def _file(path: Path, options: Options) -> Bars:
    data = _bytes(path)
    if data.startswith(parquet.MAGIC):
        table = parquet.read(data)
    else:
        for magic, what in _ARCHIVES.items():
            if data.startswith(magic):
                raise BarsError(f"the file is {what}: unpack it, or use gzip")
        table = csvfile.read(data)
    return to_bars(table, options, symbol_of(path.name), path.name)


def _bytes(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except FileNotFoundError:
        siblings = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise BarsError(f"there is no such file{nearest(path.name, siblings)}") from None
    except IsADirectoryError:
        raise BarsError("this is a folder, not a file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BarsError(f"the gzip file is damaged: {error}") from None
    except OSError as error:
        raise BarsError(f"the file cannot be read: {error.strerror or error}") from None


def symbol_of(name: str) -> str:
    """The symbol that a file's name begins with.

    >>> symbol_of("ESZ13_1m_2013-10-06.csv.gz"), symbol_of("BTC-USD.parquet")
    ('ESZ13', 'BTC-USD')
    """
    stem = re.sub(r"(?:\.(?:csv|tsv|txt|parquet|pq|gz))+$", "", name, flags=re.IGNORECASE)
    first = re.split(r"[_,\s]", stem)[0]
    return re.sub(r"-\d+(?:[smhHdDwWM]|min)$", "", first) or stem
