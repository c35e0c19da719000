"""Events of pacts: read backwards they are those of a reading of every bar; states are replayed."""

import pytest

import chartpact as cp
from chartpact import sources
from chartpact.catalogue import Catalogue
from chartpact.contracts import ContractError, load
from chartpact.request import Request
from chartpact.studies import StudyError
from chartpact.studies.subjects import find

BARS = cp.load("sample:es-5m")


def subject(name: str, states=(), params=None):
    plan = Catalogue().plan([Request(name, params or {})])[0]
    return find(plan, states, sources.fetch, whole=False)


def ignore(_share: float) -> None:
    pass


@pytest.mark.slow
@pytest.mark.parametrize("name", ["next_candle_bias", "session_bias", "smt", "fvg_ob_mss"])
def test_read_backwards_the_events_of_a_pact_are_those_of_every_bar(name):
    pact, bars = subject(name), BARS[:600]
    seen = set()
    for size in range(1, len(bars) + 1):
        standing = pact.standing(bars[:size])
        assert all(event.known == size - 1 for event in standing - seen)
        seen |= standing
    assert pact.history(bars, ignore) == sorted(seen)


def test_what_has_left_the_picture_is_found_backwards():
    """Twenty changes are kept; the others are read where they still stood."""
    pact = subject("ema_trend")
    events = pact.history(BARS, ignore)
    assert len(pact.standing(BARS)) == 20
    assert len(events) == 86
    for event in events[:4]:
        assert event in pact.standing(BARS[: event.known + 1])
        assert event not in pact.standing(BARS[: event.known])


def test_the_entries_into_a_state_are_those_that_the_records_tell():
    bars = BARS[:700]
    states = subject("ema_trend", ["trend=BULL", "trend=BEAR"], {"settle": 300, "keep": 50})
    dated = subject("ema_trend", (), {"settle": 300, "keep": 50})
    names = {"bull": "trend=BULL", "bear": "trend=BEAR"}
    told = {(e.known, names[e.name]) for e in dated.history(bars, ignore) if e.name in names}
    replayed = {(e.known, e.name) for e in states.history(bars, ignore)}
    begun = min(bar for bar, _ in told | replayed)
    assert {e for e in replayed if e[0] > begun} == {e for e in told if e[0] > begun}
    assert states.sides == {"trend=BULL": 1, "trend=BEAR": -1}


@pytest.mark.parametrize(
    ("state", "kind"),
    [("trend=BULLS", "name"), ("bull", "name"), ("trend=BULL:up", "value")],
)
def test_an_unknown_state_is_refused_with_what_there_is(state, kind):
    with pytest.raises(StudyError) as caught:
        subject("ema_trend", [state])
    assert caught.value.kind == kind


def test_states_belong_to_pacts():
    with pytest.raises(StudyError, match="rsi has no states"):
        subject("rsi", ["a=b"])


def contract_with(events: str) -> str:
    text = (cp.contracts.pacts.folder("ema_trend") / "contract.yaml").read_text()
    return text[: text.index("events:\n")] + events


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ("events: {since: {time: time, known: time, name: phase}}", "is not a list of the output"),
        ("events: {changes: {time: phase, known: time, name: phase}}", "is not a time"),
        ("events: {changes: {time: time, known: time, name: time}}", "one of a closed table"),
        (
            "events: {changes: {time: time, known: time, name: phase, side: {long: [bulls]}}}",
            "is no event of changes",
        ),
        (
            "events: {changes: {time: time, known: time, name: phase, "
            "side: {long: [bull], short: [bull]}}}",
            "has two directions",
        ),
        ("events: {changes: {time: time, known: time}}", "name is missing"),
    ],
)
def test_a_contract_may_say_which_of_its_lists_are_events(events, message):
    with pytest.raises(ContractError, match=message):
        load(contract_with(events))
