"""JSON files into tables: a list of rows, as freqtrade and ccxt write them, or of records."""

import json
from typing import Any

import numpy as np

from chartpact.bars.columns import COLUMNS, Column
from chartpact.bars.errors import BarsError
from chartpact.bars.table import BarTable
from chartpact.checks import is_number, is_text, is_whole

ROWS = "without names, its columns are read as freqtrade's: time, open, high, low, close, volume"


def read(data: bytes) -> BarTable:
    """The table of a JSON list; rows are counted from 1."""
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BarsError(f"the file begins like JSON, but is not: {error}") from None
    if not isinstance(rows, list) or not rows:
        raise BarsError("the file is JSON, but no list of bars")
    if all(isinstance(row, list) and len(row) == len(COLUMNS) for row in rows):
        columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
        return _tabulate(columns, (ROWS,))
    names = [str(name) for name in rows[0]] if isinstance(rows[0], dict) else []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not names:
            raise BarsError(f"row {number} is neither [time, open, high, low, close, volume] nor "
                            "a record with these names")  # fmt: skip
    return _tabulate({name: tuple(row.get(name) for row in rows) for name in names}, ())


def _tabulate(columns: dict[str, tuple[Any, ...]], notes: tuple[str, ...]) -> BarTable:
    arrays = {name: _column(values) for name, values in columns.items()}
    return BarTable(arrays, lambda row: f"row {row + 1}", notes=notes)


def _column(values: tuple[Any, ...]) -> Column:
    """Numbers as they are, where all are numbers; else texts."""
    if all(is_whole(value) and abs(value) < 2**63 for value in values):
        return np.array(values, np.int64)
    if all(is_number(value) for value in values):
        return np.array(values, np.float64)
    texts = [value if is_text(value) else "" if value is None else str(value) for value in values]
    return np.array(texts)
