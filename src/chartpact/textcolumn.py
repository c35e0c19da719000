"""A dictionary-encoded text column, such as the colours of bars: distinct texts and codes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

MaybeText = str | None


class TextColumn(Sequence[MaybeText]):
    """An unchanging sequence of texts, or None; it equals any other sequence of the same texts.

    >>> TextColumn(("up", "down"), np.array([0, 0, 1]))
    TextColumn(['up', 'up', 'down'])
    """

    __slots__ = ("categories", "codes")

    categories: tuple[MaybeText, ...]
    codes: NDArray[Any]  # for each place, the index of its text in `categories`

    def __init__(self, categories: Iterable[MaybeText], codes: NDArray[Any]) -> None:
        self.categories = tuple(categories)
        self.codes = codes.astype(_smallest_type(len(self.categories)))
        self.codes.flags.writeable = False

    @classmethod
    def encode(cls, texts: Sequence[MaybeText]) -> "TextColumn":
        if isinstance(texts, TextColumn):
            return texts
        index = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        return cls(index, np.fromiter(map(index.__getitem__, texts), np.int64, len(texts)))

    @classmethod
    def repeat(cls, text: MaybeText, count: int) -> "TextColumn":
        return cls((text,), np.zeros(count, np.uint8))

    @classmethod
    def concat(cls, columns: Sequence["TextColumn"]) -> "TextColumn":
        index: dict[MaybeText, int] = {}
        codes = [column.recode(index) for column in columns]
        return cls(index, np.concatenate(codes) if codes else np.empty(0, np.uint8))

    @classmethod
    def where(cls, condition: NDArray[np.bool_], a: "TextColumn", b: "TextColumn") -> "TextColumn":
        """The texts of `a` where the condition holds, else of `b`; one text alone is broadcast.

        >>> up, down = TextColumn.encode(["up"]), TextColumn.encode(["down"])
        >>> TextColumn.where(np.array([True, False]), up, down)
        TextColumn(['up', 'down'])
        """
        index: dict[MaybeText, int] = {}
        return cls(index, np.where(condition, a.recode(index), b.recode(index)))

    def recode(self, index: dict[MaybeText, int]) -> NDArray[Any]:
        """The codes under another index of texts, to which unknown texts are added."""
        codes = [index.setdefault(text, len(index)) for text in self.categories]
        dtype = _smallest_type(len(index))
        recoded: NDArray[Any]
        if codes and codes == list(range(codes[0], codes[0] + len(codes))):  # far quicker
            recoded = self.codes.astype(dtype) + dtype(codes[0])
        else:
            recoded = np.array(codes, dtype)[self.codes]
        return recoded

    def map(self, change: Callable[[MaybeText], MaybeText]) -> "TextColumn":
        """The column with each distinct text changed."""
        changed = tuple(change(text) for text in self.categories)
        return self if changed == self.categories else TextColumn(changed, self.codes)

    def count_chars(self) -> int:
        """The characters of all texts, each counted as often as it stands there."""
        counts = np.bincount(self.codes, minlength=len(self.categories)).tolist()
        return sum(len(text or "") * n for text, n in zip(self.categories, counts, strict=True))

    def take(self, places: NDArray[Any]) -> "TextColumn":
        return TextColumn(self.categories, self.codes[places])

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> MaybeText: ...
    @overload
    def __getitem__(self, at: slice) -> "TextColumn": ...
    def __getitem__(self, at: int | slice) -> "MaybeText | TextColumn":
        if not isinstance(at, slice):
            return self.categories[int(self.codes[at])]
        column = object.__new__(TextColumn)  # a view: the codes are read-only already
        column.categories, column.codes = self.categories, self.codes[at]
        return column

    def __iter__(self) -> Iterator[MaybeText]:
        return map(self.categories.__getitem__, self.codes.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TextColumn) and other.categories == self.categories:
            return np.array_equal(self.codes, other.codes)
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        more = f" and {len(self) - 8} more" if len(self) > 8 else ""
        return f"TextColumn({list(self[:8])}{more})"

    def __reduce__(self) -> Any:
        return TextColumn, (self.categories, self.codes)


def _smallest_type(count: int) -> type[np.generic]:
    return np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.int64
