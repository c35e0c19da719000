"""What PARAMS declares and only the host can fetch: another symbol's bars, a calendar's events.

Scripts do no input of their own. Which names may be fetched is the door's decision: a shell may
name files, a server's users may not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chartpact.bars import Bars, BarsError, samples
from chartpact.bars.load import at_source
from chartpact.params import IndicatorError, Param
from chartpact.problem import Problem
from chartpact.script.program import Extras
from chartpact.sources import SourceFailed, load

Events = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Fetch:
    """How names become bars (at the timeframe asked for, if any) and events."""

    bars: Callable[[str, str | None], Bars]
    events: Callable[[str], Events]


def _sample_bars(name: str, timeframe: str | None) -> Bars:
    if not name.startswith(samples.PREFIX):
        raise BarsError(f"{name!r:.80} is not a sample, and nothing else may be asked for here")
    return load(name, timeframe=timeframe)


def _any_bars(name: str, timeframe: str | None) -> Bars:
    if name.startswith(samples.PREFIX) or at_source(name):
        return load(name, timeframe=timeframe)
    bars = load(name)
    return bars if timeframe is None else bars.resample(timeframe)


SAMPLES = Fetch(_sample_bars, samples.calendar)  # for doors whose users may name nothing else
ANYTHING = Fetch(_any_bars, samples.calendar)  # for the user's own shell and own Python


def needed(params: Iterable[Param], values: Mapping[str, Any], bars: Bars, fetch: Fetch) -> Extras:
    """What the parameters ask for; the bars' own pair and calendar where they name nothing."""
    symbols: dict[str, Bars] = {}
    calendars: dict[str, tuple[Mapping[str, Any], ...]] = {}
    for param in params:
        if param.type not in ("symbol", "calendar"):
            continue
        usual = bars.pair if param.type == "symbol" else bars.calendar
        name = values.get(param.name) or usual
        if name is None:
            continue
        try:
            if param.type == "symbol":
                symbols[param.name] = fetch.bars(name, bars.timeframe or None)
            else:
                calendars[param.name] = tuple(fetch.events(name))
        except (BarsError, SourceFailed) as error:
            kind = "value" if isinstance(error, BarsError) else "unavailable"
            message = f"{param.name}={name!r:.80}: {error}"
            raise IndicatorError(
                Problem(kind, message, details={"parameter": param.name})
            ) from None
    return Extras(symbols, calendars)
