"""The rules of the tracker, each with the sequence of readings that forced it."""

from dataclasses import replace

import pytest
from sequences import BAR, Live, hunt, zone
from tests.cases import in_one_test

from chartpact.tracker import Memory, step

# ------------------------------------------------------------------------------------------- tracks


def test_a_step_changes_neither_its_memory_nor_its_reading():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    before, data = live.memory, live.memory.to_json()
    reading = replace(live.readings[0], tracks=(zone("SPENT"),))
    first, second = step(live.rules, before, reading), step(live.rules, before, reading)
    assert first == second
    assert before.to_json() == data


@in_one_test(
    "other",
    [
        {"config": "d"},
        {"source": "file"},
        {"symbol": "NQ"},
        {"timeframe": "5m"},
        {"script": "7"},
    ],
)
def test_another_chart_or_setting_starts_a_track_and_the_first_is_resumed(other):
    live = Live()
    assert live.look(1, zone("ACTIVE"), confirmed=True) == [("started", None, "ACTIVE")]
    assert live.look(2, zone("SPENT"), confirmed=True, **other) == [("started", None, "SPENT")]
    assert live.look(3, zone("SPENT"), confirmed=True) == [("changed", "ACTIVE", "SPENT")]
    assert live.look(4, zone("SPENT"), confirmed=True, **other) == []


def test_another_major_version_or_machine_is_another_track():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    for changed in ({"major": 2}, {"signature": "other"}, {"contract": "other"}):
        rules = replace(live.rules, **changed)
        assert rules.track_of(live.readings[0]) != live.rules.track_of(live.readings[0])


def test_a_refused_reading_changes_nothing_not_even_what_is_pending():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    live.look(2, zone("SPENT"))
    before = live.memory
    assert live.refuse(2) == ["refused"]
    assert live.memory == replace(before, readable=False)
    assert live.look(3, zone("SPENT")) == ["readable", ("changed", "ACTIVE", "SPENT")]


def test_a_refused_reading_of_another_setting_belongs_to_the_follow():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    assert live.refuse(2, config="") == ["refused"]
    assert list(live.memory.tracks) == [live.rules.track_of(live.readings[0])]


def test_refused_and_readable_are_announced_once():
    live = Live()
    assert [live.refuse(1), live.refuse(1), live.refuse(2)] == [["refused"], [], []]
    assert live.look(2, untracked="x1 has no time") == []
    assert live.look(3, zone("ACTIVE"), confirmed=True) == ["readable", ("started", None, "ACTIVE")]
    assert live.look(4, zone("ACTIVE"), confirmed=True) == []


def test_a_change_of_the_wall_clock_means_nothing():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    live.clock -= 1_000_000
    assert live.look(2, zone("SPENT"), confirmed=True) == [("changed", "ACTIVE", "SPENT")]


def test_a_chart_that_went_back_is_not_followed():
    live = Live()
    live.look(5, zone("SPENT"), confirmed=True)
    assert live.look(3, zone("ACTIVE"), confirmed=True) == ["refused"]
    assert live.changes[0]["why"] == f"the chart went back from the bar {5 * BAR} to {3 * BAR}"
    assert live.look(5, zone("SPENT"), confirmed=True) == ["readable"]


# ------------------------------------------------------------------------------------- forming bars


def test_tick_needs_the_time_of_the_last_bar_and_close_does_not():
    live = Live("tick")
    assert live.look(None, zone("ACTIVE")) == ["refused"]
    assert "timing: tick" in live.changes[0]["why"]
    live = Live("close")
    assert live.look(None, zone("ACTIVE")) == [("started", None, "ACTIVE")]
    assert live.look(None, zone("SPENT")) == [("changed", "ACTIVE", "SPENT")]


def test_a_contract_is_read_by_the_tick_unless_it_says_close(small_contract):
    assert small_contract("").file.timing == "tick"
    assert small_contract("timing: close\n").file.timing == "close"


def test_on_a_closed_bar_everything_counts_at_once():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    assert live.look(1, zone("SPENT"), confirmed=True) == [("changed", "ACTIVE", "SPENT")]
    assert live.look(2, zone("ACTIVE"), confirmed=True) == [("illegal", "SPENT", "ACTIVE")]


def test_what_disappears_on_the_bar_where_it_was_seen_waits_for_the_next_bar():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    assert live.look(1, confirmed=True) == []
    assert live.types == ["shown"]
    assert live.look(1, zone("ACTIVE"), confirmed=True) == []  # the page was loading
    assert live.types == ["withdrawn"]
    assert live.look(2, confirmed=True) == [("gone", "ACTIVE", "DEAD")]


