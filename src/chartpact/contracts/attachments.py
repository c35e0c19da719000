"""Attachments: another element's instance that belongs to an owner, and how it is searched."""

from dataclasses import dataclass, field

from chartpact.contracts.context import path_of
from chartpact.contracts.document import Place
from chartpact.contracts.emit import Module


@dataclass(frozen=True)
class Attachment:
    """Which element's instance belongs to the owner, and where it is kept."""

    name: str
    candidates: str
    slot: int
    required: bool
    exclusive: bool


@dataclass
class Search:
    """How the candidates of one owner are found, as code.

    They are sorted by `keyed` and looked up by its bounds; what else must hold is tested on those.
    """

    keyed: str = "None"
    bounds: list[tuple[str, str]] = field(default_factory=list)  # lines that run for one owner
    tests: list[str] = field(default_factory=list)
    nearest: str | None = None  # of several, those for which this is smallest
    free: set[str] = field(default_factory=set)

    def emit(self, module: Module, function: str, place: Place) -> None:
        """The function that finds them, for all owners."""
        path, line = path_of(place), module.line
        module.function(function, "items, candidates, budget, S", self.free)
        line(f"keys = [{self.keyed} for c in candidates]", path_of((*place, "within")))
        line("order = [n for n, k in enumerate(keys) if k is not None]")
        line("order.sort(key=keys.__getitem__)")
        line("keys = [keys[n] for n in order]")
        line("sorted_candidates = [candidates[n] for n in order]")
        line("out = []")
        line("for i in items:")
        for code, at in self.bounds:
            line(code, at, indent=2)
        line("a, z = bisect_left(keys, l0), bisect_right(keys, h0)", path, indent=2)
        line("budget[0] -= max(z - a, 0)", indent=2)
        line("if budget[0] < 0: raise crowd()", path, indent=2)
        condition = f" if {' and '.join(self.tests)}" if self.tests else ""
        line(f"w = [c for c in sorted_candidates[a:z]{condition}]", path, indent=2)
        if self.nearest is not None:
            line("if len(w) > 1:", indent=2)
            line(f"q = [{self.nearest} for c in w]", path_of((*place, "nearest")), indent=3)
            line("b = min(q)", indent=3)
            line("w = [c for c, k in zip(w, q) if k == b]", indent=3)
        line("out.append(w)", indent=2)
        line("return out")
