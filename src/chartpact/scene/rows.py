"""Many small records of one type, kept as columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from chartpact.scene.columns import frozen, listed, maybe_texts, wholes
from chartpact.scene.rule import Json, Rule, SceneError, list_of
from chartpact.scene.values import Value, record, rules
from chartpact.textcolumn import TextColumn

R = TypeVar("R", bound=Value)


class Rows(Sequence[R], Generic[R]):
    """Many small records kept as columns: a sequence of `record`, at the cost of an array a field.

    Columns are given by name; one value stands for all rows.
    """

    record: ClassVar[type[Value]]

    def __init__(self, **columns: Any) -> None:
        known = rules(self.record)
        sized = [each for each in columns.values() if _is_column(each)]
        self._length = len(sized[0]) if sized else 1 if columns else 0
        for name, rule in known.items():
            given = columns.pop(name) if name in columns else _default(self.record, name)
            try:
                if _is_column(given):
                    column = cast("Callable[[Any], Any]", rule.column)(given)
                else:
                    column = _repeated(rule, rule.check(given), self._length)
            except SceneError as error:
                raise SceneError(f"{self.record.__name__}.{name}: {error}") from None
            if len(column) != self._length:
                raise SceneError(
                    f"{self.record.__name__}.{name}: {len(column)} values for {self._length} rows"
                )
            setattr(self, name, column)
        if columns:
            raise SceneError(f"{self.record.__name__}: unknown field {next(iter(columns))!r}")

    @classmethod
    def like(cls, one: R, **columns: NDArray[Any]) -> Self:
        """As many rows as the columns have, each like that one but for them.

        These are kept as they are: for who made them, of what the rules ask for.
        """
        count = len(next(iter(columns.values())))
        made = {}
        for name, rule in rules(cls.record).items():
            if name in columns:
                made[name] = frozen(columns[name])
            else:
                made[name] = _repeated(rule, getattr(one, name), count)
        return cls._of(made)

    @classmethod
    def of(cls, records: Iterable[R]) -> Self:
        """The rows of records that are there already."""
        records = tuple(records)
        for each in records:
            if not isinstance(each, cls.record):
                raise SceneError(f"{each!r:.60} is not a {cls.record.__name__}")
        return cls(**{name: [getattr(each, name) for each in records] for name in cls.names()})

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """The rows of all, one after the other."""
        columns = {}
        for name in cls.names():
            parts = [getattr(each, name) for each in several]
            texts = isinstance(parts[0], TextColumn)
            columns[name] = TextColumn.concat(parts) if texts else frozen(np.concatenate(parts))
        return cls._of(columns)

    @classmethod
    def _of(cls, columns: Mapping[str, Any]) -> Self:
        """The rows of columns that are checked already."""
        rows = object.__new__(cls)
        rows.__dict__.update(columns)
        rows._length = len(next(iter(columns.values())))
        return rows

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(rules(cls.record))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...
    def __getitem__(self, at: int | slice) -> R | Self:
        if isinstance(at, slice):
            return self._of({name: getattr(self, name)[at] for name in self.names()})
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return next(self._records(at % self._length, at % self._length + 1))

    def __iter__(self) -> Iterator[R]:
        return self._records(0, self._length)

    def _records(self, first: int, last: int) -> Iterator[R]:
        parts = (listed(getattr(self, name)[first:last]) for name in self.names())
        return (cast(R, self.record(*row)) for row in zip(*parts, strict=True))

    def at(self, rows: NDArray[np.int64], **changed: Any) -> Self:
        """These rows alone, some columns replaced."""
        kept = {}
        for name in self.names():
            column = getattr(self, name)
            kept[name] = column.take(rows) if isinstance(column, TextColumn) else column[rows]
        return type(self)(**{**kept, **changed})

    def to_json(self) -> list[dict[str, Json]]:
        names = self.names()
        parts = [listed(getattr(self, name)) for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._length} rows)"


def _repeated(rule: Rule, value: Any, count: int) -> Any:
    """A column of one value, which is checked."""
    if isinstance(value, str) or (value is None and rule.column is maybe_texts):
        return TextColumn.repeat(value, count)
    return frozen(np.full(count, value, np.int64 if rule.column is wholes else np.float64))


def _is_column(value: Any) -> bool:
    return isinstance(value, _COLUMNS)


_COLUMNS = (np.ndarray, TextColumn, tuple, list)


def _default(record: type[Value], name: str) -> Any:
    return getattr(record, name, ())  # a dataclass keeps its defaults as attributes of the class


def rows(rows_type: type[Rows[Any]]) -> Rule:
    """The rule of a field that holds such rows; a list of the records will do."""
    plain = list_of(record(rows_type.record))

    def check(values: Any) -> Rows[Any]:
        return values if isinstance(values, rows_type) else rows_type.of(plain.check(values))

    return replace(plain, check=check, encode=lambda values: values.to_json())
