"""Loads bars of `sample:NAME`, of a file's path, or of a file's content.

`SYMBOL@SOURCE` is recognised here; `chartpact.sources` delivers such bars.
"""

import gzip
import os.path
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol, TypeAlias, Unpack

import numpy as np

from chartpact.bars import csvfile, databentofile, jsonfile, parquet, samples
from chartpact.bars.bars import Bars, as_asked, of_table
from chartpact.bars.errors import BarsError, SourceNotConfigured, unreadable
from chartpact.bars.filenames import read_name
from chartpact.bars.options import OF_CONTENT, SHAPING, LoadOptions, check_options, content_options
from chartpact.bars.table import BarTable

SOURCE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
}
_ZSTD = b"\x28\xb5\x2f\xfd"
_NOT_BARS = (
    ((b"<!doctype", b"<html"), "a web page"),
    ((b"{",), "a JSON object"),
    ((b"params", b"meta", b"def ", b"//@version"), "a script"),
)


class DataFrame(Protocol):
    """A DataFrame of pandas or polars."""

    @property
    def columns(self) -> Any: ...


# What may stand where bars are taken.
BarsLike: TypeAlias = Bars | str | PathLike[str] | DataFrame | Mapping[str, Any]


def to_bars(source: BarsLike) -> Bars:
    """Bars as they are, or loaded."""
    return source if isinstance(source, Bars) else load(source)


def of_value(source: object, options: LoadOptions) -> Bars | None:
    """Bars of a value that holds them: Bars, a frame, columns or an array; None of any other."""
    if isinstance(source, Bars):
        if unfit := content_options(options):
            raise BarsError(f"{unfit[0]} is for files and frames, and these are Bars")
        return override(source, check_options(options))
    if isinstance(source, Mapping):
        return Bars.from_columns(source, **options)
    if isinstance(source, np.ndarray):
        return Bars.from_numpy(source, **options)
    library = type(source).__module__.partition(".")[0]
    if not hasattr(type(source), "columns"):
        return None
    if library == "polars":
        return Bars.from_polars(source, **options)
    if library == "pandas" or hasattr(source, "iloc"):
        return Bars.from_pandas(source, **options)
    return None


def load(source: BarsLike, **options: Unpack[LoadOptions]) -> Bars:
    """Bars of a file, of `sample:NAME`, or of a frame.

    `tz` is the zone of times that name none. `stamp` says whether times are the bars' opens or
    their closes. `symbol`, `timeframe`, `tick_size`, `day_roll` and `market` override what the
    file's name and rows say; `columns`, `sort`, `date_order` and `decimal` say how rows are read.
    """
    bars = of_value(source, options)
    if bars is not None:
        return bars
    text, given = _to_path(source), check_options(options)
    if text.startswith(samples.PREFIX):
        return override(samples.bars(text), given)
    if at_source(text):
        raise SourceNotConfigured(f"{text}: chartpact.load knows sources; this reads files alone")
    path = Path(text)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        hint = "; bars of a source are asked for as SYMBOL@SOURCE" if text.endswith("@") else ""
        raise BarsError(
            f"{text if path.name else repr(text)}: {unreadable(path, error)}{hint}"
        ) from None
    return of_content(data, path.name, given)


def _to_path(source: object) -> str:
    """The text of a path; raises BarsError on what is neither a path nor a frame."""
    if isinstance(source, str | PathLike):
        return fspath(source)
    raise BarsError(
        f"bars are a file's path, sample:NAME, a frame of pandas or polars, or Bars, "
        f"not {type(source).__name__}"
    )


def override(bars: Bars, options: LoadOptions) -> Bars:
    """Bars with what the options say of them, in the timeframe and number they ask for."""
    changes: dict[str, Any] = {
        name: value for name, value in options.items() if name not in (*OF_CONTENT, *SHAPING)
    }
    return as_asked(replace(bars, **changes) if changes else bars, options)


def at_source(text: str) -> tuple[str, str] | None:
    """Symbol and source of `SYMBOL@SOURCE`, unless a file has that name.

    >>> at_source("BTC/USDT@binance"), at_source("me@home.csv")
    (('BTC/USDT', 'binance'), None)
    """
    symbol, _, source = text.rpartition("@")
    if not symbol.strip() or not SOURCE_NAME.fullmatch(source) or os.path.exists(text):
        return None
    return symbol, source


def of_content(data: bytes, name: str, options: LoadOptions, largest: int | None = None) -> Bars:
    """Bars of a file's content; one that unpacks to more than `largest` bytes is refused."""
    try:
        return _bars(_unpack(data, largest), name, options, largest)
    except BarsError as error:
        raise type(error)(f"{name}: {error}", error.option) from None


def _bars(data: bytes, name: str, options: LoadOptions, largest: int | None) -> Bars:
    return of_table(Bars, _read_table(data, options, largest), options, name, read_name(name))


def table_of_content(data: bytes, options: LoadOptions, largest: int | None = None) -> BarTable:
    """The table of a file's content, whatever its form."""
    return _read_table(_unpack(data, largest), options, largest)


def _read_table(data: bytes, options: LoadOptions, largest: int | None) -> BarTable:
    if data.startswith(parquet.MAGIC):
        return parquet.read(data, options, largest)
    if data.startswith(databentofile.MAGIC):
        return databentofile.read(data, options.get("symbol"))
    for magic, what in _ARCHIVES.items():
        if data.startswith(magic):
            raise BarsError(f"the file is {what}: unpack it, or use gzip")
    begin = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"["):
        return jsonfile.read(data)
    for marks, what in _NOT_BARS:
        if begin.lower().startswith(marks):
            raise BarsError(f"this is {what}, not a file of bars")
    return csvfile.read(data, options)


def _unpack(data: bytes, largest: int | None) -> bytes:
    """The content itself, where it came compressed."""
    if data.startswith(b"\x1f\x8b"):
        try:
            with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
                data = packed.read(-1 if largest is None else largest + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise BarsError(f"the gzip file is damaged: {error}") from None
    if data.startswith(_ZSTD):
        data = databentofile.unpack(data, largest)
    if largest is not None and len(data) > largest:
        raise BarsError(f"the file holds more than {largest} bytes, the most that is read here")
    return data
