"""Payloads: three grammars, read strictly; writing is the inverse of reading."""

# ruff: noqa: E501  (payloads in one line each)

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import told
from tests.cases import in_one_test
from tests.effort import examples

from chartpact.contracts.language.codecs import (
    PayloadError,
    ReadingFault,
    compile_codec,
    decode,
    encode,
)
from chartpact.contracts.language.model import Decode


def codec(form, fields, **words):
    spec = Decode.model_validate({"of": "text", "as": form, "fields": fields, **words})
    found, problems = compile_codec(spec, {})
    assert problems == []
    return found


SIGNAL = codec(
    "delimiter",
    {
        "BIAS": {"type": "choice", "options": ["BULL", "BEAR", "NEUTRAL"]},
        "CONF": {"type": "number", "min": 0, "max": 1},
        "SESSION": {"type": "text", "optional": True},
        "TARGET": {"type": "number", "optional": True},
        "LIVE": {"type": "bool", "optional": True},
        "AT": {"type": "time", "optional": True},
    },
    tag="SIGNAL",
    versions=[1, 2],
)
STATE = codec(
    "json",
    {
        "bias": {"type": "choice", "options": ["bull", "bear"]},
        "confidence": {"type": "number", "min": 0, "max": 1},
        "session": {"type": "text", "optional": True},
        "live": {"type": "bool", "optional": True},
        "at": {"type": "time", "optional": True},
    },
    versions=[1],
)
TAG = codec("pattern", {"ticker": {"type": "text"}}, pattern="SMT - (?P<ticker>.+)")


def test_the_documented_payloads_are_read():
    text = "SIGNAL|V:2|BIAS:BULL|CONF:0.85|SESSION:NY_AM|TARGET:5892.50"
    assert decode(SIGNAL, text) == ("BULL", 0.85, "NY_AM", 5892.5, None, None)
    assert decode(SIGNAL, "SIGNAL|BIAS:BEAR|CONF:1") == ("BEAR", 1, None, None, None, None)
    text = '{"bias":"bull","confidence":0.85,"session":"NY_AM"}'
    assert decode(STATE, text) == ("bull", 0.85, "NY_AM", None, None)
    assert decode(TAG, "SMT - NQ1!") == ("NQ1!",)


@in_one_test(
    ("text", "kind", "path"),
    [
        ("SIGNAL|BIAS:BULL", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:  ", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:NaN", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:1e999", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:0x1", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF: 0.5", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:٣", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:1.01", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:BULL|CONF:-1", "malformed", "fields.CONF"),
        ("SIGNAL|BIAS:bull|CONF:1", "malformed", "fields.BIAS"),
        ("SIGNAL|BIAS:BULL|CONF:1|LIVE:yes", "malformed", "fields.LIVE"),
        ("SIGNAL|BIAS:BULL|CONF:1|AT:1.5", "malformed", "fields.AT"),
        ("SIGNAL|BIAS:BULL|CONF:1|AT:99999999999999999", "malformed", "fields.AT"),
        ("SIGNAL|BIAS:BULL|CONF:1|CONF:1", "malformed", ""),
        ("SIGNAL|BIAS:BULL|conf:1", "malformed", ""),
        ("SIGNAL|BIAS|CONF:1", "malformed", ""),
        ("SIGNAL||CONF:1", "malformed", ""),
        ("signal|BIAS:BULL|CONF:1", "malformed", ""),
        (" SIGNAL|BIAS:BULL|CONF:1", "malformed", ""),
        ("", "malformed", ""),
        ("SIGNAL|BIAS:BULL|CONF:1|MORE:1", "unexpected", ""),
        ("SIGNAL|V:3|BIAS:BULL|CONF:1", "version", ""),
        ("SIGNAL|V:x|BIAS:BULL|CONF:1", "malformed", ""),
        ("SIGNAL|V:|BIAS:BULL|CONF:1", "malformed", ""),
        ("SIGNAL|BIAS:BULL|CONF:1|SESSION:" + "a" * 5000, "malformed", ""),
    ],
)
def test_a_delimited_payload_is_read_strictly(text, kind, path):
    with pytest.raises(ReadingFault) as refused:
        decode(SIGNAL, text)
    assert (refused.value.kind, refused.value.path) == (kind, path)


def test_a_value_may_hold_a_colon():
    assert decode(SIGNAL, "SIGNAL|BIAS:BULL|CONF:1|SESSION:09:30-16:00")[2] == "09:30-16:00"


