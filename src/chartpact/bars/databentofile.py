"""Databento's files: DBN, and what it packs with zstd, by the extra `databento`."""

import warnings
from io import BytesIO

from chartpact.bars import dataframes
from chartpact.bars.errors import BarsError
from chartpact.bars.table import BarTable

MAGIC = b"DBN"
MOST_BYTES = 2**32  # unpacked, where nothing else bounds it


def read(data: bytes, symbol: str | None) -> BarTable:
    """The table of a DBN file of OHLCV records."""
    try:
        from databento import DBNStore
    except ModuleNotFoundError:
        raise _not_installed("DBN") from None
    try:
        with warnings.catch_warnings(action="ignore"):  # of pandas, at the library
            store = DBNStore.from_bytes(data)
            schema = str(store.schema)
            frame = store.to_df() if schema.startswith("ohlcv") else None
    except Exception as error:  # noqa: BLE001  (the library raises anything on a damaged file)
        reason = " ".join(str(error).split())
        raise BarsError(f"the DBN file cannot be read: {reason:.200}") from None
    body = data[8 + int.from_bytes(data[4:8], "little") :]  # the library leaves out half a record
    if body and len(body) % (4 * body[0] or 1):
        raise BarsError("the DBN file breaks off in the middle of a record")
    if frame is None:
        raise BarsError(f"the DBN file holds {schema}, and bars are of a schema such as ohlcv-1m")
    frame.index.name = "ts_event"
    return dataframes.tabulate_pandas(frame, symbol)


def unpack(data: bytes, largest: int | None) -> bytes:
    """Content that zstd packed."""
    try:
        import zstandard
    except ModuleNotFoundError:
        raise _not_installed("a file packed with zstd") from None
    most = MOST_BYTES if largest is None else largest + 1
    try:
        with zstandard.ZstdDecompressor().stream_reader(
            BytesIO(data), read_across_frames=True
        ) as packed:
            return bytes(packed.read(most))
    except zstandard.ZstdError as error:
        raise BarsError(f"the zstd file is damaged: {error}") from None


def _not_installed(what: str) -> BarsError:
    return BarsError(
        f"{what} needs databento, which is not installed: it comes with chartpact[databento]"
    )
