"""The course of a study: events, checks against look-ahead, tests, and what they say."""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any, Literal

import numpy as np

from chartpact.bars import Bars
from chartpact.cache import Cache
from chartpact.catalogue import Plan
from chartpact.clock.timeframe import DAY, Timeframe
from chartpact.clock.tradingcalendar import TradingCalendar
from chartpact.lookahead import PREFIXES, Proof, prove
from chartpact.needs import Fetch
from chartpact.problem import did_you_mean
from chartpact.studies import answer as told
from chartpact.studies import estimator
from chartpact.studies.answer import StudyAnswer
from chartpact.studies.ask import HORIZONS, MOST_TESTS, Ask
from chartpact.studies.errors import StudyError, refuse
from chartpact.studies.estimator import Chance, Test
from chartpact.studies.market import ATR_BARS, Ints, StudyMarket
from chartpact.studies.subjects import LONG, SHORT, Progress, StudyEvent, Subject, digest, find

LEAST_EVENTS = 10
SHOWN = 3  # findings
CHECKED = 50  # events that are looked for on prefixes
SHARE = 100  # a horizon is at most one part in so many of the studied bars
SIGNIFICANT = 0.05
BEFORE = 12  # bars of the path before the entry
FOLDS = 5
JUMP = 8  # ATR between a close and the next open
POINTS = 300  # of the sums over time

_proofs: Cache[tuple[Any, ...], Proof] = Cache(most=64)


@dataclass(frozen=True)
class _Signal:
    """The entries of one signal, with one set of parameters."""

    name: str
    side: int
    params: Mapping[str, Any]
    entry: Ints
    delay: Ints  # of each entry: bars from the drawing to when it was known
    left_out: told.LeftOut
    tests: tuple[Test, ...]

    @property
    def side_name(self) -> Literal["long", "short"]:
        return "long" if self.side == LONG else "short"


def study(
    bars: Bars,
    plan: Callable[[Mapping[str, Any]], Plan],
    ask: Ask,
    fetch: Fetch,
    prefixes: int = PREFIXES,
    progress: Progress = lambda _share: None,
) -> StudyAnswer:
    """What followed the events of an indicator; `plan` plans it with some parameters."""
    return _Study(bars, plan, ask, fetch, prefixes, progress).answer()


def fingerprint(bars: Bars) -> str:
    """What identifies the times and prices of bars."""
    digest = hashlib.sha256()
    for name in ("time", "open", "high", "low", "close"):
        digest.update(np.ascontiguousarray(getattr(bars, name)).tobytes())
    return digest.hexdigest()[:32]