@in_one_test(
    ("text", "kind"),
    [
        ("[]", "malformed"),
        ("5", "malformed"),
        ("null", "malformed"),
        ("", "malformed"),
        ("{", "malformed"),
        ('{"bias":"bull","bias":"bear","confidence":1}', "malformed"),
        ('{"bias":"bull","confidence":NaN}', "malformed"),
        ('{"bias":"bull","confidence":Infinity}', "malformed"),
        ('{"bias":"bull","confidence":1e999}', "malformed"),
        ('{"bias":"bull","confidence":"0.5"}', "malformed"),
        ('{"bias":"bull","confidence":true}', "malformed"),
        ('{"bias":"bull","confidence":null}', "malformed"),
        ('{"bias":"bull","confidence":[1]}', "malformed"),
        ('{"bias":"BULL","confidence":1}', "malformed"),
        ('{"bias":1,"confidence":1}', "malformed"),
        ('{"bias":"bull","confidence":1,"session":"\\ud800"}', "malformed"),
        ('{"bias":"bull","confidence":1,"live":1}', "malformed"),
        ('{"bias":"bull","confidence":1,"at":1.0}', "malformed"),
        ('{"bias":"bull","confidence":' + "9" * 4000 + "}", "malformed"),
        ('{"bias":' + "[" * 2000, "malformed"),
        ('{"bias":"bull","confidence":1,"x":1}', "unexpected"),
        ('{"v":2,"bias":"bull","confidence":1}', "version"),
        ('{"v":true,"bias":"bull","confidence":1}', "malformed"),
        ('{"v":"1","bias":"bull","confidence":1}', "malformed"),
    ],
)
def test_a_json_payload_is_read_strictly(text, kind):
    with pytest.raises(ReadingFault) as refused:
        decode(STATE, text)
    assert refused.value.kind == kind


TRADE = codec(
    "json",
    {
        "ref": {"type": "text", "key": "id"},
        "lots": {"type": "number", "key": "size"},
        "take_profit": {"type": "number", "key": ["exit", "take-profit"], "optional": True},
        "low": {"type": "number", "key": ["range", 0]},
        "high": {"type": "number", "key": ["range", 1]},
        "fills": {
            "type": "list",
            "fields": {
                "price": {"type": "number"},
                "why": {"type": "text", "key": "text", "optional": True},
            },
        },
        "marks": {"type": "list", "optional": True, "fields": {"at": {"type": "time", "key": []}}},
    },
)
TEXT = '{"id":"x","size":2,"exit":{"take-profit":9.5},"range":[1,4],"fills":[{"price":3},{"price":2,"text":"late"}]}'


def test_a_field_may_have_another_key_and_stand_inside_others():
    values = ("x", 2, 9.5, 1, 4, ((3, None), (2, "late")), ())
    assert decode(TRADE, TEXT) == values
    assert decode(TRADE, TEXT.replace('"exit":{"take-profit":9.5},', "")) == (
        *values[:2], None, *values[3:],
    )  # fmt: skip
    assert decode(TRADE, TEXT[:-1] + ',"marks":[7,5]}')[6] == ((7,), (5,))
    assert decode(TRADE, encode(TRADE, dict(zip(TRADE.fields, values, strict=True)))) == values


@in_one_test(
    ("old", "new", "kind", "path"),
    [
        ('"id"', '"ref"', "unexpected", ""),
        ('"take-profit"', '"take_profit"', "unexpected", ""),
        ('{"take-profit":9.5}', "9.5", "malformed", ""),
        ('{"take-profit":9.5}', "[9.5]", "malformed", ""),
        ("[1,4]", "[1,4,5]", "unexpected", ""),
        ("[1,4]", "[1]", "malformed", "fields.high"),
        ("[1,4]", '{"0":1,"1":4}', "malformed", ""),
        ("[1,4]", "[1,[4]]", "malformed", "fields.high"),
        ('"price":2', '"price":"2"', "malformed", "fields.fills.fields.price"),
        ('"price":2', '"price":NaN', "malformed", ""),
        ('"price":2', '"price":-Infinity', "malformed", ""),
        ('"price":2', '"price":2,"price":3', "malformed", ""),
        ('"price":2', '"price":1e999', "malformed", "fields.fills.fields.price"),
        ('"price":2', '"price":' + "9" * 400, "malformed", "fields.fills.fields.price"),
        ('"price":2', '"price":٢', "malformed", ""),
        ('"price":2', '"price":2,"more":1', "unexpected", "fields.fills"),
        ('{"price":3}', "3", "malformed", "fields.fills"),
        ('{"price":3}', "null", "malformed", "fields.fills.fields.price"),
        ('[{"price":3},{"price":2,"text":"late"}]', "null", "malformed", "fields.fills"),
        ('[{"price":3},{"price":2,"text":"late"}]', '{"price":3}', "malformed", "fields.fills"),
        ('[{"price":3},{"price":2,"text":"late"}]', "[" * 2000, "malformed", ""),
        ('"fills":', '"marks":[' + "1," * 1100 + '1],"fills":', "malformed", "fields.marks"),
    ],
)  # fmt: skip
def test_a_nested_payload_is_read_strictly(old, new, kind, path):
    assert old in TEXT
    with pytest.raises(ReadingFault) as refused:
        decode(TRADE, TEXT.replace(old, new, 1))
    assert (refused.value.kind, refused.value.path) == (kind, path)
    assert len(refused.value.message) < 300


