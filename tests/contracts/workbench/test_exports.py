"""Types of states: as JSON Schema and as Python, closed and in step with the contracts."""

# ruff: noqa: E501  (tables)

import subprocess
import sys
import typing

import pytest
from jsonschema import Draft202012Validator
from small import make
from tests.cases import in_one_test

from chartpact import pacts, states
from chartpact.contracts import find
from chartpact.contracts.workbench import exports

ALL = """\
config: {paint: {type: color, default: null}, words: {type: choice, options: [a, b], default: null}}
channels: {lines: signal}
encodings: {look: {red: "#ff0000", none: none}}
elements:
  level: {from: lines, reads: {look: look(color), thin: width == 1, when: x1.time}}
  only_one: {from: level, newest: x1, count: 0..1}
output:
  number: only_one.y1
  count: len([l for l in level])
  text: chart.symbol
  zone: chart.timezone
  flag: "any([l.thin for l in level])"
  when: only_one.when
  color: paint
  word: words
  nothing: none
  inner: {look: only_one.look, deep: {style: only_one.style}}
  one: {from: only_one, give: {class: thin, at: when}}
  all: {from: level, sort: x1, give: {look: look}}
  split: {from: level, split: look, sort: x1, give: {y: y1, inner: {thin: thin}}}
"""


def test_every_kind_of_output_has_a_type():
    schema = exports.json_schema(make(ALL))
    Draft202012Validator.check_schema(schema)
    found = schema["properties"]
    null = {"type": "null"}
    assert found["number"] == {"anyOf": [{"type": "number"}, null]}
    assert found["count"] == {"type": "number"}
    assert found["text"] == {"type": "string"}
    assert found["zone"] == {"anyOf": [{"type": "string"}, null]}
    assert found["flag"] == {"type": "boolean"}
    assert found["when"]["anyOf"][0]["type"] == "integer"
    assert found["color"]["anyOf"][0]["pattern"] == "^#[0-9a-f]{6}$"
    assert found["word"] == {"enum": ["a", "b", None]}
    assert found["nothing"] == null
    assert found["inner"]["properties"]["look"] == {"enum": ["red", "none", None]}
    assert found["one"]["anyOf"][1] == null
    assert found["all"]["items"]["properties"] == {"look": {"enum": ["red", "none"]}}
    assert found["split"]["required"] == ["red", "none"]
    assert schema["additionalProperties"] is False


def test_the_python_type_says_the_same():
    source = exports.python_source(make(ALL))
    names = {}
    exec(source, names)
    hints = typing.get_type_hints(names["Small"])
    assert hints["number"] == float | None
    assert hints["word"] == typing.Literal["a", "b"] | None
    assert hints["when"] == int | None
    assert hints["inner"] is names["SmallInner"]
    assert typing.get_args(hints["all"]) == (names["SmallAllItem"],)
    split = typing.get_type_hints(names["SmallSplit"])
    assert typing.get_args(split["red"]) == (names["SmallSplitItem"],)
    assert set(typing.get_type_hints(names["SmallOne"])) == {"class", "at"}


def test_a_title_cannot_break_out_of_the_generated_source():
    from small import HEAD, load

    body = "channels: {lines: informational}\nelements: {l: {from: lines, count: 0..1}}\noutput: {y: l.y1}\n"
    head = HEAD.replace("Small}", '"a\\"\\"\\"\\nimport os\\\\"}')
    compile(exports.python_source(load(head + body)), "state", "exec")
    assert "import os" not in exports.python_source(load(head + body)).splitlines()


@in_one_test("name", pacts.names())
def test_shipped_contracts_have_their_types_in_the_package(name):
    contract = find(name)
    hints = typing.get_type_hints(
        getattr(states, "".join(part.capitalize() for part in contract.name.split("_")))
    )
    assert list(hints) == list(contract.file.output)


@pytest.mark.slow
def test_a_type_checker_accepts_the_types_and_finds_misuse(tmp_path):
    path = tmp_path / "use.py"
    path.write_text(
        "from chartpact.states import SessionHuntAi\n"
        "def side(state: SessionHuntAi) -> str:\n"
        "    if state['hunt']['side'] == 'HUNT_HI':\n"
        "        return 'never'\n"
        "    return state['hunt']['sid']\n"
    )
    # Of the package it looks at the module of the types alone, which takes a sixth of the time.
    options = ("--strict", "--follow-imports=skip", "--cache-dir", str(tmp_path))
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(path), str(states.__file__)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Non-overlapping equality check" in ran.stdout
    assert 'has no key "sid"' in ran.stdout


EXPECTED = {
    "bias_ai": ["day_start", "daily", "weekly", "draw_on_liquidity", "hit_target", "pdh", "pdl", "pdh_swept",
                "pdl_swept"],
    "session_hunt_ai": ["mode", "hunt"],
    "ob_ai": ["order_blocks", "atr"],
    "smt_divergences": ["bullish_active", "bearish_active", "paired_instrument", "last_signal",
                        "divergences"],
}  # fmt: skip


@in_one_test("name", sorted(EXPECTED))
def test_the_documented_outputs_are_given(name):
    found = exports.json_schema(find(name))["properties"]
    assert list(found) == EXPECTED[name]
    if name == "session_hunt_ai":
        assert found["hunt"]["required"] == [
            "state", "side", "range_start", "target_high", "target_low", "hi_swept", "lo_swept", "reextended",
            "reext_high", "reext_low",
        ]  # fmt: skip
        assert found["hunt"]["properties"]["side"] == {
            "enum": ["HUNT_HIGH", "HUNT_LOW", "INVALID", None]
        }
        assert found["mode"] == {"enum": ["NY", "London"]}
    if name == "ob_ai":
        block = found["order_blocks"]["properties"]["bullish"]["items"]
        assert block["required"] == ["high", "low", "spent", "fvg"]
    if name == "bias_ai":
        assert found["daily"] == {"enum": ["neutral", "bullish", "bearish"]}
        assert found["draw_on_liquidity"] == {"enum": ["PDH", "PDL", None]}
