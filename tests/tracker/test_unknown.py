"""A machine whose state nobody knows: the state that counts is kept, and the return is judged."""

from chartpact.contracts import Reading
from chartpact.contracts.reading.result import ChartFacts, Track
from chartpact.tracker import Memory, Rules, step
from chartpact.tracker.rules import MachineRules

STEPS = {"IDLE": ("ARMED",), "ARMED": ("OVER",)}
RULES = Rules("small", 1, "closed", "", {"setup": MachineRules("setup", STEPS, None)})


def reading(bar, state, confirmed=True):
    tracks = (Track("setup", (), state),) if state else ()
    unknown = {} if state else {"setup": "for want of near"}
    facts = ChartFacts("ES", "5m", confirmed, None, bar * 300_000)
    return Reading("small", "1.0.0", {}, tracks=tracks, unknown=unknown, facts=facts)


def kinds(*readings):
    memory, told = Memory(), []
    for one in readings:
        done = step(RULES, memory, one)
        memory = Memory.from_json(done.memory.to_json())
        told += [(event["kind"], event["from"], event["to"]) for event in done.changes]
    return told


def test_losing_sight_is_told_once_and_the_return_is_a_step():
    assert kinds(reading(1, "IDLE"), reading(2, None), reading(3, None), reading(4, "ARMED")) == [
        ("started", None, "IDLE"),
        ("unknown", "IDLE", None),
        ("known", "IDLE", "ARMED"),
    ]


def test_a_return_that_no_step_allows_is_illegal():
    assert kinds(reading(1, "ARMED"), reading(2, None), reading(3, "IDLE"))[-1] == (
        "illegal", "ARMED", "IDLE",
    )  # fmt: skip


def test_a_machine_that_was_never_known_may_be_anything():
    assert kinds(reading(1, None), reading(2, "OVER"))[-1] == ("known", None, "OVER")


def test_a_forming_bar_does_not_count():
    assert kinds(reading(1, "IDLE"), reading(2, "ARMED", confirmed=False)) == [
        ("started", None, "IDLE")
    ]