PLAN = codec(
    "delimiter",
    {
        "lots": {"type": "number", "key": "position size"},
        "start": {"type": "text", "key": "from"},
        "STOP": {"type": "number", "format": "1.234,5", "optional": True},
    },
    tag="PLAN",
)
BADGE = codec("pattern", {"line": {"type": "number", "key": "row"}}, pattern="row (?P<row>[0-9]+)")


def test_keys_of_labels_may_be_any_words():
    assert decode(PLAN, "PLAN|position size:3|from:open") == (3, "open", None)
    assert encode(PLAN, {"lots": 3, "start": "open", "STOP": 5874.25}) == (
        "PLAN|position size:3|from:open|STOP:5.874,25"
    )
    assert decode(BADGE, "row 7") == (7,)
    assert encode(BADGE, {"line": 7}) == "row 7"
    for text, kind in (
        ("PLAN|position size:3|from:open|lots:3", "malformed"),
        ("PLAN|position  size:3|from:open", "malformed"),
        ("PLAN|position size:3|from:open|from:close", "malformed"),
        ("PLAN|position size:3|from:open|FROM:close", "unexpected"),
    ):
        with pytest.raises(ReadingFault) as refused:
            decode(PLAN, text)
        assert refused.value.kind == kind


NUMERALS = [
    ("1,234.5", "-12,345,678.90", -12345678.9),
    ("1,234.5", "999", 999),
    ("1.234,5", "5.874,25", 5874.25),
    ("1.234,5", "1.234", 1234),
    ("1 234,5", "5 874,25", 5874.25),
    ("1 234,5", "5\u202f874,25", 5874.25),
    ("1 234.5", "5\u00a0874.25", 5874.25),
    ("1'234.5", "5'874.25", 5874.25),
    ("1234,5", "5874,25", 5874.25),
]


@in_one_test(("form", "text", "value"), NUMERALS)
def test_numbers_are_read_in_the_declared_format(form, text, value):
    localised = codec("pattern", {"a": {"type": "number", "format": form}}, pattern="(?P<a>.+)")
    assert decode(localised, text) == (value,)
    assert decode(localised, encode(localised, {"a": value})) == (value,)
    quoted = codec("json", {"a": {"type": "number", "format": form}})
    assert decode(quoted, json.dumps({"a": text})) == (value,)
    with pytest.raises(ReadingFault):
        decode(quoted, json.dumps({"a": value}))


@in_one_test(
    "text",
    ["1.23,5", "1.2345,5", "12345,6", "1,234.5", "1.234.5", ".234,5", "1.234,", "1..234", "1e3", "+1",
     "--1", "1.234,5 ", "٣", "1.٢٣٤,5", "NaN", "Infinity", "", "1 234,5", "1." + "000." * 900 + "000"],
)  # fmt: skip
def test_a_number_in_another_format_is_refused_rather_than_guessed(text):
    localised = codec("json", {"a": {"type": "number", "format": "1.234,5"}})
    with pytest.raises(ReadingFault) as refused:
        decode(localised, json.dumps({"a": text}))
    assert refused.value.kind == "malformed"


@settings(max_examples=examples(100), deadline=None)
@given(st.floats(-1e15, 1e15), st.sampled_from([form for form, _, _ in NUMERALS]))
def test_a_number_there_and_back_in_any_format_is_the_same(value, form):
    localised = codec("pattern", {"a": {"type": "number", "format": form}}, pattern="(?P<a>.+)")
    try:
        text = encode(localised, {"a": value})
    except PayloadError:
        assert value.is_integer()  # it would come back as a whole number
    else:
        assert decode(localised, text) == (value,)


