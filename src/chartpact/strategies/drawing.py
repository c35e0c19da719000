"""A strategy on own bars: its inputs are drawn on the bars that are closed, and read at one moment.

What latches remember is found out by going back to the first bar of the epoch, and reading every
bar from there: a reading of a closed bar never changes.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from chartpact import charts, contracts, joint, sources
from chartpact.bars import Bars
from chartpact.catalogue import Catalogue, Plan
from chartpact.charts import Chart
from chartpact.contracts import Contract, Reading
from chartpact.needs import Fetch
from chartpact.params import IndicatorError
from chartpact.problem import Problem
from chartpact.snapshot import Snapshot
from chartpact.strategies.decision import LatchMemory, StrategyDecision, decide, remember
from chartpact.strategies.model import Input
from chartpact.strategies.moment import (
    BoundStrategy,
    InputState,
    Moment,
    bind,
    chart_facts,
    inputs_of,
    look,
)
from chartpact.strategies.strategy import Strategy

MOST_BARS = 300  # that are read again for what latches remember
MOST_WORK = 1_500_000  # bars that are drawn for it, over all readings


def plans_of(
    strategy: Strategy, catalogue: Catalogue, params: Mapping[str, Any] | None = None
) -> dict[str, Plan]:
    """The indicator of each input, with the parameters of the input and those that it has."""
    plans, taken = dict[str, Plan](), set[str]()
    for name, spec in strategy.file.inputs.items():
        known = {one.name for one in catalogue.resolve(spec.contract).params}
        own = {key: value for key, value in (params or {}).items() if key in known}
        taken |= own.keys()
        (plans[name],) = joint.plan(catalogue, [spec.contract], {**own, **spec.params})
    for key in (params or {}).keys() - taken:
        names = ", ".join(spec.contract for spec in strategy.file.inputs.values())
        raise IndicatorError(Problem("name", f"none of {names} has a parameter {key!r:.60}"))
    return plans


@dataclass(frozen=True)
class DrawnStrategy:
    """A strategy whose inputs are drawn on bars."""

    bound: BoundStrategy
    plans: Mapping[str, Plan]
    bars: Bars
    fetch: Fetch = sources.fetch
    _known: dict[tuple[str, int], Reading] = field(default_factory=dict, repr=False)

    @cached_property
    def _by_timeframe(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for name, spec in self.bound.strategy.file.inputs.items():
            groups.setdefault(spec.timeframe or "", []).append(name)
        return groups

    def moment(self, count: int | None = None, only: Collection[str] | None = None) -> Moment:
        """The moment at the close of the last of so many bars, with all inputs or only some."""
        bars = self.bars if count is None else self.bars[:count]
        readings: dict[str, Reading] = {}
        for timeframe, names in self._by_timeframe.items():
            wanted = [name for name in names if only is None or name in only]
            higher = bars.resample(timeframe) if timeframe and wanted else bars
            for name in wanted:
                readings[name] = self._read(name, higher, bool(timeframe))
        chart = Chart(bars).snapshot()
        facts = chart_facts(chart.chart)
        # A higher timeframe has all bars that are closed by now: none of its inputs lies behind.
        inputs = {name: InputState.of(one) for name, one in readings.items()}
        return look(self.bound, inputs, chart.chart, facts, str(chart.source["name"]))

    def _read(self, name: str, bars: Bars, higher: bool) -> Reading:
        key = (name, len(bars))
        if not higher or key not in self._known:
            strategy = self.bound.strategy
            chart = charts.draw(bars, [self.plans[name]], None, self.fetch)
            contract, spec = strategy.contracts[name], strategy.file.inputs[name]
            reading = read_drawn(contract, chart, spec)
            if not higher:
                return reading
            self._known[key] = reading
        return self._known[key]

    def memory(self) -> LatchMemory | None:
        """What latches remember before the last bar, from the first bar of its epoch on.

        A bar on which no latch can change, whatever its inputs say, is not drawn.
        """
        if not self.bound.strategy.remembers or len(self.bars) < 2:
            return None
        first, memory = self._first_of_epoch(), None
        for count in range(first + 1, len(self.bars)):
            moment = self.moment(count, ())
            tried = remember(moment, memory)
            unsure = moment.epoch_wanting or None in tried.values.values()
            memory = remember(self.moment(count), memory) if unsure else tried
        return memory

    def moments(self, first: int, last: int) -> Iterator[Moment]:
        """The moments at the close of the bars from one number to another."""
        return (self.moment(count) for count in range(first + 1, last + 1))

    def _epoch(self, bar: int) -> Any:
        """The epoch of a bar: only the inputs that tell it are drawn."""
        rule = self.bound.strategy.epoch
        return self.moment(bar + 1, rule.named if rule is not None else ()).epoch

    def decision(self) -> StrategyDecision:
        """What the strategy decides at the close of the last bar."""
        return decide(self.moment(), self.memory())

    @property
    def reach(self) -> int:
        """How many bars may be read again."""
        return min(MOST_BARS, MOST_WORK // max(len(self.bars), 1))

    def _first_of_epoch(self) -> int:
        """The last bar before the epoch of the last bar, or the first that may be read again.

        An epoch holds bars that follow on each other, so that steps of twice the length find where
        it begins, and halves find the bar.
        """
        end, least = len(self.bars) - 1, max(0, len(self.bars) - 1 - self.reach)
        now = self._epoch(end)
        inside, step, outside = end, 1, None
        while outside is None and inside > least:
            at = max(least, end - step)
            if self._epoch(at) != now:
                outside = at
            else:
                inside, step = at, step * 2
        if outside is None:
            return least
        while inside - outside > 1:
            middle = (inside + outside) // 2
            if self._epoch(middle) == now:
                inside = middle
            else:
                outside = middle
        return outside


def read_drawn(contract: Contract, chart: Chart, spec: Input) -> Reading:
    """What a contract reads from its indicator; one that failed to draw is refused."""
    config = {contract.name: spec.config} if spec.config else {}
    return joint.Reader([contract], config, spec.profile).read(chart)[contract.name]


def read_snapshot(
    strategy: Strategy,
    snapshot: Snapshot,
    config: Mapping[str, Any] | None = None,
    profile: str | None = None,
) -> Moment:
    """The moment that a snapshot shows. An input of another timeframe is missing there."""
    readings = {
        name: contracts.read(strategy.contracts[name], snapshot, spec.config, spec.profile)
        for name, spec in strategy.file.inputs.items()
        if spec.timeframe in (None, snapshot.chart.get("timeframe"))
    }
    there = {name: reading for name, reading in readings.items() if not _is_absent(reading)}
    facts = chart_facts(snapshot.chart)
    bound = bind(strategy, config, profile, snapshot.chart)
    inputs = inputs_of(strategy, there, facts)
    return look(bound, inputs, snapshot.chart, facts, str(snapshot.source["name"]))


def _is_absent(reading: Reading) -> bool:
    """Whether the chart has no such study, rather than one that breaks its contract."""
    return any(
        one.kind == "missing" and one.path == "identity.pine_title" for one in reading.violations
    )


def draw(
    strategy: Strategy,
    bars: Bars,
    plans: Mapping[str, Plan],
    fetch: Fetch,
    config: Mapping[str, Any] | None = None,
    profile: str | None = None,
) -> DrawnStrategy:
    """The strategy with a configuration, on bars."""
    return DrawnStrategy(
        bind(strategy, config, profile, Chart(bars).snapshot().chart), plans, bars, fetch
    )


def read_bars(
    strategy: Strategy,
    bars: Bars,
    config: Mapping[str, Any] | None = None,
    profile: str | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    catalogue: Catalogue | None = None,
    fetch: Fetch | None = None,
) -> StrategyDecision:
    """What a strategy decides at the close of the last bar."""
    plans = plans_of(strategy, catalogue or Catalogue(), params)
    return draw(strategy, bars, plans, fetch or sources.fetch, config, profile).decision()
