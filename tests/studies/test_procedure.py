"""The course of a study: refusals, the hold-out, sweeps, costs, and what it says."""

import json
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from tests.studies import markets
from tests.studies.conftest import EARLY, REPAINTING, SCRIPT

import chartpact as cp
from chartpact import studies
from chartpact.bars import Bars
from chartpact.problem import Failure
from chartpact.studies import StudyError

BARS = markets.market(1, 2600)
SIDES = {"long": ["up"], "short": ["down"]}


def refused(run, *args, **options) -> StudyError:
    with pytest.raises(StudyError) as caught:
        run(*args, **options)
    assert caught.value.message
    return caught.value


def test_a_study_says_what_was_tested_and_checked(run):
    answer = run("mine", BARS, SCRIPT, **SIDES)
    assert answer.honesty.tests == 6
    assert answer.honesty.events_checked == 50
    assert [signal.side for signal in answer.signals] == ["long", "short"]
    assert answer.split.embargo_bars == 10
    assert "20, 50 bars are too long" in answer.warnings[0]
    horizon = answer.signals[0].horizons[1]
    assert horizon.detectable_atr > 0
    assert horizon.interval[0] < horizon.excess_atr < horizon.interval[1]


def test_the_answer_keeps_its_schema_and_is_the_same_each_time(run):
    answers = [run("mine", BARS, SCRIPT, **SIDES).to_json() for _ in range(2)]
    assert answers[0] == answers[1]
    schema = studies.json_schema()
    jsonschema.Draft202012Validator(schema).validate(answers[0])
    json.dumps(answers[0], allow_nan=False)


def test_what_each_event_did_is_entered_one_bar_after_it_was_known(run):
    """Checked by hand on the JSON alone: the mean move in ticks from open to open."""
    answer = run("mine", BARS, SCRIPT, long=["up"], horizons=[3], hold_out=0)
    high = BARS.high
    known = [i for i in range(10, len(BARS)) if high[i] > high[i - 10 : i].max()]
    moves = [BARS.open[i + 4] - BARS.open[i + 1] for i in known if i >= 13 and i + 4 < len(BARS)]
    [horizon] = answer.signals[0].horizons
    assert horizon.events == len(moves)
    assert horizon.mean_ticks == pytest.approx(np.mean(moves) / 0.25)


def test_a_script_that_repaints_is_refused(run):
    error = refused(run, "repaints", BARS, REPAINTING, long=["sure"])
    assert error.kind == "rewrites"
    assert error.to_json()["findings"]


def test_a_pivot_that_is_drawn_early_is_refused_by_the_fifty_events(run):
    error = refused(run, "early", BARS, EARLY, long=["pivot"])
    assert error.kind == "rewrites"
    assert "was not there when it is said to have become known" in error.message
    assert len(error.to_json()["findings"]) == 3


def test_signals_without_a_direction_are_refused_with_their_names(run):
    error = refused(run, "mine", BARS, SCRIPT)
    assert error.kind == "no_side"
    assert error.to_json()["signals"].keys() == {"up", "down"}
    assert refused(run, "mine", BARS, SCRIPT, long=["ups"]).kind == "name"


def test_too_few_events_are_refused(run):
    error = refused(run, "mine", BARS[:200], SCRIPT, long=["up"], params={"n": 70})
    assert error.kind == "too_few"
    assert error.to_json()["events"]["up"] < 10
    assert refused(run, "mine", BARS[:90], SCRIPT, long=["up"]).kind == "too_few"
    assert refused(run, "rsi", BARS, hold_out=0).kind == "too_few"


def test_a_horizon_that_was_asked_for_may_not_be_too_long(run):
    error = refused(run, "mine", BARS, SCRIPT, long=["up"], horizons=[3, 16])
    assert (error.kind, error.to_json()["most"]) == ("too_long", 15)


def test_a_signal_on_forming_bars_is_refused(run):
    code = SCRIPT.replace('label="up")', 'label="up", provisional=True)')
    try:
        error = refused(run, "mine", BARS, code, long=["up"])
    except Failure:
        pytest.fail("the script has to draw provisional dots")
    assert error.kind == "provisional"


def test_a_pact_that_dates_nothing_is_refused_with_its_states(run):
    error = refused(run, "macro", cp.load("sample:es-5m"))
    assert error.kind == "undated"
    assert "macro=" in error.hint


def test_the_hold_out_is_not_looked_at(run):
    """Bars after the split that are noise give the same answer, fingerprint apart."""
    edge = round(len(BARS) * 0.6)
    noise = markets.market(99, len(BARS))
    mixed = replace(
        BARS,
        **{
            name: np.append(getattr(BARS, name)[:edge], getattr(noise, name)[edge:])
            for name in ("open", "high", "low", "close")
        },
    )
    first, other = (run("mine", bars, SCRIPT, **SIDES).to_json() for bars in (BARS, mixed))
    assert first["bars"].pop("fingerprint") != other["bars"].pop("fingerprint")
    assert first == other


