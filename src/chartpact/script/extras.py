"""What PARAMS declares and only the host can fetch: another symbol's bars, a calendar's events.

Scripts do no input of their own. Which names may be fetched is the door's decision: a shell may
name files, a server's users may not.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chartpact.bars import Bars, BarsError, load, samples
from chartpact.indicators.errors import IndicatorError
from chartpact.indicators.params import Param
from chartpact.script.program import Extras

Events = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Fetch:
    """How names become bars and events."""

    bars: Callable[[str], Bars]
    events: Callable[[str], Events]


def _sample_bars(name: str) -> Bars:
    if not name.startswith(samples.PREFIX):
        raise BarsError(f"{name!r:.80} is not a sample, and nothing else may be asked for here")
    return load(name)


SAMPLES = Fetch(_sample_bars, samples.calendar)  # for doors whose users may name nothing else
ANYTHING = Fetch(load, samples.calendar)  # for the user's own shell and own Python


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
                symbols[param.name] = _at_timeframe(fetch.bars(name), bars.timeframe)
            else:
                calendars[param.name] = tuple(fetch.events(name))
        except BarsError as error:
            raise IndicatorError(
                "value", f"{param.name}={name!r:.80}: {error}", parameter=param.name
            ) from None
    return Extras(symbols, calendars)


def _at_timeframe(other: Bars, timeframe: str) -> Bars:
    if not timeframe or not other.timeframe or other.timeframe == timeframe:
        return other
    return other.resample(timeframe)
