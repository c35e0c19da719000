"""How indicators are asked for, and what they are called in every output."""

import time

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact.catalogue import Catalogue
from chartpact.params import Param
from chartpact.params import resolve as resolve_params
from chartpact.request import Request, format_request, make_id


@in_one_test(("text", "name", "params"), [
    ("rsi", "rsi", {}),
    (" rsi ", "rsi", {}),
    ("rsi:period=7", "rsi", {"period": "7"}),
    ("stoch: period = 7 , d_smooth=2", "stoch", {"period": "7", "d_smooth": "2"}),
    ('vwap:day_roll="17:00 America/New_York"', "vwap", {"day_roll": "17:00 America/New_York"}),
    (r'x:a="say \"hi\", \\ there",b=1', "x", {"a": r'say "hi", \ there', "b": "1"}),
    ("x:a=", "x", {"a": ""}),
    ("x:a=-2.5", "x", {"a": "-2.5"}),
])  # fmt: skip
def test_a_text_names_an_indicator_and_its_parameters(text, name, params):
    assert Request.parse(text) == Request(name, params)


def test_a_mapping_does_too():
    assert Request.parse({"name": "rsi", "period": 7}) == Request("rsi", {"period": 7})
    assert Request.parse(Request("rsi")) == Request("rsi")


@in_one_test("asked", [
    "", ":", "rsi:", ":period=7", "rsi:7,", "rsi:period=7,7", "rsi:period=7,", "rsi:period=7;x=1:2",
    "rsi:period=7,period=8", 'rsi:a="open', 'rsi:a="b"c', "rsi:=7", {}, {"period": 7},
    {"name": 5}, {"name": "rsi", 5: 7}, 5, None, ["rsi"],
])  # fmt: skip
def test_anything_else_is_a_syntax_error_that_tells_the_form(asked):
    problem = Request.parse(asked).problem
    assert problem.kind == "syntax"
    assert "NAME:key=value" in problem.hint


def test_the_id_is_the_canonical_name_with_what_differs_from_the_defaults_sorted():
    found = Catalogue().resolve("stochastic")
    given = {"length": "7", "d_smooth": 2, "k_smooth": 3}
    values = resolve_params(found.params, given, found.name)
    assert make_id(found.name, found.params, values) == "stoch:d_smooth=2,period=7"


def test_ids_write_values_as_they_are_asked_for():
    values = {"a": True, "b": 2.5, "c": 3.0, "d": "x y", "e": 'q"\\', "f": "", "g": 1e-7}
    assert format_request("x", values) == r'x:a=true,b=2.5,c=3,d="x y",e="q\"\\",f="",g=1e-07'


keys = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
values = st.text(max_size=12) | st.integers() | st.booleans() | st.floats(-1e9, 1e9)


@given(st.dictionaries(keys, values, max_size=4))
def test_an_id_asks_for_what_it_names(params):
    read = Request.parse(format_request("x", params))
    assert read.name == "x"
    assert set(read.given) == set(params)
    for key, value in params.items():
        if isinstance(value, bool):
            assert read.given[key] == str(value).lower()
        elif isinstance(value, str):
            assert read.given[key] == value
        else:
            assert type(value)(read.given[key]) == value


def test_one_default_is_not_another():
    params = [Param("on", "bool", True), Param("n", "int", 1)]
    assert make_id("x", params, {"on": False, "n": 1}) == "x:on=false"


BLANKS = " " * 2000


@in_one_test(
    "asked",
    [f"rsi:a={BLANKS}:", f'rsi:a={BLANKS}"', f'rsi:a="{BLANKS}', f"rsi:{BLANKS}=",
     f'rsi:a=""{BLANKS}x', "rsi:a=" + "\\ " * 1000 + '"'],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_at_once_however_it_is_blanked(asked):
    started = time.perf_counter()
    assert Request.parse(asked).problem is not None
    assert time.perf_counter() - started < 0.5


def test_blanks_around_values_do_not_belong_to_them():
    given = {"a": "1 2", "b": " x ", "c": "", "d": "3"}
    assert Request.parse('rsi: a =  1 2 , b = " x " ,c= ,d=3 ').given == given


@in_one_test("name", ["file:/x.star", "file:///etc/passwd", "http://example.org/x"])
def test_an_address_is_a_name_that_nobody_has(name):
    (plan,) = Catalogue().plan(name)
    assert plan.problem is not None
    assert plan.problem.kind == "name"
