"""Parquet files into tables, by pyarrow, which the extra `parquet` installs."""

from typing import Any

import numpy as np

from chartpact.bars.columns import Column
from chartpact.bars.errors import BarsError
from chartpact.bars.options import LoadOptions
from chartpact.bars.roles import roles
from chartpact.bars.table import BarTable

MAGIC = b"PAR1"
UNNAMED_INDEX = "__index_level_0__"  # how pandas stores an index without a name


def read(data: bytes, options: LoadOptions, largest: int | None = None) -> BarTable:
    """The table of a Parquet file's bytes; rows are counted from 1.

    A file whose columns would take more than `largest` bytes is refused before they are unpacked.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise BarsError(
            "Parquet needs pyarrow, which is not installed: it comes with chartpact[parquet]"
        ) from None
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        if largest is not None and _unpacked_size(file.metadata) > largest:
            raise BarsError(f"its columns take more than {largest} bytes, the most read here")
        names = [
            "time"
            if field.name == UNNAMED_INDEX and pa.types.is_timestamp(field.type)
            else field.name
            for field in file.schema_arrow
        ]
        which = roles(names, options.get("columns"))
        stored = {name: file.schema_arrow.names[names.index(name)] for name in which.names}
        rows = file.read(columns=list(stored.values()))
        columns = {name: rows.column(key) for name, key in stored.items()}
        arrays = {name: _values(column) for name, column in columns.items()}
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise BarsError(f"the Parquet file is damaged: {error}") from None
    if rows.num_rows == 0:
        raise BarsError("the file has columns, but no bars")
    aware = frozenset(name for name, column in columns.items() if getattr(column.type, "tz", None))
    return BarTable(arrays, lambda row: f"row {row + 1}", aware, roles=which)


def _unpacked_size(metadata: Any) -> int:
    """Bytes of the columns in memory; runs of one value are tiny in the file, whatever it packs."""
    groups = range(metadata.num_row_groups)
    stored = sum(metadata.row_group(number).total_byte_size for number in groups)
    return max(int(stored), 8 * int(metadata.num_rows))


def _values(column: Any) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit))
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    values: Column = np.asarray(column.to_numpy())
    return values
