"""Many small records of one type, stored as one column per field."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from chartpact.arrays import ABSENT, freeze, to_list
from chartpact.checks import Unfit
from chartpact.drawing.fieldtypes import FieldType, Json, list_of
from chartpact.drawing.record import Record, SceneError, record_type
from chartpact.textcolumn import TextColumn

R = TypeVar("R", bound=Record)


class RecordArray(Sequence[R], Generic[R]):
    """A sequence of `record` that costs an array per field (a structure of arrays).

    Columns are passed by the names of the fields; one value stands for all rows.
    """

    record: ClassVar[type[Record]]
    names: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        cls.names = tuple(cls.record.field_types)

    def __init__(self, **columns: Any) -> None:
        lengths = [len(values) for values in columns.values() if isinstance(values, _COLUMNS)]
        self._length = lengths[0] if lengths else 1 if columns else 0
        kind = self.record.__name__
        for name, type_ in self.record.field_types.items():
            # A dataclass keeps the defaults of its fields as attributes of the class.
            values = columns.pop(name) if name in columns else getattr(self.record, name, ())
            try:
                if isinstance(values, _COLUMNS) and type_.column:
                    column = type_.column(values)
                else:
                    column = _repeat(type_.check(values), type_, self._length)
            except Unfit as unfit:
                raise SceneError(kind, name, unfit) from None
            if len(column) != self._length:
                raise SceneError(f"{kind}.{name}: {len(column)} values for {self._length} rows")
            setattr(self, name, column)
        if columns:
            raise SceneError(f"{kind}: unknown field {next(iter(columns))!r}")

    @classmethod
    def like(cls, template: R, **columns: NDArray[Any]) -> Self:
        """As many rows as the columns have, each like the template but for its columns.

        The columns are not checked: they are of the types that the fields ask for.
        """
        count = len(next(iter(columns.values())))
        rest = {
            name: _repeat(getattr(template, name), type_, count)
            for name, type_ in cls.record.field_types.items()
            if name not in columns
        }
        return cls._of_columns({name: freeze(column) for name, column in columns.items()} | rest)

    @classmethod
    def of_records(cls, records: Sequence[R]) -> Self:
        return cls(**{name: [getattr(record, name) for record in records] for name in cls.names})

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        columns: dict[str, Any] = {}
        for name in cls.names:
            pieces = [getattr(part, name) for part in parts]
            is_text = isinstance(pieces[0], TextColumn)
            columns[name] = TextColumn.concat(pieces) if is_text else freeze(np.concatenate(pieces))
        return cls._of_columns(columns)

    @classmethod
    def _of_columns(cls, columns: Mapping[str, Any]) -> Self:
        """The array of columns that are checked already."""
        array = object.__new__(cls)
        array.__dict__.update(columns)
        array._length = len(next(iter(columns.values())))
        return array

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...
    def __getitem__(self, at: int | slice) -> R | Self:
        if isinstance(at, slice):
            return self._of_columns({name: getattr(self, name)[at] for name in self.names})
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return next(iter(self[at % self._length : at % self._length + 1]))

    def __iter__(self) -> Iterator[R]:
        return (cast(R, self.record(*row)) for row in self._rows())

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(to_list(getattr(self, name)) for name in self.names), strict=True)

    def take(self, rows: NDArray[np.int64], **changes: Any) -> Self:
        """These rows alone, some columns replaced."""
        columns: dict[str, Any] = {}
        for name in self.names:
            column = getattr(self, name)
            columns[name] = column.take(rows) if isinstance(column, TextColumn) else column[rows]
        return type(self)(**{**columns, **changes})

    def replace(self, **changes: Any) -> Self:
        """The same rows, some columns replaced."""
        return type(self)(**{name: getattr(self, name) for name in self.names} | changes)

    def to_json(self) -> list[dict[str, Json]]:
        return [dict(zip(self.names, row, strict=True)) for row in self._rows()]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._length} rows)"


_COLUMNS = (np.ndarray, TextColumn, tuple, list)


def _repeat(value: Any, type_: FieldType, count: int) -> TextColumn | NDArray[Any]:
    """A column of one checked value."""
    if type_.kind == "text":
        return TextColumn.repeat(value, count)
    if type_.kind == "whole":
        return freeze(np.full(count, ABSENT if value is None else value, np.int64))
    return freeze(np.full(count, value, np.float64))


def array_type(array: type[RecordArray[Any]]) -> FieldType:
    """The type of a field that holds such an array; a list of the records will do."""
    plain = list_of(record_type(array.record))

    def check(values: Any) -> RecordArray[Any]:
        return values if isinstance(values, array) else array.of_records(plain.check(values))

    return replace(plain, kind="array", check=check, encode=lambda values: values.to_json())
