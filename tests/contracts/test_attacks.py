"""Contract text, settings and snapshots as an attacker writes them: refused, and cheaply."""

# ruff: noqa: E501  (contracts in one line each)

import json
import time
import tracemalloc

import drawings as draw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import contract_text, make, problems, reading, state, told
from tests.cases import in_one_test
from tests.effort import examples

import chartpact as cp
from chartpact import didyoumean, pacts
from chartpact.contracts import ContractError, load
from chartpact.contracts.language.codecs import MEMORY, Pattern
from chartpact.contracts.language.document import MAX_BYTES, describe, parse
from chartpact.contracts.reading.bind import _bound as bounded
from chartpact.contracts.reading.bind import bind
from chartpact.snapshot import SnapshotError

BOMB = "a: &a [x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefg", "bcdefgh", strict=True)
)


@in_one_test(
    ("text", "told"),
    [
        (BOMB, "is an anchor"),
        ("a: *b", "is an alias"),
        ("<<: {a: 1}\n<<: {b: 2}", "'<<' is there twice"),
        ("a: !!python/object/apply:os.system ['true']", "is a tag"),
        ("a: !!str 1", "is a tag"),
        ("!x\na: 1", "is a tag"),
        ("%YAML 1.1\n---\na: 1", "a directive"),
        ("%TAG ! tag:x,2000:\n---\na: 1", "a directive"),
        ("a: 1\n---\nb: 2", "a second document"),
        ("a: 1\na: 2", "'a' is there twice"),
        ("{a: 1, a: 2}", "'a' is there twice"),
        ("? [a, b]\n: c", "a key is a list or a mapping"),
        ("? {a: b}\n: c", "a key is a list or a mapping"),
        ("[" * 60_000, "nested too deeply"),
        ("{a: " * 12_000, "nested too deeply"),
        ("- " * 30_000, "nested too deeply"),
        ("a:\n" + "".join(" " * n + "a:\n" for n in range(1, 300)), "nested too deeply"),
        ("x" * (MAX_BYTES + 1), "are too many"),
        ("a: " + "1" * 5000, "too long a number"),
        ("a: 1e999", "not a finite number"),
        ("a: -1e999", "not a finite number"),
        ("a:", "nothing stands here"),
        ("", "there is nothing here"),
        ("# only a comment", "there is nothing here"),
        ("a: 'b", "not YAML"),
        ("\ta: b", "not YAML"),
        ("a: b: c", "not YAML"),
        ("a: \x00", "not YAML"),
        ("a: \ud800", "not a text in UTF-8"),
        ("- a\n- b", "is not a contract"),
        ("just a text", "is not a contract"),
        ("5", "is not a contract"),
    ],
)
def test_a_document_that_is_no_plain_json_is_refused(text, told):
    with pytest.raises(ContractError) as refused:
        load(text)
    assert told in str(refused.value)


def test_bytes_that_are_no_text_are_refused():
    for data in (b"\xff\xfe\x00", b"contract: \xe9", b"\x80" * 100):
        with pytest.raises(ContractError):
            load(data)


def test_scalars_are_those_of_json_and_everything_else_is_a_text():
    text = (
        "a: no\nb: 20:00\nc: 0x10\nd: 1_000\ne: ~\nf: Null\ng: TRUE\nh: .5\ni: 010\nj: +1\n"
        "k: 2001-01-01\nl: .inf\nm: null\nn: true\no: -1.5e3\np: 0\nq: '1'\nr: \"#fff\"\ns: 1.\n"
    )
    assert parse(text).plain() == {
        "a": "no", "b": "20:00", "c": "0x10", "d": "1_000", "e": "~", "f": "Null", "g": "TRUE",
        "h": ".5", "i": "010", "j": "+1", "k": "2001-01-01", "l": ".inf", "m": None, "n": True,
        "o": -1500.0, "p": 0, "q": "1", "r": "#fff", "s": "1.",
    }  # fmt: skip