NUMBERS = st.floats(0, 1, allow_nan=False) | st.integers(0, 1)
TIMES = st.integers(-(2**53), 2**53)
WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.fixed_dictionaries(
        {"BIAS": st.sampled_from(["BULL", "BEAR"]), "CONF": NUMBERS},
        optional={
            "SESSION": WORDS | st.none(),
            "TARGET": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
            "LIVE": st.booleans(),
            "AT": TIMES,
        },
    ),
    st.sampled_from([1, 2]),
)
def test_a_delimited_payload_there_and_back_is_the_same(values, version):
    try:
        text = encode(SIGNAL, values, version)
    except PayloadError:
        word = values.get("SESSION")
        assert word is not None and ("|" in word or not word.strip())
        return
    assert decode(SIGNAL, text) == tuple(values.get(name) for name in SIGNAL.fields)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.fixed_dictionaries(
        {"bias": st.sampled_from(["bull", "bear"]), "confidence": NUMBERS},
        optional={"session": WORDS, "live": st.booleans(), "at": TIMES},
    )
)
def test_a_json_payload_there_and_back_is_the_same(values):
    try:
        text = encode(STATE, values)
    except PayloadError:
        assert not values["session"].strip()
        return
    assert decode(STATE, text) == tuple(values.get(name) for name in STATE.fields)
    assert json.loads(text) == values


BANNER = codec(
    "pattern",
    {"stop": {"type": "number"}, "size": {"type": "number", "optional": True}},
    pattern=r"Stop: (?P<stop>[-0-9.e+]+)\|(?P<size>[0-9]+)? lots",
)


@settings(max_examples=examples(150), deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False), st.none() | st.integers(0, 10**6))
def test_a_pattern_there_and_back_is_the_same(stop, size):
    text = encode(BANNER, {"stop": stop, "size": size})
    assert decode(BANNER, text) == (stop, size)


@settings(max_examples=examples(150), deadline=None)
@given(WORDS)
def test_a_ticker_there_and_back_is_the_same_or_cannot_be_written(ticker):
    try:
        text = encode(TAG, {"ticker": ticker})
    except PayloadError:
        assert ticker.strip() != ticker or not ticker or "\n" in ticker
        return
    assert decode(TAG, text) == (ticker,)


@in_one_test(
    ("values", "message"),
    [
        ({"BIAS": "BULL", "CONF": 2}, "above 1"),
        ({"BIAS": "UP", "CONF": 1}, "is not one of"),
        ({"BIAS": "BULL"}, "missing or blank"),
        ({"BIAS": "BULL", "CONF": 1, "X": 1}, "there is no field 'X'"),
        ({"BIAS": "BULL", "CONF": float("nan")}, "is not a number"),
        ({"BIAS": "BULL", "CONF": "1"}, "read as something else"),
        ({"BIAS": "BULL", "CONF": [1]}, "cannot be written"),
        ({"BIAS": "BULL", "CONF": 1, "SESSION": "a|B:1"}, "unknown key"),
        ({"BIAS": "BULL", "CONF": 1, "SESSION": "a|b"}, "is not KEY:VALUE"),
        ({"BIAS": "BULL", "CONF": 1, "SESSION": ""}, "something else"),
    ],
)
def test_what_could_not_be_read_is_not_written(values, message):
    with pytest.raises(PayloadError, match=message.replace("|", r"\|")):
        encode(SIGNAL, values)
    with pytest.raises(PayloadError, match="version 7"):
        encode(SIGNAL, {"BIAS": "BULL", "CONF": 1}, 7)


@in_one_test("pattern", ["(?P<ticker>.+) ?", "a|(?P<ticker>.+)", "[ab](?P<ticker>.+)"])
def test_a_pattern_that_stands_for_several_texts_cannot_be_written(pattern):
    with pytest.raises(PayloadError):
        encode(codec("pattern", {"ticker": {"type": "text"}}, pattern=pattern), {"ticker": "NQ"})


DECODE = """\
config: {rule: {type: pattern, default: null}, word: {type: text, default: a}}
channels: {labels: signal}
elements: {tag: {from: labels, decode: {of: text, %s}}}
output: {tags: "len([t for t in tag])"}
"""


