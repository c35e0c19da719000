"""What a proof says: the first change of the past, what is drawn late, and what may change."""

from dataclasses import dataclass
from typing import Any

SIGNAL = "signal"  # the kind of what is late


@dataclass(frozen=True)
class Rewrite:
    """What a longer history changed: on `bars` bars it was `before`, on `later` ones `after`."""

    what: str
    bar: int
    time: int
    bars: int
    later: int
    before: str
    after: str

    def to_json(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __str__(self) -> str:
        noun = "bar" if self.bars == 1 else "bars"
        was = f"on {self.bars:,} {noun} it was {self.before}"
        return f"{self.what} at bar {self.bar}: {was}, on {self.later:,} it is {self.after}"


@dataclass(frozen=True)
class Late:
    """Something drawn `delay` bars before the one it became known on, the first of `count`.

    `told` is the delay that a signal tells itself, by its confirmed bar.
    """

    what: str
    bar: int
    time: int
    delay: int
    count: int
    told: int = 0
    kind: str = ""  # SIGNAL of a signal

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "kind"}

    def __str__(self) -> str:
        bars = "bar" if self.delay == 1 else "bars"
        more = f"; {self.count - 1:,} more" if self.count > 1 else ""
        return f"{self.what} at bar {self.bar}: known {self.delay} {bars} later{more}"


@dataclass(frozen=True)
class Proof:
    """What the prefixes showed; `failed` is why it cannot be run on the shortest of them."""

    bars: int
    prefixes: int
    rewritten: Rewrite | None = None
    late: tuple[Late, ...] = ()
    provisional: tuple[str, ...] = ()
    failed: str = ""

    @property
    def ok(self) -> bool:
        return self.rewritten is None

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "bars": self.bars,
            "prefixes": self.prefixes,
            "rewritten": None if self.rewritten is None else self.rewritten.to_json(),
            "late": [late.to_json() for late in self.late],
            "provisional": list(self.provisional),
            "failed": self.failed,
        }