def test_reading_a_document_takes_memory_in_proportion_to_its_size():
    text = "a: [" + ", ".join(["1"] * 4_000) + "]"
    tracemalloc.start()
    parse(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12_000_000
    with pytest.raises(ContractError, match="too many values"):
        parse("a: [" + ", ".join(["1"] * 21_000) + "]")


PATTERNS = [
    "(a+)+$", "(a|a)*$", "(.*)*x", "(" * 200 + "a" + ")" * 200, "a{1000}{1000}", "(a{1000}){1000}",
    "[a-z]{900}" * 50, ".*" * 400, "(?:(?:(?:a?){50}){50}){50}",
]  # fmt: skip


@in_one_test("pattern", PATTERNS, ids=range(len(PATTERNS)))
def test_catastrophic_patterns_are_refused_or_run_in_linear_time(pattern):
    text = """\
    config: {rule: {type: pattern}}
    channels: {labels: signal}
    elements: {tag: {from: labels, where: "matches(text, rule)"}, rest: {from: labels, where: "not matches(text, rule)", ignore: x}}
    output: {tags: "len([t for t in tag])"}
    """
    labels = [draw.label(n, 1.0, "a" * (4000 + n % 90) + "!") for n in range(100)]
    found = reading(text, config={"rule": pattern}, labels=labels)
    kinds = {each.kind for each in found.violations}
    assert found.ok or kinds in ({"config"}, {"unavailable"})


MATCHING = """\
config: {rule: {type: pattern}}
channels: {cells: signal, labels: signal}
elements:
  cell: {from: cells, where: "matches(text, rule)"}
  other: {from: cells, where: "not matches(text, rule)", ignore: x}
  tag: {from: labels, decode: {of: text, as: pattern, pattern: "(?P<word>.*)", fields: {word: {type: text}}}}
output: {cells: "len([c for c in cell])", tags: "len([t for t in tag])"}
"""
SLOW = "(?:.*(?:a|b).{400}){2}"  # about 40 ms for a text of 4 000 characters


def test_patterns_count_against_the_budget():
    cells = [draw.cell(n, "ab" * 2000 + str(n)) for n in range(60)]
    before = time.process_time()
    found = reading(MATCHING, config={"rule": SLOW}, cells=cells)
    assert time.process_time() - before < 1
    assert [(v.kind, v.path) for v in found.violations] == [("unavailable", "channels.cells")]
    assert "more than can be read at once" in found.violations[0].message
    assert state(MATCHING, config={"rule": SLOW}, cells=[draw.cell(1, "a")])["cells"] == 0
    assert state(MATCHING, config={"rule": "[a-z0-9]*"}, cells=cells)["cells"] == 60


def test_the_cost_of_a_pattern_is_the_size_of_its_automaton_times_its_groups_and_the_text():
    plain, slow = (Pattern(text).cost for text in ("SMT - (?P<ticker>.+)", SLOW))
    assert plain < 1
    assert 100 < slow < Pattern(f"({SLOW})").cost
    bound = bind(make(MATCHING), {"rule": SLOW, "tick_size": None})
    assert bound.text_costs["cells"] == 2 * slow
    assert bound.text_costs["labels"] == Pattern("(?P<word>.*)").cost


def test_many_labels_with_a_simple_pattern_are_read_and_with_a_slow_one_refused():
    labels = [draw.label(n, 1.0, f"a{n}") for n in range(20_000)]
    simple = MATCHING.replace("(?P<word>.*)", "a(?P<word>[0-9]+)")
    assert state(simple, config={"rule": "x"}, labels=labels)["tags"] == 20_000
    slow = MATCHING.replace("(?P<word>.*)", f"(?P<word>{SLOW}|.*)")
    found = reading(slow, config={"rule": "x"}, labels=labels)
    assert [(v.kind, v.path) for v in found.violations] == [("unavailable", "channels.labels")]


def test_what_is_cached_is_bounded_in_bytes():
    contracts = "".join(
        f"  e{n}: {{from: labels, where: \"matches(text, 'x{n}.*')\"}}\n" for n in range(40)
    )
    counts = ", ".join(f'n{n}: "len([e for e in e{n}])"' for n in range(40))
    contract = make(
        f"config: {{word: {{type: text}}}}\nchannels: {{labels: signal}}\nelements:\n{contracts}output: {{{counts}, word: word}}\n"
    )
    weights = [bind(contract, {"word": f"w{n}", "tick_size": None}).weight for n in range(8)]
    assert min(weights) >= 40 * MEMORY
    assert bounded._weight <= 64 << 20 < sum(weights)
    assert contract.weight >= 64 * len(contract.text)


def test_a_memo_of_texts_starts_anew_before_it_is_large():
    pattern = Pattern("(?P<a>.*)")
    for n in range(3_000):
        pattern.groups_in[f"{n:04}" * 200]
    assert 0 < len(pattern.groups_in) < 100


def test_problems_are_listed_up_to_a_hundred_each_of_a_bounded_length():
    elements = ", ".join(f"e{n}: {{from: lines, what: x}}" for n in range(300))
    text = f"channels: {{lines: signal}}\nelements: {{{elements}, {'y' * 900}: {{}}}}\noutput: {{a: 1}}\n"
    found = problems(text)
    assert len(found) == 101 and "no more than 100" in found[-1].message
    assert max(len(describe(problem)) for problem in found) < 2_000


def test_what_is_echoed_of_a_picture_is_bounded():
    text = """\
    channels: {labels: signal}
    elements: {tag: {from: labels, count: 0..1}, rest: {from: labels, where: y == 2, ignore: x}}
    output: {tag: tag.text}
    """
    labels = [{**draw.label(n, 1.0, "z" * 4000), "more": ["w" * 4000] * 500} for n in range(900)]
    found = reading(text, labels=labels)
    (violation,) = found.violations
    assert violation.kind == "duplicate" and len(violation.objects) == 100
    assert len(json.dumps(found.to_json())) < 1_000_000
    unclaimed = reading(
        text.replace("{from: labels, count: 0..1}", "{from: labels, where: y == 3, count: 0..1}"),
        labels=labels,
    )
    shown = [each.get("object") for each in unclaimed.to_json()["violations"]]
    assert len(shown) == 200
    assert len(json.dumps(unclaimed.to_json())) < 8_000_000


@in_one_test("pattern", ["(?=a)b", "(a)\\1", "(?<!a)b", "(", "a**", "\ud800", "[", "x" * 1001])
def test_patterns_that_re2_does_not_know_are_refused(pattern):
    text = """\
    config: {rule: {type: pattern}}
    channels: {labels: informational}
    elements: {tag: {from: labels, where: "matches(text, rule)"}}
    output: {tags: "len([t for t in tag])"}
    """
    found = reading(text, config={"rule": pattern})
    assert [(v.kind, v.path) for v in found.violations] == [("config", "config.rule")]


def test_a_configured_pattern_must_have_the_groups_of_the_fields():
    asked = {"atr_pattern": "Stop (?P<stop>.*)"}
    snapshot = draw.snapshot(draw.ob())
    found = cp.read("ob_ai", snapshot, asked)
    assert [(v.kind, v.path) for v in found.violations] == [("config", "config.atr_pattern")]
    assert "the pattern has the groups stop" in found.violations[0].message


NAMES = [
    "__class__", "_x", "é", "a-b", "a b", "", "1a", "None", "class", "lambda", "true", "chart",
    "x" * 65, "a\n", "import", "§", "⟨lines.y1⟩",
]  # fmt: skip


@in_one_test("name", NAMES)
def test_names_that_could_mean_something_else_are_refused(name):
    quoted = json.dumps(name)
    for text in (
        f"""\
        channels: {{lines: signal}}
        elements: {{{quoted}: {{from: lines}}}}
        output: {{a: "len([l for l in lines])"}}
        """,
        f"""\
        config: {{{quoted}: {{type: text}}}}
        channels: {{lines: signal}}
        elements: {{line: {{from: lines}}}}
        output: {{a: "len([l for l in line])"}}
        """,
        f"""\
        channels: {{lines: signal}}
        elements: {{line: {{from: lines, reads: {{{quoted}: y1}}}}}}
        output: {{a: "len([l for l in line])"}}
        """,
    ):
        assert told(text) != ""


def test_texts_of_a_contract_never_become_code():
    text = """\
    config: {word: {type: choice, options: ["'); raise SystemExit(('", "§", "⟨lines.y1⟩", "{}"], default: "§"}}
    channels: {labels: signal, lines: signal}
    encodings: {look: {a: "'+x+'", b: "§[0]", c: "\\\\", d: "\\"\\"\\"", e: "\\n"}}
    elements:
      tag: {from: labels, where: "text == '§' or text == '⟨lines.y1⟩' or text == word or text == '\\\\\\\\n'"}
      line: {from: lines, reads: {thin: width == 1}}
    output: {tags: "len([t for t in tag])", lines: "len([l for l in line])", word: word}
    """
    labels = [draw.label(1, 1.0, each) for each in ("§", "⟨lines.y1⟩", "\\n")]
    found = reading(text, labels=labels)
    assert found.state == {"tags": 3, "lines": 0, "word": "§"}
    hostile = "'); raise SystemExit(('"
    found = reading(text, labels=labels[:2], config={"word": hostile})
    assert found.state == {"tags": 2, "lines": 0, "word": hostile}


def test_generated_code_has_no_way_out():
    from chartpact.contracts.reading.bind import bind

    contract = make(
        "channels: {lines: signal}\n"
        "elements: {line: {from: lines}}\noutput: {a: 'len([l for l in line])'}\n"
    )
    for function in bind(contract, {"tick_size": None}).functions.values():
        assert set(function.__globals__["__builtins__"]) == {
            "abs", "min", "max", "len", "any", "all", "zip", "enumerate",
        }  # fmt: skip


def test_many_large_machines_are_refused_before_they_are_listed():
    observe = ", ".join(f"o{n}: a.width == {n}" for n in range(16))
    machines = "\n".join(
        f"  m{n}: {{observe: {{{observe}}}, rows: {{A: {{when: {{}}}}}}, initial: A}}"
        for n in range(100)
    )
    text = f"channels: {{lines: signal}}\nelements: {{a: {{from: lines, count: 1}}}}\nstates:\n{machines}\noutput: {{a: a.y1}}\n"
    assert len(text) < MAX_BYTES
    assert "combinations of observations are too many to list" in told(text)


def test_expressions_at_their_caps_load_and_run():
    terms = " + ".join(["y1"] * 100)
    reads = ", ".join(f"r{n}: {terms}" for n in range(60))
    text = f"""\
    channels: {{lines: signal}}
    elements: {{line: {{from: lines, count: 1, reads: {{{reads}}}}}}}
    output: {{a: line.r0, b: line.r59}}
    """
    drawn = draw.line(1, 1.0, "#ff0000")
    assert reading(text, lines=[drawn]).state == {"a": 100.0, "b": 100.0}


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
EXAMPLES = {
    name: [
        json.loads(path.read_text())
        for path in sorted((pacts.folder(name) / "examples").glob("*.json"))[:6]
    ]
    for name in pacts.names()
}


@settings(max_examples=examples(300), deadline=None)
@given(st.data(), st.sampled_from(sorted(EXAMPLES)), TREES)
def test_no_snapshot_however_damaged_makes_a_reading_crash(data, name, junk):
    example = json.loads(json.dumps(data.draw(st.sampled_from(EXAMPLES[name]))))
    node, steps = example["snapshot"], 0
    while isinstance(node, dict | list) and node and steps < 8:
        key = data.draw(
            st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node)))
        )
        if data.draw(st.integers(0, 3)) == 0 or not isinstance(node[key], dict | list):
            node[key] = junk
            break
        node, steps = node[key], steps + 1
    try:
        found = cp.read(name, example["snapshot"], example.get("config"), example.get("profile"))
    except SnapshotError as refused:
        assert str(refused)
    else:
        json.dumps(found.to_json(), allow_nan=False)
        assert (found.state is None) == bool(found.violations)


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(sorted(EXAMPLES)), st.dictionaries(st.text(max_size=6), TREES), st.data())
def test_no_setting_however_strange_makes_a_reading_crash(name, strange, data):
    example = data.draw(st.sampled_from(EXAMPLES[name]))
    known = list(pacts_config(name))
    given_config = {**strange, data.draw(st.sampled_from(known)): data.draw(TREES)}
    found = cp.read(name, example["snapshot"], given_config, data.draw(st.none() | st.text()))
    json.dumps(found.to_json(), allow_nan=False)


