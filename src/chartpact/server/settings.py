"""The settings of a server, from the environment, with their defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from chartpact.library.local import database_url
from chartpact.sources import configuration, readings
from chartpact.sources.configuration import SourceConfigs
from chartpact.sources.readings import Addresses
from chartpact.sources.tradingview import GrantedChart, grants
from chartpact.work.cores import count_cores

_SWITCH = {"on": True, "1": True, "off": False, "0": False}


@dataclass(frozen=True)
class UserLimits:
    """What one user may ask for."""

    calls_per_minute: int = 600
    calls_at_once: int = 32
    script_seconds_per_minute: int = 20  # of processor time
    checks_per_minute: int = 240  # of scripts, while they are typed
    megapixels_per_minute: int = 400
    indicators_per_chart: int = 16
    inline_bars: int = 20_000
    body_bytes: int = 4 * 1024 * 1024
    body_megabytes_per_minute: int = 120
    body_seconds: int = 30
    upload_bytes: int = 16 * 1024 * 1024  # also the largest body where files are put
    job_megabytes: int = 1024  # beyond what a worker has at rest
    answer_seconds: int = 45  # in the queue and at work
    fetch_seconds: int = 8  # for what an indicator needs from outside
    answer_bytes: int = 16 * 1024 * 1024  # of a chart's values, or of its picture


@dataclass(frozen=True)
class Settings:
    """How a server is set up."""

    database: str
    sources: SourceConfigs = ()
    tradingview: tuple[GrantedChart, ...] = ()
    scripts: frozenset[str] | None = None  # whose scripts run; None = everybody's
    workers: int = 2  # processes that compute, of each process that serves
    warm: bool = True  # they start with the server, and not with the first job
    processes: int = 1  # that serve
    accounts: bool = False  # people sign in, and have pages of their own
    metrics_token: str | None = None  # who shows it may read /metrics from another machine
    readings: Addresses = field(default_factory=readings.from_environment)
    limits: UserLimits = field(default_factory=UserLimits)

    def among(self, processes: int) -> "Settings":
        """These settings for one of so many processes: together they compute on every core."""
        workers = max(1, -(-self.workers // processes))
        return replace(self, processes=processes, workers=workers)

    def runs_scripts_of(self, user: str) -> bool:
        return self.scripts is None or user in self.scripts


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings the environment asks for.

    CHARTPACT_DB is a database URL; CHARTPACT_SOURCES describes where bars come from, as in
    `chartpact.sources.configuration`; CHARTPACT_TRADINGVIEW says which charts may be read, as in
    `chartpact.sources.tradingview.grants`; CHARTPACT_SCRIPTS is all, none or a list of users;
    CHARTPACT_LIMITS is NAME=NUMBER, …, by the names of `UserLimits`; CHARTPACT_WARM is on or off;
    CHARTPACT_METRICS_TOKEN lets a program on another machine read /metrics.
    """
    return Settings(
        database=database_url(environ),
        sources=configuration.from_environment(environ),
        tradingview=grants.from_environment(environ),
        scripts=_read_users(environ.get("CHARTPACT_SCRIPTS", "all")),
        limits=_read_limits(environ.get("CHARTPACT_LIMITS", "")),
        workers=max(2, count_cores()),
        warm=read_switch(environ, "CHARTPACT_WARM", True),
        metrics_token=environ.get("CHARTPACT_METRICS_TOKEN") or None,
        readings=readings.from_environment(environ),
    )


def read_switch(environ: Mapping[str, str], name: str, default: bool) -> bool:
    """A setting that is on or off; raises ValueError."""
    text = environ.get(name, "").strip().lower()
    if text and text not in _SWITCH:
        raise ValueError(f"{name}: {text!r:.40} is neither on nor off")
    return _SWITCH.get(text, default)


def _read_limits(text: str) -> UserLimits:
    names = [limit.name for limit in fields(UserLimits)]
    limits = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (part.strip() for part in entry.partition("="))
        if name not in names or not number.isdecimal() or int(number) < 1:
            raise ValueError(
                f"CHARTPACT_LIMITS: {entry!r:.80} is not NAME=NUMBER, with a number from 1 and "
                f"one of the names {', '.join(names)}"
            )
        limits[name] = int(number)
    return UserLimits(**limits)


def _read_users(text: str) -> frozenset[str] | None:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if words in (["all"], ["none"], []):
        return None if words == ["all"] else frozenset()
    if mixed := [word for word in words if word.lower() in ("all", "none")]:
        # Most likely a slip: it would let in nobody, or everybody.
        raise ValueError(
            f"CHARTPACT_SCRIPTS: {mixed[0]!r} is no user: write all, or none, or names of users "
            "separated by commas"
        )
    return frozenset(words)
