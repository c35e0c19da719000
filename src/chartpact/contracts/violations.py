"""Violations: what in a picture breaks the contract, for a program and for a person."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chartpact.contracts.model import KINDS

MAX_SHOWN = 20

Json = Any


@dataclass(frozen=True)
class Violation:
    """One breach: its kind, the place in the contract, and the record or records as drawn."""

    kind: str
    path: str
    message: str
    contract: str
    version: str
    objects: tuple[Json, ...] = ()
    field: str | None = None

    def __post_init__(self) -> None:
        assert self.kind in KINDS, self.kind

    def __str__(self) -> str:
        return f"{self.kind} at {self.path}: {self.message}"

    def to_json(self) -> dict[str, Json]:
        data: dict[str, Json] = {"kind": self.kind, "path": self.path, "message": self.message}
        if self.objects:
            shown = [_jsonable(each) for each in self.objects[:MAX_SHOWN]]
            data["object"] = shown[0] if len(self.objects) == 1 else shown
        if self.field is not None:
            data["field"] = self.field
        return {**data, "contract": self.contract, "version": self.version}


class Trouble(Exception):
    """What stops one object while expressions run; the engine makes a violation of it."""

    def __init__(
        self,
        kind: str,
        message: str,
        members: Sequence[Any] | None = None,
        path: str = "",
        placed: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.members, self.path = kind, message, members, path
        self.placed = placed  # an anchor has its place, only its bar or time is not known


def _jsonable(value: Json, depth: int = 6) -> Json:
    """A record as drawn, in a form every JSON reader takes."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        try:
            return value if math.isfinite(value) else str(value)
        except OverflowError:
            return "a number too large to show"
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _jsonable(each, depth - 1) for key, each in list(value.items())[:64]}
    if isinstance(value, list | tuple):
        return [_jsonable(each, depth - 1) for each in value[:64]]
    return f"{value!r:.60}"
