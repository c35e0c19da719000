"""One step of the tracker: a reading changes what counts, is shown as pending, or changes nothing.

The last bar of a live chart is forming, and what it shows may be taken back. So a change counts at
once on a closed bar, and under `timing: close` where it is legal; anything else is pending until a
reading with a later last bar repeats it. Each instance is judged alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from chartpact.checks import is_number
from chartpact.contracts import Reading
from chartpact.contracts.reading import Track as Tracked
from chartpact.contracts.reading import Violation
from chartpact.tracker.memory import (
    ABSENT,
    Instance,
    Json,
    Key,
    Memory,
    Pending,
    Shown,
    TrackedInstances,
)
from chartpact.tracker.rules import MachineRules, Rules, Way

MOST_ABSENT = 1000  # instances of a machine that are gone or lost, and remembered
MOST_TRACKS = 20  # of a follow
MOST_TRACKED = 2000  # instances in one reading
MOST_MEANWHILE = 16

Event = dict[str, Json]


@dataclass(frozen=True)
class Step:
    """The result of a reading: the memory after it, the changes, and what is only shown."""

    memory: Memory
    changes: tuple[Event, ...] = ()
    shown: tuple[Event, ...] = ()


def step(rules: Rules, memory: Memory, reading: Reading) -> Step:
    """The memory after a reading, with what changed."""
    name = rules.track_of(reading)
    track = memory.tracks.get(name, TrackedInstances())
    if rules.timing == "closed" and not reading.facts.confirmed:
        return Step(memory)
    why = _unusable(rules, track, reading)
    if why:
        event = _event("refused", rules, reading, why=why)
        changes = () if memory.readable is False else (event,)
        return Step(replace(memory, readable=False), changes)
    walk = _Walk(rules, track, reading)
    after = walk.run()
    tracks = {known: other for known, other in memory.tracks.items() if known != name}
    tracks[name] = after
    for oldest in list(tracks)[:-MOST_TRACKS]:
        del tracks[oldest]
    if memory.readable is False:
        walk.changes.insert(0, _event("readable", rules, reading))
    return Step(Memory(tracks, True), tuple(walk.changes), tuple(walk.shown))


def _unusable(rules: Rules, track: TrackedInstances, reading: Reading) -> str:
    """Why a reading cannot be followed, or nothing."""
    if reading.violations:
        return "; ".join(map(str, reading.violations[:3]))
    if reading.tracks is None:
        return reading.untracked
    if len(reading.tracks) > MOST_TRACKED:
        return f"{len(reading.tracks)} instances are more than can be followed"
    last_time = reading.facts.last_time
    if rules.timing == "tick" and last_time is None:
        return "the source does not tell the time of the last bar, which timing: tick needs"
    if _is_before(last_time, track.last_time):
        return f"the chart went back from the bar {track.last_time} to {last_time}"
    return ""


_UNSAID: Event = {
    "kind": None,
    "machine": None,
    "key": [],
    "from": None,
    "to": None,
    "epoch": None,
    "skipped": [],
    "lapsed": None,
    "why": None,
    "violation": None,
    "first_shown": None,
}


def _event(type_: str, rules: Rules, reading: Reading, **words: Json) -> Event:
    """One event; all have the same keys, whatever their type."""
    facts = reading.facts
    about = {"contract": rules.contract, "symbol": facts.symbol, "timeframe": facts.timeframe}
    times = {"as_of": reading.as_of, "last_time": facts.last_time}
    return {"type": type_, **about, **_UNSAID, **words, **times}


@dataclass(frozen=True)
class _Verdict:
    """The verdict on a pending state, as if it were confirmed."""

    kind: str
    to: str | None
    skipped: tuple[Way, ...] = ()
    why: str | None = None
    illegal: str | None = None


class _Walk:
    """One reading of a track, instance by instance."""

    def __init__(self, rules: Rules, track: TrackedInstances, reading: Reading) -> None:
        self.rules, self.track, self.reading, self.facts = rules, track, reading, reading.facts
        drawn, caps = self.facts.drawn, self.facts.caps
        self.full = tuple(sorted(name for name, cap in caps.items() if drawn.get(name, 0) >= cap))
        self.blank = track.drew and not any(drawn.values())
        self.changes: list[Event] = []
        self.shown: list[Event] = []

    def run(self) -> TrackedInstances:
        track, last_time = self.track, self.facts.last_time
        begun = last_time if track.begun is None else track.begun
        self.beginning = not track.started and last_time == begun
        instances: dict[Key, Instance] = {}
        shown = {_key(tracked): tracked for tracked in self.reading.tracks or ()}
        missing = [(name, "[]") for name in self.reading.unknown]
        for key in dict.fromkeys([*track.instances, *shown, *missing]):
            before, tracked = track.instances.get(key, Instance()), shown.get(key)
            why = self.reading.unknown.get(key[0]) if tracked is None else None
            if why is not None:
                instances[key] = self._lose_sight(key, before, why)
                continue
            instance = self._judge(key, before, tracked)
            if instance is not None:
                instances[key] = instance
        at_once = self.facts.confirmed or (self.rules.timing == "close" and not self.blank)
        return TrackedInstances(
            _forget(instances),
            begun,
            track.started or at_once or not self.beginning,
            self.facts.first_time,
            last_time if last_time is not None else track.last_time,
            self.full,
            track.drew or any(self.facts.drawn.values()),
            self.reading.latches,
        )

    def _lose_sight(self, key: Key, instance: Instance, why: str) -> Instance:
        """The instance while nobody knows its state; the one that counts is kept."""
        if instance.status != "unknown":
            self._change(key, instance, kind="unknown", why=why)
        return replace(instance, status="unknown", pending=None)

    def _judge(self, key: Key, instance: Instance, tracked: Tracked | None) -> Instance | None:
        """The instance after the reading; None where it was never more than pending."""
        show, pending = ABSENT, instance.pending
        if tracked is not None:
            show = Shown(True, tracked.state, plain(tracked.epoch))
            time = instance.time if tracked.time is None else tracked.time
            instance = replace(instance, time=time, seen=self.facts.last_time)
        if show == instance.counted:
            if pending is None:
                return instance
            self._show("withdrawn", key, instance, pending.shown)
            is_new = instance.status == "new"
            return None if is_new else replace(instance, pending=None, meanwhile=())
        waits = self._pend(key, instance, show)
        verdict = _verdict(self.rules.machines[key[0]], instance, waits)
        waits = replace(waits, lapsed=_state_before_reset(instance, waits, verdict))
        if self._repeats(pending, show) or self._counts_now(instance, show, verdict):
            return self._adopt(key, instance, waits, verdict)
        if waits == pending:
            return instance
        self._show("shown", key, instance, show)
        states = dict.fromkeys((*instance.meanwhile, *([show.state] if show.state else [])))
        return replace(instance, pending=waits, meanwhile=tuple(states)[-MOST_MEANWHILE:])

    # ------------------------------------------------------------------------------------- pending

    def _pend(self, key: Key, instance: Instance, show: Shown) -> Pending:
        """The shown state as pending. If it was pending already, its first time and reason are
        kept."""
        pending = instance.pending
        if pending is not None and pending.shown == show:
            return pending
        kind = self._novelty(instance) if pending is None else pending.kind
        excuse = self._excuse(key, instance, show)
        return Pending(show, self.facts.last_time, self.reading.as_of, None, kind, excuse)

    def _repeats(self, pending: Pending | None, show: Shown) -> bool:
        """Whether a later bar shows what was pending."""
        if pending is None or pending.shown != show or pending.last_time is None:
            return False
        return self.facts.last_time is not None and self.facts.last_time > pending.last_time

    def _counts_now(self, instance: Instance, show: Shown, verdict: _Verdict) -> bool:
        last_time = self.facts.last_time
        if self.facts.confirmed:
            return show.present or last_time is None or instance.seen != last_time
        return self.rules.timing == "close" and verdict.illegal is None and not self.blank

    def _novelty(self, instance: Instance) -> str | None:
        """Why an instance is new, as the first reading that shows it tells."""
        if instance.status != "new":
            return None
        if self.beginning:
            return "started"
        return "revealed" if _is_before(instance.time, self.track.first_time) else "appeared"

    def _excuse(self, key: Key, instance: Instance, show: Shown) -> str | None:
        """The reason why a disappearance is no step of the machine, if there is one."""
        if show.present or instance.status != "present":
            return None
        machine, facts = self.rules.machines[key[0]], self.facts
        if machine.forgets:
            return "gone: forget"
        if instance.time is not None and facts.first_time is None:
            return "the source does not tell how far back the chart is loaded"
        if _is_before(instance.time, facts.first_time):
            return "it lies before the first bar that is loaded"
        if machine.channel is not None and machine.channel not in facts.caps:
            return f"the cap on {machine.channel} is not known"
        if machine.channel in (*self.full, *self.track.full):
            return f"{machine.channel} stood at their cap of {facts.caps[machine.channel]}"
        return None

    # ------------------------------------------------------------------------------------- changes

    def _adopt(self, key: Key, instance: Instance, waits: Pending, verdict: _Verdict) -> Instance:
        show = waits.shown
        self._change(
            key,
            instance,
            kind=verdict.kind if verdict.illegal is None else "illegal",
            to=verdict.to,
            epoch=show.epoch,
            skipped=[list(way) for way in verdict.skipped if way],
            lapsed=waits.lapsed,
            why=verdict.why,
            violation=self._violation(key[0], verdict),
            first_shown=waits.as_of,
        )
        instance = replace(instance, pending=None, meanwhile=())
        if not show.present:
            if verdict.kind == "lost":
                return replace(instance, status="lost")
            return replace(instance, status="gone", state=verdict.to or instance.state)
        instance = replace(instance, status="present", state=show.state, epoch=show.epoch)
        if show.epoch is not None:
            instance = replace(instance, last_epoch=show.epoch, last_state=show.state)
        return instance

    def _change(self, key: Key, instance: Instance, **words: Json) -> None:
        at = {"machine": key[0], "key": json.loads(key[1]), "from": instance.state}
        told = self.reading.told.get(key[0], {})
        self.changes.append(_event("change", self.rules, self.reading, **at, **words, **told))

    def _violation(self, machine: str, verdict: _Verdict) -> Json:
        if verdict.illegal is None:
            return None
        path, read = f"states.{machine}.transitions", self.reading
        hint = "declare timing: tick" if self.rules.timing == "close" else ""
        violation = Violation(
            "illegal_transition", path, verdict.illegal, read.contract, read.version, hint=hint
        )
        return violation.to_json()

    def _show(self, type_: str, key: Key, instance: Instance, show: Shown) -> None:
        at = {"machine": key[0], "key": json.loads(key[1])}
        words = {"from": instance.state, "to": show.state, "epoch": show.epoch}
        self.shown.append(_event(type_, self.rules, self.reading, **at, **words))


# ---------------------------------------------------------------------------------------- verdicts


def _verdict(machine: MachineRules, instance: Instance, waits: Pending) -> _Verdict:
    show = waits.shown
    if not show.present:
        return _disappearance(machine, instance, waits.excuse)
    if instance.status == "new":
        return _Verdict(waits.kind or "appeared", show.state)
    if instance.status == "gone":
        why = f"it was {instance.state}, which is the end, and is there again"
        return _Verdict("illegal", show.state, illegal=why)
    if instance.status == "lost" and machine.forgets:
        return _Verdict("returned", show.state)
    if instance.status == "unknown" and instance.state is None:
        return _Verdict("known", show.state)
    verdict = _change(machine, instance, show)
    kinds = {"lost": "returned", "unknown": "known"}
    return replace(verdict, kind=kinds.get(instance.status, verdict.kind))


def _disappearance(machine: MachineRules, instance: Instance, excuse: str | None) -> _Verdict:
    if excuse is not None:
        return _Verdict("lost", None, why=excuse)
    state, gone = str(instance.state), machine.gone
    if gone is None:
        return _Verdict("illegal", None, illegal=f"it was {state} and disappeared")
    ways = machine.ways(state, gone, instance.meanwhile)
    if ways is None:
        return _Verdict("illegal", gone, illegal=f"{state} does not lead to {gone}")
    return _Verdict("gone", gone, ways)


def _change(machine: MachineRules, instance: Instance, show: Shown) -> _Verdict:
    """From one state to another, within an epoch or into the next."""
    state, start = str(show.state), str(instance.state)
    kind = "changed"
    if show.epoch != instance.epoch:
        kind, last = "reset", instance.last_epoch
        if show.epoch is None or show.epoch != last:
            if _is_before(show.epoch, last):
                why = f"the epoch went back from {last} to {show.epoch}"
                return _Verdict(kind, state, illegal=why)
            return _Verdict(kind, state)
        start = str(instance.last_state)  # the epoch is the one before none
    ways = machine.ways(start, state, instance.meanwhile)
    if ways is None:
        return _Verdict(kind, state, illegal=f"{start} does not lead to {state}")
    return _Verdict(kind, state, ways)


def _is_before(one: Json, other: Json) -> bool:
    """Whether both are numbers, and the one is less: only times and numbers can go back."""
    return is_number(one) and is_number(other) and one < other


def _state_before_reset(instance: Instance, waits: Pending, verdict: _Verdict) -> str | None:
    """The state that was pending in the epoch before a reset, and never counted."""
    pending = instance.pending
    if pending is None or verdict.kind != "reset":
        return None
    if pending.shown.epoch == waits.shown.epoch:
        return pending.lapsed
    return pending.shown.state if pending.shown.state != instance.state else pending.lapsed


# ------------------------------------------------------------------------------------------ values


def _key(tracked: Tracked) -> Key:
    return tracked.machine, json.dumps([plain(part) for part in tracked.key])


def plain(value: Json) -> Json:
    """A value in one spelling: 1 and 1.0 are the same key, and the same epoch."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _forget(instances: Mapping[Key, Instance]) -> dict[Key, Instance]:
    """The instances without those that left longest ago, where a machine has too many."""
    absent: dict[str, list[Key]] = {}
    for key, instance in instances.items():
        if instance.status in ("gone", "lost"):
            absent.setdefault(key[0], []).append(key)
    surplus: set[Key] = set()
    for keys in absent.values():
        if len(keys) > MOST_ABSENT:
            keys.sort(key=lambda key: instances[key].seen or 0)
            surplus.update(keys[:-MOST_ABSENT])
    return {key: one for key, one in instances.items() if key not in surplus}
