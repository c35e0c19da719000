"""Latches: what is remembered of closed bars, within an epoch."""

from small_strategies import BAR, START, decided, make, moment, states

DAY_END = 24 * 12 - 8 * 12 + 6 * 12  # bars, beyond 18:00 in New York


def day_before(small):
    return moment(small, states("neutral"), -200)


def test_nothing_is_known_of_what_was_not_watched():
    small = make()
    found = decided(moment(small, states("neutral")))
    assert found.state["setup"] is None
    assert found.memory.values == {"seen": None, "left": None}
    (setup,) = [one for one in found.unknown if one.table == "setup"]
    assert [fact for fact, _ in setup.for_want_of] == ["seen", "left"]
    assert setup.for_want_of[0][1] == ({"why": "unwatched"},)


def test_a_condition_that_holds_is_known_though_nothing_was_watched():
    small = make()
    found = decided(moment(small, states("bullish")))
    (setup,) = [one for one in found.unknown if one.table == "setup"]
    assert setup.could_be == ("ARMED", "OVER")


def test_a_new_epoch_begins_with_nothing_set():
    small = make()
    before = day_before(small)
    first = moment(small, states("neutral"), 0, previous=before.chart.last_time)
    found = decided(before, first)
    assert found.state["setup"] == "IDLE"
    armed = moment(small, states("bullish"), 1)
    assert decided(before, first, armed).state["setup"] == "ARMED"
    over = moment(small, states("bearish"), 2)
    assert decided(before, first, armed, over).state["setup"] == "OVER"
    after = moment(small, states("bullish"), 3)
    assert decided(before, first, armed, over, after).state["setup"] == "OVER"


def test_latches_look_at_those_of_the_bar_before():
    small = make(
        latches="latches: {seen: {set: side != 'neutral'}, "
        "left: {set: side == 'bearish', after: seen}}"
    )
    before = day_before(small)
    first = moment(small, states("bearish"), 0, previous=before.chart.last_time)
    assert decided(before, first).state["setup"] == "ARMED"


def test_a_gap_makes_unset_latches_unknown_and_keeps_those_that_are_set():
    small = make()
    before = day_before(small)
    armed = moment(small, states("bullish"), 0, previous=before.chart.last_time)
    later = moment(small, states("neutral"), 5)
    found = decided(before, armed, later)
    assert found.memory.values == {"seen": True, "left": None}


def test_a_bar_is_counted_once_and_a_forming_bar_not_at_all():
    small = make()
    before = day_before(small)
    first = moment(small, states("neutral"), 0, previous=before.chart.last_time)
    again = moment(small, states("bullish"), 0, previous=before.chart.last_time)
    assert decided(before, first, again).state["setup"] == "IDLE"
    forming = moment(small, states("bullish"), 1, confirmed=False)
    assert decided(before, first, forming).state["setup"] == "IDLE"
    assert forming.now == START + BAR


def test_an_unknown_condition_makes_a_latch_unknown():
    small = make()
    before = day_before(small)
    first = moment(small, states("bullish"), 0, previous=before.chart.last_time, news="refused")
    found = decided(before, first)
    assert found.memory.values["seen"] is None
    later = moment(small, states("bullish"), 1)
    assert decided(before, first, later).memory.values["seen"] is True


def test_an_epoch_that_nobody_knows_leaves_both_ways_open():
    small = make(epoch="epoch: news.as_of")
    known = {**states("bullish")["news"], "as_of": 1}
    day = {"trend": {"direction": "neutral"}, "news": {**known, "as_of": 0}}
    bull = {"trend": {"direction": "bullish"}, "news": known}
    before = moment(small, day, -1)
    armed = moment(small, bull, 0)
    lost = moment(small, {**bull, "trend": {"direction": "neutral"}}, 1, news="missing")
    found = decided(before, armed, lost)
    assert found.memory.values["seen"] is True
    (setup,) = [one for one in found.unknown if one.table == "setup"]
    assert setup.could_be == ("ARMED", "IDLE")
    back = moment(small, {**bull, "trend": {"direction": "neutral"}}, 2)
    assert decided(before, armed, lost, back).state["setup"] == "ARMED"
    anew = {"trend": {"direction": "neutral"}, "news": {**known, "as_of": 2}}
    other = moment(small, anew, 2)
    assert decided(before, armed, lost, other).state["setup"] is None