def test_close_takes_a_legal_change_on_a_forming_bar_at_once():
    live = Live("close")
    assert live.look(1, zone("ACTIVE")) == [("started", None, "ACTIVE")]
    assert live.look(1, zone("SPENT")) == [("changed", "ACTIVE", "SPENT")]


def test_close_lets_an_illegal_change_wait_for_the_next_bar():
    live = Live("close")
    live.look(1, zone("SPENT"))
    assert live.look(1, zone("ACTIVE")) == []
    assert live.look(1, zone("SPENT")) == []
    assert live.types == ["withdrawn"]
    live.look(2, zone("ACTIVE"))
    assert live.look(3, zone("ACTIVE")) == [("illegal", "SPENT", "ACTIVE")]
    assert live.changes[0]["violation"]["hint"] == "declare timing: tick"


def test_close_lets_everything_wait_while_the_study_is_blank():
    live = Live("close")
    live.look(1, zone("ACTIVE"), hunt("WAITING"))
    assert live.look(1, hunt("HIGH"), drawn={"lines": 0}) == []
    assert live.look(1, hunt("HIGH"), drawn={"lines": 0}) == []
    assert live.look(1, zone("ACTIVE"), hunt("WAITING")) == []
    assert live.types == ["withdrawn", "withdrawn"]
    live.look(2, hunt("HIGH"), drawn={"lines": 0})
    assert live.look(3, hunt("HIGH"), drawn={"lines": 0}) == [
        ("gone", "ACTIVE", "DEAD"),
        ("changed", "WAITING", "HIGH"),
    ]


def test_tick_lets_everything_on_a_forming_bar_wait():
    live = Live("tick")
    assert live.look(1, zone("ACTIVE")) == []
    assert live.look(2, zone("ACTIVE")) == [("started", None, "ACTIVE")]
    assert live.look(2, zone("SPENT")) == []
    assert live.types == ["shown"]
    assert live.look(2, zone("ACTIVE")) == []
    assert live.types == ["withdrawn"]
    assert live.look(3, zone("ACTIVE")) == []


def test_a_later_bar_that_repeats_it_makes_it_count_whatever_lay_between():
    live = Live("tick")
    live.look(1, zone("ACTIVE"), confirmed=True)
    live.look(2, zone("SPENT"))
    first = live.shown[0]["as_of"]
    live.refuse(3)
    live.look(4, untracked="x1 has no time")
    assert live.look(9, zone("SPENT")) == ["readable", ("changed", "ACTIVE", "SPENT")]
    assert live.changes[1]["first_shown"] == first


def test_another_value_replaces_what_was_pending():
    live = Live("tick")
    live.look(1, hunt("WAITING"), confirmed=True)
    live.look(2, hunt("HIGH"))
    assert live.look(3, hunt("BOTH")) == []
    assert live.look(4, hunt("BOTH")) == [("changed", "WAITING", "BOTH")]


def test_instances_are_judged_alone():
    live = Live("tick")
    live.look(1, zone("ACTIVE", 1), zone("ACTIVE", 2), confirmed=True)
    live.look(2, zone("SPENT", 1), zone("ACTIVE", 2))
    assert live.look(3, zone("SPENT", 1), zone("SPENT", 2)) == [("changed", "ACTIVE", "SPENT")]
    assert live.changes[0]["key"] == [1]


def test_a_rollback_that_recurs_on_the_first_tick_is_believed_and_its_retreat_is_illegal():
    live = Live("tick")  # the known limit of looking at samples
    live.look(1, zone("ACTIVE"), confirmed=True)
    live.look(2, zone("SPENT"))
    assert live.look(3, zone("SPENT")) == [("changed", "ACTIVE", "SPENT")]
    live.look(3, zone("ACTIVE"))
    assert live.look(4, zone("ACTIVE")) == [("illegal", "SPENT", "ACTIVE")]


def test_a_new_epoch_replaces_a_pending_state_of_the_old_which_lapses():
    live = Live("tick")
    live.look(1, hunt("WAITING", 100), confirmed=True)
    live.look(2, hunt("HIGH", 100))
    live.look(3, hunt("WAITING", 200))
    live.look(3, hunt("LOW", 200))
    assert live.look(4, hunt("LOW", 200)) == [("reset", "WAITING", "LOW")]
    assert live.changes[0]["lapsed"] == "HIGH"
    live.look(5, hunt("BOTH", 200))
    assert live.look(6, hunt("WAITING", 300), confirmed=True) == [("reset", "LOW", "WAITING")]
    assert live.changes[0]["lapsed"] == "BOTH"


