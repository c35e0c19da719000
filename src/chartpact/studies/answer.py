"""The answer of a study, as every door gives it out; its JSON Schema is made from these classes."""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_ID = "urn:chartpact:schema:study:1"

Interval = tuple[float, float]
Verdict = Literal["found", "cost_eats_it", "nothing", "too_few"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Of(_Part):
    """What was studied."""

    name: str
    source: str
    hash: str
    params: dict[str, Any]
    sweep: dict[str, list[bool | int | float | str | None]] = {}


class StudiedBars(_Part):
    """The bars, those that are held out included."""

    symbol: str
    timeframe: str
    count: int
    first: int
    last: int
    fingerprint: str
    synthetic: bool
    tick_size: float | None


class Baseline(_Part):
    """The bars that the events are compared with."""

    buckets: list[str]
    cells: int
    left_out: str = "own block and neighbours"
    block_bars: int
    blocks: int


class Split(_Part):
    """Where the hold-out begins."""

    studied_until: int
    held_out: float
    embargo_bars: int


class Costs(_Part):
    """What a trade costs."""

    ticks_per_side: float


class Delay(_Part):
    """By how many bars events were drawn before they were known."""

    median: float
    max: int


class Honesty(_Part):
    """What was checked, and how often the user has looked at these bars."""

    prove: str
    events_checked: int
    drawn_before_known_bars: Delay
    tests: int
    tests_before: int | None = None


class LeftOut(_Part):
    """Events that were not studied: no ATR yet, no bars ahead, or a second one on a bar."""

    warm_up: int
    too_late: int
    doubled: int


class Horizon(_Part):
    """One test: a signal over so many bars."""

    bars: int
    events: int
    apart: int
    blocks_with_events: int
    mean_ticks: float | None
    net_ticks: float | None
    excess_ticks: float | None
    excess_atr: float
    interval: Interval | None
    detectable_atr: float | None
    detectable_ticks: float | None
    hit: float
    hit_baseline: float
    hit_interval: Interval | None
    mfe_atr: float
    mae_atr: float
    mfe_mae_median: Interval
    p: float
    q: float
    p_family: float
    p_ledger: float | None = None
    verdict: Verdict
    warnings: list[str]


class SignalAnswer(_Part):
    """All tests of one signal, and of one set of swept parameters."""

    name: str
    side: Literal["long", "short"]
    params: dict[str, Any] = {}
    events: int
    left_out: LeftOut
    horizons: list[Horizon]


class PathAnswer(_Part):
    """The mean path of excess around the entry, of the signal that stands out most."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
    signal: str
    side: Literal["long", "short"]
    bars: int
    from_: int = Field(alias="from")
    to: int
    drawn: float
    mean_atr: list[float] | None
    band_atr: list[float] | None
    mean_ticks: list[float] | None
    band_ticks: list[float] | None
    before_known: float | None


class OverTime(_Part):
    """The sum of effects in the order of time, of the same signal."""

    times: list[int]
    sums: list[float]
    held_out_times: list[int] = []
    held_out_sums: list[float] = []


class Fold(_Part):
    """The best test of a past, on its future."""

    name: str
    bars: int
    params: dict[str, Any]
    events: int
    excess: float | None


class Best(_Part):
    """The best of a sweep, and how much of it is luck."""

    name: str
    bars: int
    params: dict[str, Any]
    excess: float
    p_family: float
    neighbours_median: float | None
    lonely: bool
    walk_forward: list[Fold]
    deflated_sharpe: float


class Confirmed(_Part):
    """The one test that was chosen, on the bars that were held out."""

    name: str
    side: Literal["long", "short"]
    params: dict[str, Any] = {}
    left_out: LeftOut
    horizon: Horizon | None
    seen_before: int | None = None
    says: str


class StudyAnswer(_Part):
    """What followed, with all that was checked and tested."""

    study: Literal[1] = 1
    of: Of
    bars: StudiedBars
    entry: str = "open of the bar after confirmed_bar"
    exit: str = "open h bars later"
    unit: str
    baseline: Baseline
    split: Split
    seed: int
    flips: int
    draws: int
    costs: Costs | None
    honesty: Honesty
    signals: list[SignalAnswer]
    path: PathAnswer
    over_time: OverTime
    best: Best | None = None
    confirmed: Confirmed | None = None
    warnings: list[str]
    says: str

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON."""
        return self.model_dump(mode="json", by_alias=True)

    @property
    def entry_in_ledger(self) -> tuple[str, str, int, bool]:
        """What is entered in a ledger: bars, subject, tests, and whether the hold-out was seen."""
        confirmed = self.confirmed is not None
        return self.bars.fingerprint, self.of.hash, self.honesty.tests, confirmed

    def entered(self, tests_before: int, seen_before: int) -> "StudyAnswer":
        """The answer of a study that was entered in a ledger, which held these before."""
        honesty = self.honesty.model_copy(update={"tests_before": tests_before})
        factor = tests_before + self.honesty.tests

        def weigh(horizons: Iterable[Horizon]) -> list[Horizon]:
            return [
                horizon.model_copy(update={"p_ledger": min(1.0, horizon.p * factor)})
                for horizon in horizons
            ]

        signals = [s.model_copy(update={"horizons": weigh(s.horizons)}) for s in self.signals]
        confirmed = self.confirmed
        if confirmed is not None:
            says = confirmed.says
            if seen_before:
                times = "once" if seen_before == 1 else f"{seen_before} times"
                says += f" These bars were seen before, {times}: this confirms nothing new."
            horizon = confirmed.horizon and weigh([confirmed.horizon])[0]
            update = {"seen_before": seen_before, "says": says, "horizon": horizon}
            confirmed = confirmed.model_copy(update=update)
        return self.model_copy(
            update={"honesty": honesty, "signals": signals, "confirmed": confirmed}
        )


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of an answer."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **StudyAnswer.model_json_schema(by_alias=True, mode="serialization"),
        "title": "chartpact study",
    }