@in_one_test(
    ("words", "message"),
    [
        ("as: xml, fields: {a: {type: text}}", "'xml' is not known here"),
        ("as: json, fields: {}", "a payload has fields"),
        ("as: json, tag: S, fields: {a: {type: text}}", "tag does not belong to json"),
        ("as: json, pattern: a, fields: {a: {type: text}}", "pattern does not belong to json"),
        ("as: json, fields: {v: {type: text}}", "v carries the version"),
        ("as: json, fields: {a: {type: choice}}", "a choice has them"),
        ("as: json, fields: {a: {type: text, min: 1}}", "a text has no min or max"),
        ("as: delimiter, fields: {A: {type: text}}", "begins with a tag"),
        ("as: delimiter, tag: 'S|', fields: {A: {type: text}}", "begins with a tag"),
        ("as: delimiter, tag: S, fields: {a: {type: text}}", "'a' is not a key"),
        ("as: delimiter, tag: S, fields: {V: {type: text}}", "V carries the version"),
        ("as: delimiter, tag: S, fields: {a: {type: text, key: V}}", "a carries the version"),
        ("as: delimiter, tag: S, fields: {a: {type: text, key: 'b:c'}}", "is not a key"),
        ("as: delimiter, tag: S, fields: {a: {type: text, key: [b, c]}}", "has no places inside"),
        (
            "as: delimiter, tag: S, fields: {a: {type: list, key: A, fields: {b: {type: text}}}}",
            "holds no lists",
        ),
        ("as: json, fields: {a: {type: text, key: []}}", "only the entry of a list"),
        ("as: json, fields: {a: {type: text, key: [v, x]}}", "a carries the version"),
        ("as: json, fields: {a: {type: text, key: [b, -1]}}", "is not a place in an array"),
        ("as: json, fields: {a: {type: text, key: [b, 1.5]}}", "is not the key of a field"),
        ("as: json, fields: {a: {type: text, key: true}}", "is not the key of a field"),
        ("as: json, fields: {a: {type: text, key: ''}}", "is not the key of a field"),
        (
            "as: json, fields: {a: {type: text}, b: {type: text, key: a}}",
            "where another field does",
        ),
        (
            "as: json, fields: {a: {type: text}, b: {type: text, key: [a, x]}}",
            "where another field does",
        ),
        (
            "as: json, fields: {b: {type: text, key: [a, x]}, a: {type: text}}",
            "where another field does",
        ),
        (
            "as: json, fields: {b: {type: text, key: [a, x]}, c: {type: text, key: [a, 0]}}",
            "where another field does",
        ),
        ("as: json, fields: {a: {type: list}}", "a list has them"),
        (
            "as: json, fields: {a: {type: text, fields: {b: {type: text}}}}",
            "fields belong to a list",
        ),
        (
            "as: json, fields: {a: {type: list, fields: {b: {type: list, fields: {c: {type: text}}}}}}",
            "a list stands in a list",
        ),
        ("as: json, fields: {a: {type: text, format: '1,234.5'}}", "a text has no format"),
        ("as: json, fields: {a: {type: number, format: '#.#'}}", "is not known here"),
        (
            "as: delimiter, tag: S, fields: {A: {type: choice, options: ['x|y']}}",
            "cannot be written",
        ),
        ("as: pattern, fields: {a: {type: text}}", "pattern is missing"),
        ("as: pattern, pattern: '(', fields: {a: {type: text}}", "is not a pattern"),
        (
            "as: pattern, pattern: 'x', fields: {a: {type: text}}",
            "has the groups none, the fields are a",
        ),
        ("as: pattern, pattern: '(?P<b>.)', fields: {a: {type: text}}", "has the groups b"),
        ("as: pattern, pattern: word, fields: {a: {type: text}}", "word is not a pattern"),
        ("as: pattern, pattern: rule, versions: [1], fields: {a: {type: text}}", "does not belong"),
    ],
)
def test_a_payload_is_declared_soundly(words, message):
    assert message in told(DECODE % words)


def test_any_text_is_decoded_or_refused():
    @settings(max_examples=examples(300), deadline=None)
    @given(
        st.text(string.printable + "é\ud800", max_size=30), st.sampled_from([SIGNAL, STATE, TAG])
    )
    def check(text, form):
        for each in (text, "SIGNAL|" + text, "{" + text, "SMT - " + text):
            try:
                assert len(decode(form, each)) == len(form.fields)
            except ReadingFault as refused:
                assert refused.kind in ("malformed", "unexpected", "version")

    check()