def test_a_confirmed_test_is_one_alone_on_the_bars_held_out(run):
    answer = run("mine", BARS, SCRIPT, **SIDES, confirm=True)
    confirmed = answer.confirmed
    assert confirmed.horizon.p == confirmed.horizon.p_family
    assert answer.honesty.tests == 7
    edge = answer.split.studied_until
    assert min(answer.over_time.held_out_times) >= edge + 10 * markets.STEP
    assert confirmed.horizon.bars == answer.path.bars


def test_a_ledger_says_how_often_these_bars_were_tried(run):
    answer = run("mine", BARS, SCRIPT, **SIDES, confirm=True)
    entered = answer.entered(412, 2)
    assert entered.honesty.tests_before == 412
    horizon = entered.signals[0].horizons[0]
    assert horizon.p_ledger == min(1, horizon.p * (412 + 7))
    assert "seen before, 2 times" in entered.confirmed.says
    assert "seen before" not in answer.entered(0, 0).confirmed.says


def test_a_sweep_is_one_family(run):
    answer = run("mine", BARS, SCRIPT, long=["up"], sweep=["n=5..25:5"])
    assert answer.honesty.tests == 15
    assert answer.honesty.events_checked == 250
    assert [signal.params["n"] for signal in answer.signals] == [5, 10, 15, 20, 25]
    assert len(answer.best.walk_forward) == 5
    assert 0 <= answer.best.deflated_sharpe <= 1
    assert answer.of.params["n"] == 10


def test_costs_can_eat_what_followed(run):
    answer = run("mine", BARS, SCRIPT, **SIDES, cost_ticks=2)
    for signal in answer.signals:
        for horizon in signal.horizons:
            assert horizon.net_ticks == pytest.approx(horizon.mean_ticks - 4)
    planted = [(bar, 8.0) for bar in range(31, 2560, 32)]
    bars = markets.market(2, 2600, planted=planted)
    code = SCRIPT.replace("if ohlcv.high[i] > high[i - 1]:", "if i % 32 == 30:")
    found, eaten = (
        run("mine", bars, code, long=["up"], horizons=[1], cost_ticks=cost) for cost in (0, 50)
    )
    assert found.signals[0].horizons[0].verdict == "found"
    assert "confirm does" in found.says
    assert eaten.signals[0].horizons[0].verdict == "cost_eats_it"
    assert "Costs are larger" in eaten.says


def test_effects_may_be_in_ticks(run):
    answer = run("mine", BARS, SCRIPT, long=["up"], unit="ticks")
    horizon = answer.signals[0].horizons[0]
    assert horizon.interval[0] < horizon.excess_ticks < horizon.interval[1]
    assert horizon.detectable_atr is None
    assert answer.path.mean_atr is None
    with pytest.raises(StudyError, match="tick size"):
        run("mine", replace(BARS, tick_size=None), SCRIPT, long=["up"], unit="ticks")


def test_jumps_and_gaps_are_told(run):
    open_, close = BARS.open.copy(), BARS.close.copy()
    high, low = BARS.high.copy(), BARS.low.copy()
    for column in (open_, close, high, low):
        column[700:] += 300
    time = BARS.time.copy()
    time[900:] += 3_600_000
    jumped = replace(BARS, open=open_, high=high, low=low, close=close, time=time)
    answer = run("mine", jumped, SCRIPT, **SIDES)
    assert any("over 8 ATR" in warning for warning in answer.warnings)
    warnings = [w for s in answer.signals for h in s.horizons for w in h.warnings]
    assert any("span a gap in time" in warning for warning in warnings)


def test_synthetic_bars_say_that_nothing_can_be_there(run):
    answer = run("supertrend", cp.load("sample:es-5m"), long=["flip_up"])
    assert "The bars are synthetic: nothing can be there." in answer.says
    assert "profit" not in json.dumps(answer.to_json())


def test_empty_and_flat_bars_are_refused_and_not_divided_by(run):
    empty = BARS[:0]
    assert refused(run, "mine", empty, SCRIPT, long=["up"]).kind == "too_few"
    level = np.full(1000, 5.0)
    flat = Bars(BARS.time[:1000], level, level, level, level, level)
    always = SCRIPT.replace("if ohlcv.high[i] > high[i - 1]:", "if True:")
    assert refused(run, "mine", flat, always, long=["up"]).kind == "too_few"


@pytest.mark.parametrize(
    "options",
    [
        {"horizons": [0]},
        {"horizons": [True]},
        {"cost_ticks": -1},
        {"cost_ticks": float("nan")},
        {"hold_out": 0.95},
        {"hold_out": 0, "confirm": True},
        {"unit": "dollars"},
        {"zone": "Mars/Olympus"},
        {"long": ["up"], "short": ["up"]},
        {"sweep": ["n"]},
        {"sweep": ["n=5..1"]},
        {"sweep": ["n=1..1e9:0.001"]},
        {"sweep": ["n=a..b"]},
        {"sweep": ["n=1..3"], "params": {"n": 2}},
        {"sweep": {"n": list(range(150)), "m": [1, 2]}},
    ],
)
def test_wrong_options_are_refused_in_words(options):
    with pytest.raises(StudyError) as caught:
        studies.read_ask(**options)
    assert caught.value.kind == "value"
