"""What is asked of a study, checked; the doors hand over texts and numbers as they came."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any, Literal, get_args

from chartpact.checks import is_number
from chartpact.clock import zones
from chartpact.clock.errors import ClockError
from chartpact.studies.errors import StudyError

Unit = Literal["atr", "ticks"]
HORIZONS = (1, 3, 10, 20, 50)
HOLD_OUT = 0.4
MOST_HORIZONS = 20
MOST_SWEPT = 200  # sets of parameters
MOST_TESTS = 1000

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Ask:
    """The options of a study. Without `horizons` there are five, as far as the bars reach."""

    long: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    horizons: tuple[int, ...] = ()
    params: Values = field(default_factory=dict)
    sweep: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    cost_ticks: float | None = None
    hold_out: float = HOLD_OUT
    confirm: bool = False
    zone: str = ""
    unit: Unit = "atr"
    whole: bool = False  # states are replayed on all bars

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Every combination of the swept values."""
        return [
            dict(zip(self.sweep, values, strict=True)) for values in product(*self.sweep.values())
        ]


def read_ask(
    long: Iterable[str] = (),
    short: Iterable[str] = (),
    states: Iterable[str] = (),
    horizons: Iterable[int] | None = None,
    params: Values | None = None,
    sweep: Iterable[str] | Mapping[str, Sequence[Any]] = (),
    cost_ticks: float | None = None,
    hold_out: float = HOLD_OUT,
    confirm: bool = False,
    zone: str | None = None,
    unit: Unit = "atr",
    whole: bool = False,
) -> Ask:
    """The options, or a StudyError that says which is wrong."""
    chosen = tuple(sorted(dict.fromkeys(horizons or ())))
    if not all(type(bars) is int and bars >= 1 for bars in chosen) or len(chosen) > MOST_HORIZONS:
        raise _wrong("horizons", f"are up to {MOST_HORIZONS} whole numbers of bars, from 1 on")
    if cost_ticks is not None and not (is_number(cost_ticks) and cost_ticks >= 0):
        raise _wrong("cost_ticks", "is a number of ticks a side, 0 or more")
    if not is_number(hold_out) or not 0 <= hold_out <= 0.9:
        raise _wrong("hold_out", "is a share of the bars from 0 to 0.9, or 40%")
    if confirm and not hold_out:
        raise _wrong("confirm", "looks at the bars that are held out, and hold_out is 0")
    if unit not in get_args(Unit):
        raise _wrong("unit", "is atr or ticks")
    if zone:
        try:
            zones.zone(zone)
        except ClockError as error:
            raise StudyError("value", f"zone: {error}") from None
    names = [*long, *short]
    if len({*names}) < len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise StudyError("value", f"{double!r:.80} is given twice", "a signal has one direction")
    swept = sweep if isinstance(sweep, Mapping) else dict(map(read_sweep, sweep))
    values = {str(name): tuple(values) for name, values in swept.items()}
    ask = Ask(
        tuple(long), tuple(short), tuple(states), chosen, dict(params or {}), values,
        cost_ticks, float(hold_out), bool(confirm), zone or "", unit, bool(whole),
    )  # fmt: skip
    count = 1
    for name, options in values.items():
        count *= len(options)
        if not options or name in ask.params:
            raise _wrong("sweep", f"of {name!r:.60} needs values, and no value given besides")
    if count > MOST_SWEPT:
        raise StudyError(
            "value", f"{count} sets of parameters are too many", f"at most {MOST_SWEPT}"
        )
    return ask


def _wrong(name: str, rule: str) -> StudyError:
    return StudyError("value", f"{name} {rule}")


def read_share(text: str) -> float:
    """A share as in `40%` or `0.4`."""
    number = text.strip()
    try:
        return float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        raise _wrong("hold_out", "is a share of the bars, such as 40% or 0.4") from None


def read_sweep(text: str) -> tuple[str, tuple[Any, ...]]:
    """The parameter and the values of `k=a..b:step`, or of `k=a,b,c`.

    >>> read_sweep("period=5..11:2")
    ('period', (5, 7, 9, 11))
    """
    name, sign, written = text.partition("=")
    if not name.strip() or not sign:
        raise _wrong("sweep", f"{text!r:.80} is not written as k=a..b:step")
    first, dots, rest = written.partition("..")
    if not dots:
        return name.strip(), tuple(value.strip() for value in written.split(",") if value.strip())
    last, _, step = rest.partition(":")
    try:
        low, high, by = (Decimal(part.strip()) for part in (first, last, step or "1"))
    except InvalidOperation:
        raise _wrong("sweep", f"{text!r:.80} has no numbers: write k=a..b:step") from None
    if not (low.is_finite() and high.is_finite() and by.is_finite() and by > 0 and high >= low):
        raise _wrong("sweep", f"{text!r:.80} goes from a to a greater b, in steps above 0")
    count = int((high - low) / by) + 1
    if count > MOST_SWEPT:
        message = f"{text!r:.80} makes {count} values"
        raise StudyError("value", message, f"at most {MOST_SWEPT}")
    values = (low + by * i for i in range(count))
    return name.strip(), tuple(int(v) if v == v.to_integral_value() else float(v) for v in values)