# --------------------------------------------------------------------------------------- legality


def test_states_that_were_skipped_are_listed_and_a_direct_step_lists_none():
    live = Live()
    live.look(1, hunt("WAITING"), confirmed=True)
    live.look(2, hunt("HIGH"), confirmed=True)
    assert live.changes[0]["skipped"] == []
    live = Live()
    live.look(1, hunt("WAITING"), confirmed=True)
    assert live.look(2, hunt("BOTH"), confirmed=True) == [("changed", "WAITING", "BOTH")]
    assert live.changes[0]["skipped"] == [["HIGH"], ["LOW"]]


def test_skipped_states_are_narrowed_to_those_that_were_shown():
    live = Live("tick")
    live.look(1, hunt("WAITING"), confirmed=True)
    live.look(2, hunt("LOW"))
    live.look(2, hunt("DONE"))
    assert live.look(3, hunt("DONE")) == [("changed", "WAITING", "DONE")]
    assert live.changes[0]["skipped"] == [["LOW", "BOTH"]]


def test_the_track_goes_on_from_the_state_of_an_illegal_change():
    live = Live()
    live.look(1, zone("SPENT"), confirmed=True)
    assert live.look(2, zone("ACTIVE"), confirmed=True) == [("illegal", "SPENT", "ACTIVE")]
    breach = live.changes[0]["violation"]
    assert (breach["kind"], breach["path"]) == ("illegal_transition", "states.zone.transitions")
    assert breach["message"] == "SPENT does not lead to ACTIVE"
    assert live.look(3, zone("ACTIVE"), confirmed=True) == []  # reported once


def test_a_new_epoch_is_a_reset_to_any_state_and_one_that_goes_back_is_illegal():
    live = Live()
    live.look(1, hunt("BOTH", 200), confirmed=True)
    assert live.look(2, hunt("WAITING", 300), confirmed=True) == [("reset", "BOTH", "WAITING")]
    assert live.look(3, hunt("WAITING", 100), confirmed=True) == [("illegal", "WAITING", "WAITING")]
    assert live.changes[0]["violation"]["message"] == "the epoch went back from 300 to 100"


def test_epochs_that_are_no_numbers_only_differ():
    live = Live()
    live.look(1, hunt("BOTH", "monday"), confirmed=True)
    assert live.look(2, hunt("HIGH", "friday"), confirmed=True) == [("reset", "BOTH", "HIGH")]
    assert live.look(3, hunt("LOW", True), confirmed=True) == [("reset", "HIGH", "LOW")]
    assert live.look(4, hunt("LOW", False), confirmed=True) == [("reset", "LOW", "LOW")]


def test_an_epoch_of_none_hides_no_retreat():
    live = Live()
    live.look(1, hunt("BOTH", 200), confirmed=True)
    assert live.look(2, hunt("WAITING"), confirmed=True) == [("reset", "BOTH", "WAITING")]
    assert live.look(3, hunt("HIGH", 200), confirmed=True) == [("illegal", "WAITING", "HIGH")]
    assert live.changes[0]["violation"]["message"] == "BOTH does not lead to HIGH"
    live.look(4, hunt("WAITING"), confirmed=True)
    assert live.look(5, hunt("HIGH", 100), confirmed=True) == [("illegal", "WAITING", "HIGH")]
    assert "went back" in live.changes[0]["violation"]["message"]


def test_whole_numbers_are_one_key_and_one_epoch_however_they_are_spelled():
    live = Live()
    live.look(1, zone("ACTIVE", 5000), hunt("WAITING", 100), confirmed=True)
    assert live.look(2, zone("ACTIVE", 5000.0), hunt("WAITING", 100.0), confirmed=True) == []


# --------------------------------------------------------------------------- appeared, disappeared


def test_what_stood_there_at_the_start_is_no_news():
    live = Live("tick")
    live.look(1, zone("ACTIVE", 1))
    assert live.look(2, zone("ACTIVE", 1), zone("ACTIVE", 2)) == [("started", None, "ACTIVE")]
    assert live.look(3, zone("ACTIVE", 1), zone("ACTIVE", 2)) == [("appeared", None, "ACTIVE")]


def test_after_an_empty_start_what_appears_is_news():
    live = Live("tick")
    live.look(1)
    live.look(2, zone("ACTIVE"))
    assert live.look(3, zone("ACTIVE")) == [("appeared", None, "ACTIVE")]


