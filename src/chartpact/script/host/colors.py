"""`color`: colours made of others, one or one for each bar."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from chartpact import palette
from chartpact.checks import Unfit
from chartpact.drawing.fieldtypes import COLOR
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import refusal
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series, TextSeries, array_of
from chartpact.script.runtime.values import LISTS, List, a_type, shown
from chartpact.textcolumn import TextColumn

NAMES = ("alpha", "mix", "gradient", "rgb")
_LEVELS = 255  # of a gradient: as many as a channel of a colour has
_COST = 90


class Colors:
    """The functions of one run, charged to its meter."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def alpha(self, c: Any, a: Any) -> Any:
        """The colour with an opacity from 0 (invisible) to 1 (opaque).

        `c` may be one colour for each bar, as `ta.where` chooses them.
        """
        self._meter.charge(_COST)
        opacity = _share(a, "a")
        if opacity is None:
            raise Fault("value", "a is a number from 0 to 1, and this is na")
        return self._each(c, lambda one: palette.with_alpha(one, opacity))

    def mix(self, a: Any, b: Any, t: Any) -> Any:
        """The colour between two: `a` where t is 0, `b` where it is 1; None where t is na."""
        self._meter.charge(_COST)
        first, second, share = _one(a, "a"), _one(b, "b"), _share(t, "t")
        return None if share is None else _between(first, second, share)

    def gradient(self, s: Any, lo: Any, hi: Any, from_color: Any, to_color: Any) -> Any:
        """Colours by value: `from_color` at `lo` and below, `to_color` at `hi` and above.

        Of a series it is one colour for each bar, None where the series is na; of a number one
        colour.
        """
        self._meter.charge(_COST)
        first, second = _one(from_color, "from_color"), _one(to_color, "to_color")
        low, high = _number(lo, "lo"), _number(hi, "hi")
        if not low < high:
            raise Fault("value", f"lo is below hi, and {shown(lo)} is not below {shown(hi)}")
        if math.isinf(high - low):
            raise Fault("value", f"lo and hi are too far apart: {shown(lo)} and {shown(hi)}")
        if type(s) is not Series and type(s) not in LISTS:
            value = None if s is None else _number(s, "s")
            if value is None or math.isnan(value):
                return None
            return _between(first, second, min(max((value - low) / (high - low), 0.0), 1.0))
        array = s.array if type(s) is Series else array_of(s, None, self._meter)
        if array.dtype == np.bool_:
            hint = 'choose one for each bar: ta.where(cond, "green", "red")'
            raise Fault("type", "s is a series of numbers, not a condition", hint)
        self._meter.charge(600 + len(array))
        shares = np.clip((array - low) / (high - low), 0.0, 1.0)
        levels = np.where(np.isnan(shares), _LEVELS + 1, np.rint(shares * _LEVELS)).astype(np.int64)
        used = np.bincount(levels, minlength=_LEVELS + 2) > 0
        self._meter.charge(60 * int(np.count_nonzero(used)))
        colors = [
            _between(first, second, level / _LEVELS) if level <= _LEVELS else None
            for level in np.flatnonzero(used).tolist()
        ]
        column = TextColumn(colors, (np.cumsum(used) - 1)[levels])
        return TextSeries(column, self._meter) if type(s) is Series else List(column)

    def rgb(self, red: Any, green: Any, blue: Any, opacity: Any = 1) -> Any:
        """The colour of three channels from 0 to 255, and an opacity from 0 to 1; None where one
        is na.
        """
        self._meter.charge(_COST)
        given = {"red": red, "green": green, "blue": blue}
        channels = [_share(value, name, 255) for name, value in given.items()]
        share = _share(opacity, "opacity")
        if share is None or None in channels:
            return None
        return "#" + "".join(f"{_round(x or 0.0):02x}" for x in (*channels, share * 255))

    def _each(self, value: Any, change: Callable[[str], str]) -> Any:
        """A change of one colour, or of each colour of many."""
        if type(value) is TextSeries:
            column = value.texts
        elif type(value) in LISTS:
            self._meter.charge(60 + 3 * len(value))
            if odd := [one for one in value if type(one) not in (str, type(None))]:
                raise Fault("type", f"c is a list of colours, and this holds {a_type(odd[0])}")
            column = TextColumn.encode(value)
        else:
            return change(_one(value, "c"))
        self._meter.charge(_COST * len(column.categories))
        column = column.map(lambda one: None if one is None else change(_one(one, "c")))
        return TextSeries(column, self._meter) if type(value) is TextSeries else List(column)


def _one(value: Any, name: str) -> str:
    try:
        return palette.color(value)
    except Unfit as unfit:
        raise refusal(unfit, COLOR, name) from None


def _number(value: Any, name: str) -> float:
    if type(value) not in (int, float):
        raise Fault("type", f"{name} is a number, not {a_type(value)}")
    try:
        return float(value)
    except OverflowError:
        raise Fault("value", f"{name} is too large a number") from None


def _share(value: Any, name: str, most: int = 1) -> float | None:
    if value is None:
        return None
    share = _number(value, name)
    if math.isnan(share):
        return None
    if not 0 <= share <= most:
        raise Fault("value", f"{name} is from 0 to {most}, not {shown(value)}")
    return share


def _between(a: str, b: str, share: float) -> str:
    """The colour between two canonical ones, channel by channel.

    >>> _between("#000000ff", "#ff8000ff", 0.5)
    '#804000ff'
    """
    channels = zip(bytes.fromhex(a[1:]), bytes.fromhex(b[1:]), strict=True)
    return "#" + "".join(f"{_round(x + (y - x) * share):02x}" for x, y in channels)


def _round(channel: float) -> int:
    return math.floor(channel + 0.5)


def function(name: str, meter: Meter) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(Colors(meter), name)
    return method
