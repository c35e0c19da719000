"""Many texts of which few differ, such as the colours of bars: the few, and where each stands."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

MaybeText = str | None


class Texts(Sequence[MaybeText]):
    """An unchanging sequence of texts, or None; it equals any other sequence of the same.

    >>> Texts(("up", "down"), np.array([0, 0, 1]))
    Texts(['up', 'up', 'down'])
    """

    __slots__ = ("different", "which")

    different: tuple[MaybeText, ...]
    which: NDArray[Any]

    def __init__(self, different: Iterable[MaybeText], which: NDArray[Any]) -> None:
        self.different = tuple(different)
        self.which = which.astype(_smallest(len(self.different)))
        self.which.flags.writeable = False

    @classmethod
    def of(cls, texts: Sequence[MaybeText]) -> "Texts":
        """The same texts in this form."""
        if isinstance(texts, Texts):
            return texts
        number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        return cls(number, np.fromiter(map(number.__getitem__, texts), np.int64, len(texts)))

    @classmethod
    def repeated(cls, times: int, text: MaybeText) -> "Texts":
        return cls((text,), np.zeros(times, np.uint8))

    @classmethod
    def joined(cls, parts: Sequence["Texts"]) -> "Texts":
        """One after the other."""
        number: dict[MaybeText, int] = {}
        which = [each.recoded(number) for each in parts]
        return cls(number, np.concatenate(which) if which else np.empty(0, np.uint8))

    @classmethod
    def chosen(cls, condition: NDArray[np.bool_], a: "Texts", b: "Texts") -> "Texts":
        """Those of `a` where the condition holds, else those of `b`; one alone stands everywhere.

        >>> Texts.chosen(np.array([True, False]), Texts.of(["up"]), Texts.of(["down"]))
        Texts(['up', 'down'])
        """
        number: dict[MaybeText, int] = {}
        return cls(number, np.where(condition, a.recoded(number), b.recoded(number)))

    def recoded(self, number: dict[MaybeText, int]) -> NDArray[Any]:
        """For each place the number of its text; texts without one are given the next."""
        codes = [number.setdefault(text, len(number)) for text in self.different]
        kind = _smallest(len(number))
        if codes and codes == list(range(codes[0], codes[0] + len(codes))):  # far quicker
            found: NDArray[Any] = self.which.astype(kind) + kind(codes[0])
        else:
            found = np.array(codes, kind)[self.which]
        return found

    def mapped(self, change: Callable[[MaybeText], MaybeText]) -> "Texts":
        """Every text changed in the same way."""
        changed = tuple(change(text) for text in self.different)
        return self if changed == self.different else Texts(changed, self.which)

    def _with(self, which: NDArray[Any]) -> "Texts":
        """The same texts in other places, which nobody else can change."""
        texts = object.__new__(Texts)
        texts.different, texts.which = self.different, which
        return texts

    def at(self, places: NDArray[Any]) -> "Texts":
        """Those at these places."""
        return Texts(self.different, self.which[places])

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, at: int) -> MaybeText: ...
    @overload
    def __getitem__(self, at: slice) -> "Texts": ...
    def __getitem__(self, at: int | slice) -> "MaybeText | Texts":
        if isinstance(at, slice):
            return self._with(self.which[at])
        return self.different[int(self.which[at])]

    def __iter__(self) -> Iterator[MaybeText]:
        return map(self.different.__getitem__, self.which.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts) and other.different == self.different:
            return np.array_equal(self.which, other.which)
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return list(self) == list(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        shown = list(self[:8])
        return f"Texts({shown}{'' if len(self) <= len(shown) else f' and {len(self) - 8} more'})"

    def __reduce__(self) -> Any:
        return Texts, (self.different, self.which)


def _smallest(count: int) -> type[np.generic]:
    return np.uint8 if count <= 1 << 8 else np.uint16 if count <= 1 << 16 else np.int64