class _Study:
    def __init__(
        self,
        bars: Bars,
        plan: Callable[[Mapping[str, Any]], Plan],
        ask: Ask,
        fetch: Fetch,
        prefixes: int,
        progress: Progress,
    ) -> None:
        self.bars, self.plan, self.ask, self.prefixes = bars, plan, ask, prefixes
        self.fetch, self.progress = fetch, progress
        self.warnings: list[str] = []
        self.studied = bars[: round(len(bars) * (1 - ask.hold_out))]
        self.zone = ask.zone or TradingCalendar.of(bars.day_roll).zone
        if bars.tick_size is None and (ask.cost_ticks is not None or ask.unit == "ticks"):
            raise StudyError("value", "the bars do not tell their tick size", "give a tick size")
        self.horizons = self._horizons()

    # ------------------------------------------------------------------------------------ steps

    def answer(self) -> StudyAnswer:
        market = self._market(self.studied, 0)
        variants = [self._subject(values) for values in self.ask.variants]
        subject = variants[0] if not self.ask.sweep else self._subject({})
        histories = []
        for i, variant in enumerate(variants):
            self._report(0.3 * i / len(variants))
            histories.append(variant.history(self.studied, lambda _share: None))
        everything = [event for events in histories for event in events]
        sides = self._choose(subject, everything)
        if len(sides) * len(self.horizons) * len(variants) > MOST_TESTS:
            raise StudyError("value", f"these are over {MOST_TESTS} tests", "ask for fewer")
        signals = [
            signal
            for values, events in zip(self.ask.variants, histories, strict=True)
            for name, side in sides.items()
            if (signal := self._measure(market, events, name, side, values)) is not None
        ]
        if not signals:
            raise self._too_few(everything, sides)
        self._prove(subject)
        checked = 0
        for i, (variant, events) in enumerate(zip(variants, histories, strict=True)):
            self._report(0.4 + 0.5 * i / len(variants))
            checked += self._check(variant, self.studied, events, sides, 0)
        tests = [test for signal in signals for test in signal.tests]
        chances = estimator.judge(tests)
        return self._tell(market, subject, signals, tests, chances, checked)

    def _report(self, share: float) -> None:
        self.progress(share)

    def _horizons(self) -> tuple[int, ...]:
        most = len(self.studied) // SHARE
        if long := [bars for bars in self.ask.horizons if bars > most]:
            message = (
                f"{long[0]} bars are more than 1/{SHARE} of {len(self.studied):,} studied bars"
            )
            hint = f"ask for at most {most} bars, or give more bars"
            raise refuse("too_long", message, hint, most=most)
        if self.ask.horizons:
            return self.ask.horizons
        fitting = tuple(bars for bars in HORIZONS if bars <= most)
        if not fitting:
            message = f"{len(self.studied):,} studied bars are too few for any horizon"
            hint = f"give {SHARE * HORIZONS[0]:,} bars beside those held out"
            raise refuse("too_few", message, hint, events=0)
        if len(fitting) < len(HORIZONS):
            left = ", ".join(map(str, HORIZONS[len(fitting) :]))
            self.warnings.append(f"horizons of {left} bars are too long for these bars")
        return fitting

    def _market(self, bars: Bars, first: int) -> StudyMarket:
        tick = bars.tick_size if self.ask.unit == "ticks" else None
        return StudyMarket(bars, self.zone, first, tick)

    def _subject(self, values: Mapping[str, Any]) -> Subject:
        plan = self.plan({**self.ask.params, **values})
        return find(plan, self.ask.states, self.fetch, self.ask.whole)

    def _choose(self, subject: Subject, events: Sequence[StudyEvent]) -> dict[str, int]:
        """The signals that are studied, with their directions."""
        drawn = Counter(event.name for event in events)
        given = {**dict.fromkeys(self.ask.long, LONG), **dict.fromkeys(self.ask.short, SHORT)}
        for name in given:
            if name not in drawn and name not in subject.sides:
                names = ", ".join(sorted(drawn)[:20])
                hint = did_you_mean(name, drawn) or (f"signals: {names}" if names else "")
                message = f"{subject.plan.name} draws no signal {name!r:.80} on the studied bars"
                raise StudyError("name", message, hint)
        sides = given or {name: side for name, side in subject.sides.items() if name in drawn}
        if drawn and not sides:
            names = ", ".join(f"{name} ({count})" for name, count in sorted(drawn.items())[:20])
            message = f"the signals of {subject.plan.name} have no direction"
            hint = f"name those to study as long or as short; signals: {names}"
            raise refuse("no_side", message, hint, signals=dict(sorted(drawn.items())))
        if not given and (rest := sorted(drawn.keys() - sides.keys())):
            self.warnings.append(f"without a direction, and left out: {', '.join(rest)}")
        if forming := sorted(subject.provisional(self.studied) & sides.keys()):
            message = f"{forming[0]!r} is drawn on bars that are still forming, and may vanish"
            hint = "study a signal that is drawn at the close"
            raise refuse("provisional", message, hint, signals=forming)
        return sides

    def _too_few(self, events: Sequence[StudyEvent], sides: Mapping[str, int]) -> StudyError:
        counts = Counter(event.name for event in events)
        listed = ", ".join(f"{counts[name]} {name}" for name in sides) or "none"
        message = f"too few events on {len(self.studied):,} studied bars: {listed}"
        hint = f"at least {LEAST_EVENTS} are needed: give more bars, or hold out fewer"
        return refuse("too_few", message, hint, events={name: counts[name] for name in sides})

    def _measure(
        self,
        market: StudyMarket,
        events: Sequence[StudyEvent],
        name: str,
        side: int,
        values: Mapping[str, Any],
        horizons: Sequence[int] = (),
    ) -> _Signal | None:
        """The tests of one signal; None where it has too few events."""
        horizons = horizons or self.horizons
        own = sorted({e for e in events if e.name == name and e.known + 1 >= market.first})
        known = np.array([event.known for event in own], np.int64)
        drawn = np.array([event.bar for event in own], np.int64)
        entry, first = np.unique(known + 1, return_index=True)
        delay = (known - drawn)[first]
        size = len(market.bars)
        ahead = entry < size
        warm = np.zeros(len(entry), np.bool_)
        warm[ahead] = market.in_bucket[entry[ahead]]
        late = int((~ahead).sum()) + int((entry[warm] + max(horizons) >= size).sum())
        cold = int((ahead & ~warm).sum())
        entry, delay = entry[warm], delay[warm]
        left_out = told.LeftOut(warm_up=cold, too_late=late, doubled=len(own) - len(first))
        ahead_of = [entry[entry + bars < size] for bars in horizons]
        tests = tuple(
            estimator.measure(market, rows, side, bars)
            for rows, bars in zip(ahead_of, horizons, strict=True)
            if len(rows)
        )
        if len(entry) < LEAST_EVENTS or not tests:
            if own and not values:
                self.warnings.append(f"{name}: {len(entry)} events are too few, and left out")
            return None
        return _Signal(name, side, values, entry, delay, left_out, tests)

    # ------------------------------------------------------------------------------- look-ahead

    def _prove(self, subject: Subject) -> None:
        """Proves once that the subject does not rewrite its past."""
        plan, most = subject.plan, self.prefixes  # as many on every machine
        key = (digest(plan), repr(sorted(plan.params.items())), fingerprint(self.studied), most)
        proof = _proofs.get_or_make(key, lambda: prove(subject.scene, self.studied, most))
        if proof.rewritten is not None:
            message = f"{plan.name} rewrites its past: {proof.rewritten}"
            hint = "what it draws is not what could be seen; mend that first: `prove` tells more"
            raise refuse("rewrites", message, hint, findings=[proof.rewritten.to_json()])

    def _check(
        self,
        subject: Subject,
        bars: Bars,
        events: Sequence[StudyEvent],
        sides: Mapping[str, int],
        first: int,
    ) -> int:
        """Looks for fifty events: there on the bars up to the one that confirms it, not before."""
        own = [event for event in events if event.name in sides and event.known >= first]
        if not subject.checked:
            return len(own)
        places = np.unique(np.linspace(0, len(own) - 1, min(len(own), CHECKED)).astype(int))
        wrong = []
        for event in (own[place] for place in places.tolist()):
            if event not in subject.standing(bars[: event.known + 1]):
                wrong.append((event, "was not there when it is said to have become known"))
            elif event.known and _is_known(event, subject.standing(bars[: event.known])):
                wrong.append((event, "was there before it is said to have become known"))
            if len(wrong) == SHOWN:
                break
        if wrong:
            event, what = wrong[0]
            at = f"drawn at bar {event.bar}, said to be known at bar {event.known}"
            findings = [{**e._asdict(), "what": why} for e, why in wrong]
            kind: Literal["rewrites", "undated"] = "rewrites" if "not" in what else "undated"
            message = f"{subject.plan.name}: {event.name!r}, {at}, {what}"
            raise refuse(kind, message, "`prove` tells what changes its past", findings=findings)
        return len(places)

    # ---------------------------------------------------------------------------------- answers

    def _tell(
        self,
        market: StudyMarket,
        subject: Subject,
        signals: Sequence[_Signal],
        tests: Sequence[Test],
        chances: Sequence[Chance],
        checked: int,
    ) -> StudyAnswer:
        bars, studied = self.bars, self.studied
        judged = iter(zip(tests, chances, strict=True))
        shown = [
            told.SignalAnswer(
                name=signal.name,
                side=signal.side_name,
                params=dict(signal.params),
                events=len(signal.entry),
                left_out=signal.left_out,
                horizons=[self._horizon(market, *next(judged)) for _ in signal.tests],
            )
            for signal in signals
        ]
        top = min(range(len(tests)), key=lambda i: (chances[i].p_family, -abs(tests[i].ratio)))
        owners = [signal for signal in signals for _ in signal.tests]
        chosen, best = owners[top], tests[top]
        delays = np.concatenate([signal.delay for signal in signals])
        self._warn_of_bars(market)
        confirmed, held = (None, None)
        if self.ask.confirm:
            self._report(0.9)
            confirmed, held = self._confirm(chosen, best.bars)
        held_out = self.ask.hold_out
        plan = subject.plan
        hours = [f"hour {self.zone}"] if market.hours > 1 else []
        horizons = [horizon for signal in shown for horizon in signal.horizons]
        return StudyAnswer(
            of=told.Of(
                name=plan.name,
                source=plan.indicator.source if plan.indicator is not None else "",
                hash=digest(plan),
                params=dict(plan.params),
                sweep={name: list(values) for name, values in self.ask.sweep.items()},
            ),
            bars=told.StudiedBars(
                symbol=bars.symbol,
                timeframe=bars.timeframe,
                count=len(bars),
                first=int(bars.time[0]),
                last=int(bars.time[-1]),
                fingerprint=fingerprint(bars),
                synthetic=bars.synthetic,
                tick_size=bars.tick_size,
            ),
            unit=f"ATR({ATR_BARS}) before entry" if self.ask.unit == "atr" else "ticks",
            baseline=told.Baseline(
                buckets=[*hours, "ATR tercile"],
                cells=market.cells,
                block_bars=market.block_bars,
                blocks=market.blocks,
            ),
            split=told.Split(
                studied_until=int(studied.time[-1]),
                held_out=held_out,
                embargo_bars=max(self.horizons) if held_out else 0,
            ),
            seed=estimator.SEED,
            flips=estimator.FLIPS,
            draws=estimator.DRAWS,
            costs=None
            if self.ask.cost_ticks is None
            else told.Costs(ticks_per_side=self.ask.cost_ticks),
            honesty=told.Honesty(
                prove="nothing was rewritten",
                events_checked=checked,
                drawn_before_known_bars=told.Delay(
                    median=float(np.median(delays)), max=int(delays.max())
                ),
                tests=len(tests) + (confirmed is not None),
            ),
            signals=shown,
            path=self._path(market, chosen, best),
            over_time=_over_time(self.bars, best, held),
            best=self._best(market, owners, tests, chances, top) if self.ask.sweep else None,
            confirmed=confirmed,
            warnings=self.warnings,
            says=self._says(chosen, horizons, best),
        )

    def _horizon(self, market: StudyMarket, test: Test, chance: Chance) -> told.Horizon:
        tick, cost = market.bars.tick_size, self.ask.cost_ticks
        atr = market.atr[test.entry]
        mean = None if tick is None else float(test.move.mean()) / tick
        net = None if mean is None or cost is None else mean - 2 * cost
        excluded = chance.interval is not None and not chance.interval[0] <= 0 <= chance.interval[1]
        stands = chance.p_family < SIGNIFICANT and excluded
        verdict: told.Verdict = "nothing"
        if test.is_short:
            verdict = "too_few"
        elif stands:
            verdict = "cost_eats_it" if net is not None and net <= 0 else "found"
        detectable = estimator.POWER * test.error
        in_atr = self.ask.unit == "atr"
        return told.Horizon(
            bars=test.bars,
            events=test.events,
            apart=test.apart,
            blocks_with_events=test.blocks_with_events,
            mean_ticks=mean,
            net_ticks=net,
            excess_ticks=None if tick is None else float(test.excess.mean()) / tick,
            excess_atr=float((test.excess / atr).mean()),
            interval=chance.interval,
            detectable_atr=detectable if in_atr else None,
            detectable_ticks=None if in_atr else detectable,
            hit=float(test.hit.mean()),
            hit_baseline=float(test.hit_baseline.mean()),
            hit_interval=chance.hit_interval,
            mfe_atr=float((test.favourable / atr).mean()),
            mae_atr=float((test.adverse / atr).mean()),
            mfe_mae_median=(
                float(np.median(test.favourable / atr)),
                float(np.median(test.adverse / atr)),
            ),
            p=chance.p,
            q=chance.q,
            p_family=chance.p_family,
            verdict=verdict,
            warnings=self._warn_of_test(market.bars, test),
        )

    def _warn_of_test(self, bars: Bars, test: Test) -> list[str]:
        warnings = []
        if test.is_short:
            warnings.append(
                f"{test.apart} events that do not overlap, in {test.blocks_with_events} blocks of "
                "time, are too few for an interval"
            )
        if not bars.timeframe or Timeframe.parse(bars.timeframe).ms < DAY:
            steps = np.diff(bars.time)
            gaps = np.concatenate(([0, 0], np.cumsum(steps > 1.5 * np.median(steps))))
            spans = int((gaps[test.entry + test.bars + 1] > gaps[test.entry + 1]).sum())
            if spans:
                warnings.append(f"{spans} of {test.events} events span a gap in time")
        return warnings

    def _warn_of_bars(self, market: StudyMarket) -> None:
        jumps = np.abs(market.bars.open[1:] - market.bars.close[:-1]) > JUMP * market.atr[1:]
        if count := int(jumps.sum()):
            opens = "open lies" if count == 1 else "opens lie"
            why = "a roll of futures, a split or a fault is no return"
            self.warnings.append(f"{count} {opens} over {JUMP} ATR from the close before: {why}")

    def _path(self, market: StudyMarket, signal: _Signal, best: Test) -> told.PathAnswer:
        """The mean path of a signal, and which share of it came before the signal was known."""
        drawn = -(float(np.median(signal.delay)) + 1)
        before = max(BEFORE, min(math.ceil(-drawn) + 3, 60))
        after = max(self.horizons)
        path = estimator.trace(market, signal.entry, signal.side, before, after)
        start, end = (
            float(np.interp(x, np.arange(-before, after + 1), path.mean))
            for x in (drawn, best.bars)
        )
        share = -start / (end - start) if end > 0 > start else None
        in_atr = self.ask.unit == "atr"
        mean, band = path.mean.tolist(), path.band.tolist()
        return told.PathAnswer.model_validate(
            {
                "signal": signal.name,
                "side": signal.side_name,
                "bars": best.bars,
                "from": -before,
                "to": after,
                "drawn": drawn,
                "mean_atr": mean if in_atr else None,
                "band_atr": band if in_atr else None,
                "mean_ticks": None if in_atr else mean,
                "band_ticks": None if in_atr else band,
                "before_known": share,
            }
        )

    def _best(
        self,
        market: StudyMarket,
        owners: Sequence[_Signal],
        tests: Sequence[Test],
        chances: Sequence[Chance],
        top: int,
    ) -> told.Best:
        """The best of a sweep beside its neighbours, its walk forward, and its luck."""
        best, owner = tests[top], owners[top]
        means = {
            tuple(signal.params.values()): test.mean
            for signal, test in zip(owners, tests, strict=True)
            if signal.name == owner.name and test.bars == best.bars
        }
        near = [means[place] for place in self._neighbours(owner.params) if place in means]
        middle = median(near) if near else None
        lonely = middle is not None and middle * np.sign(best.mean) < abs(best.mean) / 2
        if lonely:
            self.warnings.append(
                "the best is a lonely peak: its neighbours show less than half of it"
            )
        ratios = [_sharpe(test) for test in tests]
        effect = best.effect * np.sign(best.mean)
        centred = (effect - effect.mean()) / max(float(effect.std()), 1e-300)
        return told.Best(
            name=owner.name,
            bars=best.bars,
            params=dict(owner.params),
            excess=best.mean,
            p_family=chances[top].p_family,
            neighbours_median=middle,
            lonely=lonely,
            walk_forward=_walk_forward(market, owners, tests, max(self.horizons)),
            deflated_sharpe=estimator.deflated_sharpe(
                abs(ratios[top]),
                best.events,
                float((centred**3).mean()),
                float((centred**4).mean()),
                len(tests),
                float(np.std(ratios)),
            ),
        )

    def _neighbours(self, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """The sets of parameters that differ by one step of one of them."""
        own, near = tuple(params.values()), []
        for i, (name, values) in enumerate(self.ask.sweep.items()):
            at = values.index(params[name])
            near += [
                (*own[:i], values[j], *own[i + 1 :])
                for j in (at - 1, at + 1)
                if 0 <= j < len(values)
            ]
        return near

    def _confirm(self, signal: _Signal, horizon: int) -> tuple[told.Confirmed, Test | None]:
        """The chosen test on the bars that were held out, alone."""
        first = len(self.studied) + max(self.horizons)
        subject = self._subject(signal.params)
        events = subject.history(self.bars, lambda _share: None)
        market = self._market(self.bars, first)
        sides = {signal.name: signal.side}
        own = self._measure(market, events, signal.name, signal.side, signal.params, [horizon])
        confirmed = partial(
            told.Confirmed, name=signal.name, side=signal.side_name, params=dict(signal.params)
        )
        where = f"{signal.name} {signal.side_name} over {horizon} bars, on the bars held out"
        if own is None:
            none = told.LeftOut(warm_up=0, too_late=0, doubled=0)
            says = f"{where}: too few events to say anything."
            return confirmed(left_out=none, horizon=None, says=says), None
        self._check(subject, self.bars, events, sides, first - 1)
        test = own.tests[0]
        shown = self._horizon(market, test, estimator.judge([test])[0])
        says = f"{where}: {self._effect(test)}, p {shown.p:.3f}, one test. {_SAYS[shown.verdict]}"
        return confirmed(left_out=own.left_out, horizon=shown, says=says), test

    def _effect(self, test: Test) -> str:
        unit = "ATR" if self.ask.unit == "atr" else "ticks"
        return f"{test.mean:+.2f} {unit} beyond hour and volatility"

    def _says(self, signal: _Signal, horizons: Sequence[told.Horizon], best: Test) -> str:
        unit = "ATR" if self.ask.unit == "atr" else "ticks"
        count = len(horizons)
        stand = sum(horizon.verdict in ("found", "cost_eats_it") for horizon in horizons)
        tests = "1 test" if count == 1 else f"{count} tests"
        power = f"An effect of {estimator.POWER * best.error:.2f} {unit} over {best.bars} bars"
        power += " would have been seen four times in five."
        if all(horizon.verdict == "too_few" for horizon in horizons):
            says = [f"{tests}; the events are too few to say anything.", power]
        elif not stand:
            fails = "it does not stand" if count == 1 else "none stands against all of them"
            says = [f"{tests}; {fails}.", power]
        else:
            what = f"{signal.name} {signal.side_name} over {best.bars} bars: {self._effect(best)}"
            against = ", against its direction" if best.mean < 0 else ""
            says = [f"{tests}; {stand} stand against all of them. {what}{against}."]
            if any(horizon.verdict == "cost_eats_it" for horizon in horizons):
                says.append("Costs are larger than what followed.")
            if not self.ask.confirm and self.ask.hold_out:
                says.append("The bars held out were not looked at: confirm does, once.")
        if self.bars.synthetic:
            says.append("The bars are synthetic: nothing can be there.")
        says.append("It is one symbol, chosen today.")
        return " ".join(says)


_SAYS: Mapping[str, str] = {
    "found": "It stands.",
    "cost_eats_it": "It stands, and costs are larger.",
    "nothing": "It does not stand.",
    "too_few": "The events are too few to say anything.",
}


def _is_known(event: StudyEvent, standing: set[StudyEvent]) -> bool:
    """Whether an event stands in a picture, whatever that says about when it was known."""
    return any(other.bar == event.bar and other.name == event.name for other in standing)


def _sharpe(test: Test) -> float:
    deviation = float(test.effect.std())
    return float(test.effect.mean()) / deviation if deviation > 0 else 0.0


def _walk_forward(
    market: StudyMarket, owners: Sequence[_Signal], tests: Sequence[Test], longest: int
) -> list[told.Fold]:
    """The best test of each past on the part that follows it, purged by the longest horizon."""
    edges = [market.blocks * i // (FOLDS + 1) for i in range(1, FOLDS + 2)]
    purged = -(-longest // market.block_bars)
    folds = []
    for begin, end in pairwise(edges):
        past = [estimator.ratio(test.gross[: max(begin - purged, 0)]) for test in tests]
        at = max(range(len(tests)), key=past.__getitem__)
        test, block = tests[at], market.block[tests[at].entry]
        future = test.effect[(block >= begin) & (block < end)]
        folds.append(
            told.Fold(
                name=owners[at].name,
                bars=test.bars,
                params=dict(owners[at].params),
                events=len(future),
                excess=float(future.mean()) if len(future) else None,
            )
        )
    return folds


def _over_time(bars: Bars, test: Test, held: Test | None) -> told.OverTime:
    def sums(test: Test) -> tuple[list[int], list[float]]:
        rows = np.unique(np.linspace(0, test.events - 1, min(test.events, POINTS)).astype(int))
        return bars.time[test.entry[rows]].tolist(), np.cumsum(test.effect)[rows].tolist()

    times, studied = sums(test)
    held_times, held_sums = sums(held) if held is not None and held.events else ([], [])
    if held_sums:
        held_sums = [studied[-1] + value for value in held_sums]
    return told.OverTime(
        times=times, sums=studied, held_out_times=held_times, held_out_sums=held_sums
    )