def pacts_config(name):
    from chartpact.contracts import find

    return find(name).keys


WORDS = st.sampled_from(
    "contract version identity pine_title channels elements states output from where lines labels "
    "signal count group newest parts highest reads decode of as json fields attach within key "
    "ignore observe rows when give violation initial transitions gone each sort split true none "
    "'a' y1 x1 [ ] { } : , - | > & * ! ? % @ # 1 0..1 \n".split(" ")
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(WORDS, max_size=40), st.booleans())
def test_any_text_is_a_contract_or_refused_with_reasons(words, headed):
    text = " ".join(words)
    try:
        load(contract_text(text) if headed else text)
    except ContractError as refused:
        assert refused.problems


@settings(max_examples=examples(120), deadline=None)
@given(st.data())
def test_a_shipped_contract_with_a_line_damaged_loads_or_is_refused(data):
    name = data.draw(st.sampled_from(pacts.names()))
    text = (pacts.folder(name) / "contract.yaml").read_text()
    lines = text.splitlines()
    at = data.draw(st.integers(0, len(lines) - 1))
    how = data.draw(st.integers(0, 3))
    if how == 0:
        del lines[at]
    elif how == 1:
        cut = data.draw(st.integers(0, len(lines[at])))
        lines[at] = lines[at][:cut]
    elif how == 2:
        words = lines[at].split(" ")
        words[data.draw(st.integers(0, len(words) - 1))] = data.draw(WORDS)
        lines[at] = " ".join(words)
    else:
        lines.insert(at, lines[data.draw(st.integers(0, len(lines) - 1))])
    try:
        load("\n".join(lines))
    except ContractError as refused:
        assert refused.problems


