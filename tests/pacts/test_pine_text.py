"""The Pine twins as text: the script's inputs, and nothing that TradingView would not compile."""

import pytest
from tests.cases import in_one_test
from tests.pacts import pine, pinetext
from tests.pacts.pictures import program

from chartpact import pacts

# Kinds of inputs that have another name in Pine. An input.timeframe cannot write 4h.
KINDS = {"choice": "string", "str": "string", "timeframe": "string", "calendar": "text_area"}
DECLARED = ("overlay", "max_lines_count", "max_labels_count", "max_boxes_count")
every_twin = pytest.mark.parametrize("pact", pacts.drawable())
REFUSED = {
    pinetext.clashes: """
if close > open
    places.push(1)
else
    places.shift()
""",
    pinetext.outer_assignments: """
count(int step) =>
    total += step
    total
""",
    pinetext.hidden_names: "\nint size = 3",
    pinetext.redeclarations: """
if close > open
    int n = 1
    float n = 2.0
""",
    pinetext.loops_over_calls: """
for word in str.split(words, ",")
    print(word)
""",
}


@every_twin
def test_the_inputs_of_the_twin_are_the_parameters_of_the_script(pact):
    inputs = pinetext.inputs(pine.source(pact))
    inputs.pop("day_roll", None)  # Pine cannot ask for it
    assert list(inputs) == [param.name for param in program(pact).params]
    for param in program(pact).params:
        kind, default, options = inputs[param.name]
        assert kind == KINDS.get(param.type, param.type)
        if kind not in ("symbol", "text_area"):
            assert default == param.default
            limits = {"minval": param.min, "maxval": param.max, "options": param.options}
            limits = {name: limit for name, limit in limits.items() if limit is not None}
            assert options == limits or param.type == "timeframe"


@every_twin
def test_the_twin_declares_the_title_and_the_caps_of_the_script(pact):
    meta = dict(program(pact).meta)
    title, options = pinetext.declaration(pine.source(pact))
    assert title == meta["title"]
    options.pop("max_bars_back", None)
    assert options.pop("shorttitle", None) == meta.get("short_title")
    assert options == {name: value for name, value in meta.items() if name in DECLARED}


@every_twin
@pytest.mark.parametrize("look", REFUSED)
def test_the_text_has_nothing_that_pinets_runs_and_tradingview_refuses(pact, look):
    assert look(pine.source(pact)) == []


@in_one_test("look", REFUSED)
def test_what_tradingview_refuses_is_noticed(look):
    declared = "var array<int> places = array.new<int>()\nint total = 0"
    assert look(declared + REFUSED[look])


@in_one_test("pact", ["smt", "smt_divergences"])
def test_the_twin_of_two_instruments_joins_them_on_time(pact):
    # PineTS gives na where a pair lacks a bar, and TradingView the last value: only the text tells.
    assert "bool joined = pairTime == time" in pine.source(pact)
