"""A script as an indicator among the others."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chartpact.bars import Bars
from chartpact.fetching import SAMPLES, Fetch, needed
from chartpact.params import Param
from chartpact.sandbox import run
from chartpact.scene import Scene
from chartpact.script.check.declarations import category, is_overlay
from chartpact.script.limits import Limits
from chartpact.script.program import Result


@dataclass(frozen=True)
class ScriptIndicator:
    """What a script's PARAMS and META say of it, and its source to be run.

    `source` tells where it comes from (user or pact), `user` whose turn a run takes.
    """

    name: str
    code: str
    params: tuple[Param, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)
    source: str = "user"
    aliases: tuple[str, ...] = ()
    user: str | None = None
    fetch: Fetch = SAMPLES
    limits: Limits = field(default_factory=Limits)

    @property
    def title(self) -> str:
        return str(self.meta.get("title", self.name))

    @property
    def description(self) -> str:
        return str(self.meta.get("description", ""))

    @property
    def category(self) -> str:
        return category(self.meta)

    @property
    def overlay(self) -> bool:
        return is_overlay(self.meta)

    def result(self, bars: Bars, params: Mapping[str, Any]) -> Result:
        """What a run draws, costs and prints."""
        extras = needed(self.params, params, bars, self.fetch)
        return run(
            self.code,
            bars,
            params,
            limits=self.limits,
            user=self.user,
            name=self.name,
            extras=extras,
        )

    def compute(self, bars: Bars, params: Mapping[str, Any]) -> Scene:
        return self.result(bars, params).scene