LABELS = "channels: {labels: signal}\n"
LONG = "n" * 60


def numbered(line: str, count: int) -> str:
    return "".join(line.replace("@", f"{n:03}") for n in range(count))


@in_one_test(
    ("text", "told"),
    [
        ("elements: {a: {from: b}, b: {from: a}, c: {from: a}}", "nor an earlier element"),
        ("elements: {labels: {from: labels}, c: {from: labels}}", "a field of labels already"),
        ("elements:\n" + numbered("  e@: {from: labels}\n", 500), "500 elements are too many"),
        (
            "elements:\n  a: {from: labels}\n"
            + "".join(f"  {'a' * n}: {{from: {'a' * (n - 1)}}}\n" for n in range(2, 40)),
            "too many views look at each other",
        ),
    ],
)
def test_elements_that_refer_to_each_other_without_end_are_refused(text, told):
    found = problems(f"{LABELS}{text}\noutput: {{a: 1}}\n")
    assert any(told in problem.message for problem in found)


def test_hints_are_thought_of_for_no_more_problems_than_are_listed(monkeypatch):
    asked: list[str] = []
    near = didyoumean.get_close_matches
    monkeypatch.setattr(
        didyoumean,
        "get_close_matches",
        lambda word, known, *most: asked.append(word) or near(word, known[:1], *most),
    )
    elements = "elements:\n" + numbered(f"  {LONG}@: {{from: labels, count: 0..1}}\n", 200)
    outputs = ", ".join(f"o{n}: {LONG}{n:03}x" for n in range(450))
    assert len(problems(f"{LABELS}{elements}output: {{{outputs}}}\n")) == 101
    assert 0 < len(asked) <= 101
    asked.clear()
    unknown = numbered("u@: 1\n", 900)
    assert (
        len(problems(f"{LABELS}elements: {{a: {{from: labels}}}}\noutput: {{a: 1}}\n{unknown}"))
        == 101
    )
    assert 0 < len(asked) <= 101


@in_one_test("number", ["9" * 400, "0x" + "f" * 400, f"-{'9' * 400}", f"1.5 * {'9' * 900}"])
def test_a_number_without_end_is_refused(number):
    elements = "elements: {a: {from: labels, count: 0..1}}\n"
    found = problems(f"{LABELS}{elements}output: {{a: '{number}'}}\n")
    assert any("this number is too large" in problem.message for problem in found)
