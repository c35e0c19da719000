"""One indicator of a chart: what it drew or why it could not, and the facts shown beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chartpact.problem import Problem
from chartpact.scene.scene import Scene


@dataclass(frozen=True)
class Drawn:
    """What one indicator of a chart drew, or why it could not.

    `params` are the values it ran with, `defaults` those of its declaration. `steps` is the number
    of steps that a script's run was charged, `cpu_ms` the processor time that it took.
    """

    id: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    short_title: str | None = None
    overlay: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    scene: Scene | None = None
    error: Problem | None = None
    steps: int | None = None
    cpu_ms: float | None = field(default=None, compare=False)

    def to_json(self, series: bool = True) -> dict[str, Any]:
        """The indicator for programs; without `series` its scene is left out."""
        data: dict[str, Any] = {"id": self.id, "name": self.name, "params": dict(self.params)}
        if self.error is not None:
            data["error"] = self.error.to_json()
        elif self.scene is not None and series:
            data["scene"] = self.scene.to_json()
        if self.steps is not None:
            data["steps"] = self.steps
        return data
