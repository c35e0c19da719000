"""Live charts as sequences of readings: a bar opens every minute and is looked at several times."""

import json
from dataclasses import replace

from chartpact.contracts import Reading, Violation
from chartpact.contracts.reading import ChartFacts, Track
from chartpact.tracker import Memory, Rules, step
from chartpact.tracker.rules import MachineRules

BAR = 60_000
ZONE = MachineRules(
    "zone", {"ACTIVE": ("SPENT", "DEAD"), "SPENT": ("DEAD",)}, gone="DEAD", channel="lines"
)
HUNT = MachineRules(
    "hunt",
    {"WAITING": ("HIGH", "LOW"), "HIGH": ("BOTH",), "LOW": ("BOTH",), "BOTH": ("DONE",)},
    gone=None,
)
ORPHAN = MachineRules("orphan", {"ON": ("OFF",)}, gone=None, channel="lines")
MARK = MachineRules("mark", {"ON": ("OFF",)}, gone="forget", channel="lines")


def rules(timing="tick", *machines):
    known = {machine.name: machine for machine in machines or (ZONE, HUNT, ORPHAN, MARK)}
    return Rules("small", 1, timing, "signature", known)


def zone(state, key=10 * BAR, time=10 * BAR, machine="zone"):
    return Track(machine, (key,), state, None, time)


def hunt(state, epoch=None):
    return Track("hunt", (), state, epoch)


class Live:
    """A follow in memory; a reading gives the kinds of its changes, with the states."""

    def __init__(self, timing="tick", *machines):
        self.rules, self.memory, self.clock = rules(timing, *machines), Memory(), 0
        self.changes, self.shown, self.readings = [], [], []

    def look(self, bar, *tracks, confirmed=False, **facts):
        """One reading on a bar; returns what changed, as (kind, from, to)."""
        words = {
            "config": facts.pop("config", "c"),
            "source": facts.pop("source", "tv"),
            "untracked": facts.pop("untracked", ""),
            "violations": facts.pop("violations", ()),
        }
        known = {
            "symbol": "ES",
            "timeframe": "1m",
            "first_time": 0,
            "drawn": {"lines": len(tracks)},
            "caps": {"lines": 50},
            **facts,
        }
        last_time = None if bar is None else bar * BAR
        self.clock += 5
        return self.read(
            Reading(
                "small",
                "1.0.0",
                state=None if words["violations"] else {},
                as_of=self.clock,
                tracks=None if words["untracked"] or words["violations"] else tracks,
                facts=ChartFacts(confirmed=confirmed, last_time=last_time, **known),
                **words,
            )
        )

    def refuse(self, bar, **facts):
        breach = Violation("missing", "elements.zone", "nothing is there", "small", "1.0.0")
        return self.look(bar, violations=(breach,), **facts)

    def read(self, reading):
        done = step(self.rules, self.memory, reading)
        # What is stored and read back is the same memory.
        self.memory = Memory.from_json(json.loads(json.dumps(done.memory.to_json())))
        assert self.memory == done.memory
        self.readings.append(reading)
        self.changes, self.shown = list(done.changes), list(done.shown)
        return [_told(change) for change in done.changes]

    @property
    def types(self):
        return [event["type"] for event in self.shown]

    def state(self, key=None):
        known = {json.dumps([one["machine"], *one["key"]]): one for one in self.memory.states()}
        return known[json.dumps(key)] if key else next(iter(known.values()))

    def replay(self, timing=None):
        again = Live()
        again.rules = self.rules if timing is None else replace(self.rules, timing=timing)
        return again, [again.read(reading) for reading in self.readings]


def _told(change):
    if change["type"] != "change":
        return change["type"]
    return change["kind"], change["from"], change["to"]