@in_one_test("confirmed", [True, False])
def test_what_lay_before_the_loaded_history_is_revealed(confirmed):
    live = Live("tick")
    live.look(1, first_time=50 * BAR, confirmed=True)
    old, new = zone("ACTIVE", 1, 20 * BAR), zone("ACTIVE", 2, 60 * BAR)
    told = live.look(2, old, new, confirmed=confirmed)
    told += live.look(3, old, new, confirmed=confirmed)
    assert told == [("revealed", None, "ACTIVE"), ("appeared", None, "ACTIVE")]


@pytest.mark.parametrize(
    "before, after, why",
    [
        ({}, {"first_time": 20 * BAR}, "before the first bar"),
        ({}, {"first_time": None}, "how far back"),
        ({"caps": {"lines": 1}}, {"caps": {"lines": 1}}, "cap of 1"),
        ({}, {"caps": {"lines": 0}}, "cap of 0"),
        ({}, {"caps": {}}, "cap on lines is not known"),
    ],
)
def test_what_the_chart_may_have_dropped_is_lost(before, after, why):
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True, **before)
    assert live.look(2, confirmed=True, **after) == [("lost", "ACTIVE", None)]
    assert why in live.changes[0]["why"]
    assert live.state()["status"] == "lost"
    assert live.state()["state"] == "ACTIVE"


def test_why_it_may_be_lost_is_remembered_until_the_next_bar():
    live = Live("tick")
    live.look(1, zone("ACTIVE"), confirmed=True, caps={"lines": 1})
    live.look(2, confirmed=False, caps={"lines": 1})
    assert live.look(3, confirmed=False, caps={"lines": 1}) == [("lost", "ACTIVE", None)]


def test_what_is_not_there_any_more_is_gone_where_the_contract_says_so_or_else_illegal():
    live = Live()
    live.look(1, zone("ACTIVE"), zone("ON", machine="orphan"), confirmed=True)
    assert live.look(2, confirmed=True) == [("gone", "ACTIVE", "DEAD"), ("illegal", "ON", None)]


def test_forget_makes_it_lost_and_lets_it_return_in_any_state():
    live = Live()
    live.look(1, zone("OFF", machine="mark"), confirmed=True)
    assert live.look(2, confirmed=True) == [("lost", "OFF", None)]
    assert live.look(3, zone("ON", machine="mark"), confirmed=True) == [("returned", "OFF", "ON")]


def test_what_was_lost_returns_and_is_compared_with_what_it_was():
    live = Live()
    zones = [zone("SPENT", 1), zone("ACTIVE", 2)]
    live.look(1, *zones, confirmed=True)
    live.look(2, confirmed=True, first_time=20 * BAR)
    assert live.look(3, zone("ACTIVE", 1), zone("SPENT", 2), confirmed=True) == [
        ("illegal", "SPENT", "ACTIVE"),
        ("returned", "ACTIVE", "SPENT"),
    ]


def test_a_return_from_gone_is_illegal():
    live = Live()
    live.look(1, zone("ACTIVE"), confirmed=True)
    live.look(2, confirmed=True)
    assert live.look(3, zone("ACTIVE"), confirmed=True) == [("illegal", "DEAD", "ACTIVE")]
    assert live.look(4, zone("SPENT"), confirmed=True) == [("changed", "ACTIVE", "SPENT")]


def test_a_thousand_absent_instances_are_remembered_those_seen_last():
    live = Live()
    live.look(1, *(zone("ACTIVE", n) for n in range(600)), confirmed=True, caps={"lines": 5000})
    live.look(
        2, *(zone("ACTIVE", n) for n in range(600, 1200)), confirmed=True, caps={"lines": 5000}
    )
    live.look(3, confirmed=True, caps={"lines": 5000})
    known = {one["key"][0] for one in live.memory.states()}
    assert len(known) == 1000
    assert known >= set(range(600, 1200))


def test_the_first_memory_knows_no_states():
    assert Memory().states() == []
    assert Memory.from_json(Memory().to_json()) == Memory()


# --------------------------------------------------------------------------------------- the engine


def test_rules_come_from_the_contract(pact_rules):
    rules = pact_rules("ob_ai")
    assert rules.machines["zone"].gone == "MITIGATED"
    assert rules.machines["zone"].channel == "lines"
    assert rules.machines["zone"].ways("ACTIVE", "MITIGATED") == ((),)
    assert pact_rules("bias_ai").machines["daily"].channel is None
