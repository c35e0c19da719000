"""Bars of closed days on disk, each with the time at which it was fetched.

A closed day does not change, so that it is fetched once. The last kept day is fetched again with
what follows it: where the service tells it otherwise now, as after a split, all is fetched anew.
"""

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import COLUMNS, Bars, BarsError
from chartpact.bars.ticksize import tick_size_of
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.tradingcalendar import TradingCalendar

log = logging.getLogger(__name__)

VARIABLE = "CHARTPACT_CACHE"
OFF = "off"
MOST_BARS = 50_000  # of one symbol
MOST_BYTES = 512 * 2**20  # of all files; those that were written longest ago leave first


def folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where fetched bars are kept, by CHARTPACT_CACHE or in the user's cache; None: nowhere."""
    named = environ.get(VARIABLE, "")
    if named.lower() == OFF:
        return None
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("chartpact", appauthor=False) / "bars"


@dataclass(frozen=True)
class KeptBars:
    """Bars of closed days, when each was fetched (UTC ms), and how many had been asked for."""

    bars: Bars
    fetched: NDArray[np.int64]
    reach: int

    @property
    def last_day(self) -> int:
        """When the last day that is kept began: from here on a service is asked again."""
        return int(min(self._calendar.opening(self._date)[0], self.bars.time[-1]))

    def is_complete(self, now: int) -> bool:
        """Whether no other bar can be over yet: no day has ended since, nor begun intraday."""
        following = self._calendar.following(self._date + 1)
        step = Timeframe.parse(self.bars.timeframe)
        if step.intraday:
            return now < int(self._calendar.opening(following)[0]) + step.ms
        return now < int(self._calendar.closing(following)[0])

    def join(self, fresh: Bars, now: int) -> "KeptBars | None":
        """These bars and fresh ones; None where the fresh ones tell the last day otherwise."""
        old = int(np.searchsorted(self.bars.time, fresh.time[0]))
        shared = len(self.bars) - old
        if not 0 < shared <= len(fresh) or self.bars[old:].day_roll != fresh.day_roll:
            return None
        if any(
            not np.array_equal(getattr(self.bars, name)[old:], getattr(fresh, name)[:shared],
                               equal_nan=name != "time")
            for name in COLUMNS
        ):  # fmt: skip
            return None
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(self.bars, name)[:old], getattr(fresh, name)])
            for name in COLUMNS
        }
        fetched = np.concatenate([self.fetched, np.full(len(fresh) - shared, now)])
        joined = replace(fresh, **columns)
        prices = np.concatenate([joined.open, joined.high, joined.low, joined.close])
        return KeptBars(
            replace(joined, tick_size=tick_size_of(prices) or fresh.tick_size), fetched, self.reach
        )

    def closed(self, until: int) -> "KeptBars":
        """The days that are over, of the last bars."""
        ends = self._calendar.closing(self.bars.trading_day)
        if not Timeframe.parse(self.bars.timeframe).intraday:
            ends = np.maximum(ends, self.bars.close_time)
        stop = int(np.searchsorted(ends, until, side="right"))
        return replace(self, bars=self.bars[:stop], fetched=self.fetched[:stop]).last(MOST_BARS)

    def last(self, count: int) -> "KeptBars":
        return replace(self, bars=self.bars.last(count), fetched=self.fetched[-count:])

    @property
    def _calendar(self) -> TradingCalendar:
        return TradingCalendar.of(self.bars.day_roll, self.bars.market)

    @property
    def _date(self) -> NDArray[np.int64]:
        return self._calendar.date(self.bars.close_time[-1:] - 1)


class Archive:
    """The kept bars of one service, a file for each symbol and timeframe."""

    def __init__(self, home: Path, service: str) -> None:
        self._home = home
        self._service = service

    def read(self, symbol: str, step: Timeframe) -> KeptBars | None:
        """What is kept; a file that cannot be read counts as none."""
        path = self._path(symbol, step)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in (*COLUMNS, "fetched")}
                facts = json.loads(str(stored["facts"]))
            if [facts["service"], facts["symbol"]] != [self._service, symbol]:
                return None
            columns = {name: arrays[name] for name in COLUMNS}
            own = {name: facts[name] for name in ("symbol", "tick_size", "day_roll", "market")}
            kept = KeptBars(
                Bars(**columns, **own, timeframe=str(step)), arrays["fetched"], facts["reach"]
            )
            whole = len(kept.bars) == len(kept.fetched) > 0
            return kept if whole and isinstance(kept.reach, int) else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, BarsError, BadZipFile, EOFError) as error:
            log.warning("%s: kept bars cannot be read, and are fetched anew: %s", path, error)
            return None

    def write(self, kept: KeptBars) -> None:
        """Keeps the bars in place of those before; where that fails, they are fetched again."""
        bars = kept.bars
        if not len(bars):
            return
        path = self._path(bars.symbol, Timeframe.parse(bars.timeframe))
        facts = {"service": self._service, "symbol": bars.symbol, "tick_size": bars.tick_size}
        facts |= {"day_roll": bars.day_roll, "market": bars.market, "reach": kept.reach}
        arrays = {name: getattr(bars, name) for name in COLUMNS}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                np.savez(file, fetched=kept.fetched, facts=np.array(json.dumps(facts)), **arrays)
            os.replace(file.name, path)
            self._make_room()
        except OSError as error:
            log.warning("bars cannot be kept in %s: %s", self._home, error)

    def _path(self, symbol: str, step: Timeframe) -> Path:
        digest = sha256(json.dumps([self._service, symbol]).encode()).hexdigest()[:16]
        return self._home / f"{quote(symbol, safe='')[:60]}-{step}-{digest}.npz"

    def _make_room(self) -> None:
        files = [(path, path.stat()) for path in self._home.iterdir()]
        excess = sum(status.st_size for _, status in files) - MOST_BYTES
        for path, status in sorted(files, key=lambda file: file[1].st_mtime_ns):
            if excess <= 0:
                return
            with suppress(FileNotFoundError):  # another process was quicker
                path.unlink()
            excess -= status.st_size
