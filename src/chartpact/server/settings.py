"""How a server is set up: from the command line and the environment, with embedded defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from chartpact.sources import configured
from chartpact.sources.configured import Descriptions


@dataclass(frozen=True)
class Limits:
    """What one user may ask for."""

    body_bytes: int = 4 * 1024 * 1024
    calls_per_minute: int = 600
    script_runs_per_minute: int = 120
    megapixels_per_minute: int = 400
    indicators_per_chart: int = 16
    bars_per_chart: int = 50_000
    inline_bars: int = 20_000
    upload_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True)
class Settings:
    """Everything a server needs to know before it starts."""

    database: str
    sources: Descriptions = ()
    scripts: frozenset[str] | None = None  # whose scripts run; None = everybody's
    workers: int = 2
    limits: Limits = field(default_factory=Limits)

    def runs_scripts_of(self, user: str) -> bool:
        return self.scripts is None or user in self.scripts


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings the environment asks for.

    CHARTPACT_DB is a database URL; CHARTPACT_SOURCES describes where bars come from, as told in
    `chartpact.sources.configured`; CHARTPACT_SCRIPTS is all, none or a list of users.
    """
    return Settings(
        database=environ.get("CHARTPACT_DB") or default_database(),
        sources=configured.from_environment(environ),
        scripts=_users(environ.get("CHARTPACT_SCRIPTS", "all")),
        workers=max(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2),
    )


def _users(text: str) -> frozenset[str] | None:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if words == ["all"]:
        return None
    return frozenset() if words in ([], ["none"]) else frozenset(words)


def default_database() -> str:
    """The SQLite file in the user's data directory."""
    from platformdirs import user_data_path

    return f"sqlite:///{user_data_path('chartpact', appauthor=False) / 'library.db'}"
