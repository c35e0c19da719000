"""What an indicator may be asked with, and what it says otherwise."""

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import indicators
from chartpact.params import TYPES, IndicatorError, Param, resolve

PERIOD = Param("period", "int", 14, min=1, max=5000, aliases=("length",))
MODE = Param("mode", "choice", "strict", options=("strict", "classic"))


def refused(params, **given):
    with pytest.raises(IndicatorError) as raised:
        resolve(params, given, "rsi")
    return raised.value


def test_what_is_not_given_has_its_default():
    assert resolve([PERIOD, MODE], {}, "rsi") == {"period": 14, "mode": "strict"}


@in_one_test("value", [7, "7", " 7 ", 7.0, np.int64(7)])
def test_a_whole_number_may_come_as_a_text_or_a_float_without_fraction(value):
    found = resolve([PERIOD], {"length": value}, "rsi")
    assert found == {"period": 7}
    assert type(found["period"]) is int


@in_one_test("value", ["7.5", 7.5, True, "seven", None, [], "1_0", "٧", 1e400])
def test_what_is_no_whole_number_is_a_type_error_that_tells_the_range(value):
    error = refused([PERIOD], period=value)
    assert error.kind == "type"
    assert error.message.startswith("rsi: period=")
    assert error.hint == "period takes a whole number from 1 to 5000"
    assert error.to_json()["parameter"] == "period"
    assert error.to_json()["allowed"] == "a whole number from 1 to 5000"


@in_one_test("value", [0, "-1", 5001, 10**30])
def test_out_of_range_tells_the_range(value):
    error = refused([PERIOD], period=value)
    assert error.kind == ("type" if value == 10**30 and isinstance(value, str) else "value")
    assert "out of range" in error.message
    assert "from 1 to 5000" in error.hint


def test_an_unknown_name_tells_the_nearest_one_and_what_it_takes():
    error = refused([PERIOD, MODE], perod=7)
    assert error.kind == "name"
    assert error.message == "rsi has no parameter 'perod'"
    assert "did you mean 'period', a whole number from 1 to 5000?" in error.hint
    assert "it takes period, mode" in error.hint


def test_the_nearest_of_an_alias_is_its_parameter():
    assert "did you mean 'period'" in refused([PERIOD], lenght=7).hint


def test_an_unknown_name_that_is_near_to_none_tells_all_and_what_they_take():
    assert refused([PERIOD, MODE], window=9).hint == (
        "it takes period: a whole number from 1 to 5000; mode: one of strict, classic"
    )


def test_an_indicator_without_parameters_says_so():
    assert refused([], period=3).hint == "it takes no parameters"


def test_a_parameter_and_its_alias_are_one():
    assert "are the same parameter" in refused([PERIOD], period=7, length=8).message


def test_a_choice_tells_the_choices_and_the_nearest():
    error = refused([MODE], mode="clasic")
    assert "none of its choices" in error.message
    assert error.hint == "mode takes one of strict, classic; did you mean 'classic'?"
    numbers = Param("step", "choice", 1, options=(1, 2.5))
    assert resolve([numbers], {"step": "2.5"}, "x") == {"step": 2.5}


@in_one_test(("kind", "good", "canonical", "bad"), [
    ("float", "2.5", 2.5, "nan"),
    ("float", 2, 2.0, "inf"),
    ("float", 2, 2.0, "1_0"),
    ("bool", "yes", True, "perhaps"),
    ("bool", False, False, 1),
    ("str", "a", "a", 5),
    ("color", "teal", "#089981ff", "tael"),
    ("session", "0930-1600:23456", "0930-1600:23456", "9:30-16:00"),
    ("session", "24x7", "24x7", "0930-3500"),
    ("timeframe", "60m", "1h", "1x"),
    ("source", "hlc3", "hlc3", "typical"),
    ("symbol", "NQ", "NQ", 5),
    ("time", 1_700_000_000_000, 1_700_000_000_000, 1.5),
    ("time", "1700000000000", 1_700_000_000_000, "yesterday"),
    ("time", "2024-01-31T09:30Z", 1_706_693_400_000, "2024-31-01"),
    ("time", "2024-01-31 09:30", 1_706_693_400_000, True),
    ("time", "2024-01-31T09:30:00.250+02:00", 1_706_686_200_250, "9:30"),
    ("time", "1969-12-31", -86_400_000, "0000-00-00"),
    ("price", "5150.25", 5150.25, "1e999"),
    ("price", 5, 5.0, True),
])  # fmt: skip
def test_every_type_reads_its_values_and_refuses_others(kind, good, canonical, bad):
    param = Param("p", kind, None)
    found = resolve([param], {"p": good}, "x")["p"]
    assert (found, type(found)) == (canonical, type(canonical))
    error = refused([param], p=bad)
    assert error.kind == "type"
    assert error.hint.startswith("p takes ")


def test_what_few_parameters_have_is_in_the_json_of_those_alone():
    assert set(Param("n", "int", 1).to_json()) == set(
        "name type default min max options desc".split()
    )
    full = Param("n", "int", 1, step=1, group="g", inline="row", tooltip="t")
    assert full.to_json().items() >= {"inline": "row", "tooltip": "t", "group": "g"}.items()
    assert Param.from_json(full.to_json()) == full


def test_unset_may_be_given_where_it_is_the_default():
    assert resolve([Param("n", "int", None, 1)], {"n": None}, "x") == {"n": None}


@in_one_test("builtin", indicators.table().values(), ids=lambda each: each.name)
def test_every_parameter_of_a_builtin_is_described_ranged_and_defaults_to_itself(builtin):
    assert resolve(builtin.params, {}, builtin.name) == {p.name: p.default for p in builtin.params}
    for param in builtin.params:
        assert param.type in TYPES
        assert param.desc
        if param.default is not None:
            assert resolve([param], {param.name: param.default}, "x")[param.name] == param.default
        if param.type in ("int", "float"):
            assert param.min is not None
        assert param.type != "choice" or param.options


def test_the_window_of_an_indicator_that_has_one_is_its_period():
    names = [p.name for each in indicators.table().values() for p in each.params]
    assert "length" not in names
    periods = [p for each in indicators.table().values() for p in each.params if p.name == "period"]
    assert len(periods) == 14
    assert all(p.aliases == ("length",) for p in periods)


def test_a_type_of_another_version_of_the_program_takes_texts():
    later = Param("when", "moment")
    assert resolve([later], {"when": "noon"}, "x") == {"when": "noon"}
    assert refused([later], when=5).hint == "when takes a text"
