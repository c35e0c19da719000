"""Expressions: what they may say, what they mean, and what is told about the others."""

import drawings as draw
from small import problems, reading, refused, state, told
from tests.cases import in_one_test


def wrong(expression, where="output"):
    """What is told about an expression over one line that may be absent, and a config."""
    quoted = '"' + expression.replace("\\", "\\\\").replace('"', '\\"') + '"'
    text = f"""\
    config:
      tick_size: {{type: number, default: 0.25}}
      limit: {{type: number, default: null}}
      paint: {{type: color, default: null}}
      other: {{type: color, default: null}}
      shape: {{type: choice, options: [solid, dashed], default: solid}}
      rule: {{type: pattern, default: null}}
    channels: {{lines: signal, labels: signal}}
    encodings: {{look: {{none: none, blue: "#2962ff"}}}}
    elements:
      level:
        from: lines
        count: 0..1
        where: {quoted if where == "where" else "true"}
        reads: {{half: {quoted if where == "reads" else "y1 / 2"}}}
      tag: {{from: labels}}
    output:
      value: {quoted if where == "output" else "level.half"}
      tags: len([t for t in tag])
      level: level.half
    """
    return told(text)


@in_one_test(
    ("expression", "message"),
    [
        ("level.stlye", "level has no 'stlye' (did you mean 'style'?)"),
        ("levle.y1", "'levle' is not known here (did you mean 'level'?)"),
        ("tag.text", "'tag' may occur several times"),
        ("level", "an element, or none is not a JSON value"),
        ("level.x1", "an anchor, or none is not a JSON value"),
        ("[t.text for t in tag]", "a list, each a text is not a JSON value"),
        ("level.y1 + 1", "level.y1 may be none here"),
        ("limit + 1", "limit may be none here (ask first: limit != none and …)"),
        ("level.y1 > 1", "level.y1 may be none here"),
        ("abs(level.y1)", "level.y1 may be none here"),
        ("level.y1 > 1 if level else 'x' > 1", "> does not compare them"),
        ("level.style == 'sold'", "never equal (did you mean 'solid'?)"),
        ("level.style in ['solid', 'doted']", "never equal"),
        ("level.style != 'sold'", "never equal"),
        ("shape == 'dotted'", "never equal"),
        ("level.color == paint", "may both be none, and none would equal none"),
        ("level.color in [paint, other]", "may both be none"),
        ("level.color == 'blue'", "'blue' is not a colour (write '#rrggbb')"),
        ("level.y1 == 'a'", "never equal"),
        ("1 == 2", "two constants are compared"),
        ("shape == none", "shape is never none"),
        ("tick_size != none", "tick_size is never none"),
        ("none == none", "none is never none"),
        ("level.y1 == 1 == 2", "one at a time"),
        ("level.y1 is none", "`is` is not known here (write == or !=)"),
        ("None", "None is not known here (write none)"),
        ("True", "True is not known here (write true)"),
        ("1 if level else 'a'", "one side is a number, the other 'a'"),
        ("1 if tick_size else 2", "tick_size is always there"),
        ("1 if 'a' else 2", "is neither true nor false"),
        ("not 1", "is neither true nor false"),
        ("'a' + 'b'", "not a number"),
        ("2 ** 3", "use + - * /"),
        ("2 % 3", "use + - * /"),
        ("2 // 3", "use + - * /"),
        ("lambda: 1", "a function cannot be made here"),
        ("level['y1']", "[ ] picks nothing here"),
        ("[1, 2]", "a list stands only after `in`"),
        ("{'a': 1}", "a mapping has no place here"),
        ("(1, 2)", "a tuple has no place here"),
        ("f'{level}'", "a text cannot begin with 'f'"),
        ("1 if level.y1 in level else 2", "`in` is followed by a list"),
        ("1 if level.y1 in [] else 2", "`in` is followed by a list"),
        ("1 if paint in [none] else 2", "none cannot stand in a list"),
        ("abs(1, 2)", "abs takes 1 values, not 2"),
        ("mean(1)", "mean takes at least 2 values, not 1"),
        ("max(1, 'a')", "max takes numbers"),
        ("abs(x=1)", "abs takes plain arguments"),
        ("abs(*[1])", "abs takes plain arguments"),
        ("sqrt(2)", "there is no function 'sqrt'"),
        ("level.y1.bit_length()", "only functions of the language are called"),
        ("look(level.color)", "called in reads only"),
        ("look", "'look' is an encoding (call it: look(field))"),
        ("alpha(level.y1)", "alpha takes a colour"),
        ("alpha(level.color)", "may be none here"),
        ("chart.price", "the chart has no 'price'"),
        ("chart", "the chart has no"),
        ("len(tag)", "len takes a list"),
        ("len([t for t in tag], 1)", "len takes one list"),
        ("any([t.text for t in tag])", "takes a list of conditions, each here is a text"),
        ("any(t.text == 'a' for t in tag)", "write any([e for v in element])"),
        (
            "only([t for t in tag])",
            "only takes values that can be compared, each here is an element",
        ),
        ("len([len([u for u in tag]) for t in tag])", "a list stands in a list"),
        ("len([t for t in tag for u in tag])", "one `for` and one `if`"),
        ("len([t for t in tag if t.y if t.y])", "one `for` and one `if`"),
        ("len([t for t in lines])", "a list runs over an element"),
        ("len([t for t in [1]])", "a list runs over an element"),
        ("len([level for level in tag])", "'level' has a meaning already"),
        ("len([look for look in tag])", "'look' has a meaning already"),
        ("len([none for none in tag])", ""),
        ("level.x1.day", "an anchor has bar and time"),
        ("level.y1.bar", "it has no 'bar'"),
        ("matches(shape, tick_size)", "not a pattern"),
        ("matches(shape, rule)", "rule may be none here"),
        ("matches(shape, '(a')", "is not a pattern"),
        ("matches(shape, '(?=a)')", "is not a pattern"),
        ("matches(shape, r'(a)\\1')", "is not a pattern"),
        ("starts_with(1, 'a')", "not a text"),
        ("1 +", "invalid syntax"),
        ("import os", "invalid syntax"),
        ("1_000", "is not a number"),
        ("__import__('os')", "there is no function '__import__'"),
        ("level.__class__", "level has no '__class__'"),
        ("().__class__", "a dot follows a name"),
        ("near(1, 2) + 1", "not a number"),
        ("chart.as_of * 2", "a time does not go with *"),
        ("-chart.as_of", "not a number"),
        ("chart.as_of == 5", "never equal"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_would_be_right(expression, message):
    found = wrong(expression)
    assert message in found
    assert "line 21: output.value: " in found


def test_the_fields_of_an_object_are_known_by_their_kinds():
    text = """\
    channels: {labels: signal}
    elements:
      tag: {from: labels, where: "%s"}
    output: {tags: "len([t for t in tag])"}
    """
    fine = ["y != none and y > 1", "size == 'points'", "not force_overlay", "yloc == 'price'",
            "color == '#FF0000' or color == none", "x.bar > 3", "text == 'a' and text != 'b'",
            "alpha(color) > alpha('#ff000080')", "x.time == chart.last_time",
            "style in ['none']"]  # fmt: skip
    for expression in fine:
        assert told(text % expression) == "", expression
    assert "y may be none here" in told(text % "y > 1")
    assert "'id' is not known here" in told(text % "id == 1")
    assert "x is always there" in told(text % "x")


@in_one_test(
    "expression",
    [
        "level and level.y1 > 1",
        "not level or level.y1 > 1",
        "level == none or level.y1 > 1",
        "level != none and level.y1 > 1",
        "(level.y1 > 1) if level else false",
        "level and (limit == none or level.y1 > limit)",
        "limit != none and level.y1 == 1 and level.y1 > limit",
        "not (level == none or limit == none) and level.y1 > limit",
        "level.color != none and paint != none and level.color == paint",
        "level.style == 'solid' and level.y1 > 1",
        "level.style in ['solid'] and level.y1 > 1",
        "not (level.style != 'solid') and level.y1 > 1",
        "level.style not in ['solid', 'dashed'] or level.y1 > 1",
        "level.y1 == 5",
        "rule and matches(shape, rule)",
        "level and (limit and level.y1 > limit)",
    ],
)
def test_what_was_asked_for_is_known_to_be_there(expression):
    assert wrong(expression) == ""


@in_one_test(
    "expression",
    [
        "level or level.y1 > 1",
        "not level and level.y1 > 1",
        "(level and limit) or level.y1 > limit",
        "limit == none and 1 > limit",
        "level.style != 'solid' and level.y1 > 1",
        "(1 > limit) if not limit else false",
        "not (level and limit) and level.y1 > limit",
    ],
)
def test_what_was_not_asked_for_may_be_none(expression):
    assert "may be none here" in wrong(expression)


def test_an_element_with_the_longest_name_is_known_to_be_there_when_asked_for():
    name = "level_" + "x" * 58
    text = f"""\
    channels: {{lines: signal}}
    elements: {{{name}: {{from: lines, count: 0..1}}}}
    output: {{value: "{name}.y1 + 1 if {name} else 0"}}
    """
    assert state(text, lines=[draw.line(100, 10.0, "#2962ff")]) == {"value": 11.0}
    assert state(text) == {"value": 0}


def test_lists_stand_only_where_an_expression_runs_once():
    found = wrong("len([t for t in tag]) > 1", "where")
    assert "a list has no place here" in found
    assert "a list has no place here" in wrong("len([t for t in level])", "reads")


VALUES = """\
config:
  tick_size: {type: number, from: chart.tick_size}
  word: {type: text, default: abc}
  paint: {type: color, default: "#11223344"}
channels: {lines: signal}
elements:
  level: {from: lines, count: 1}
  other: {from: level, count: 0..1, where: y1 > 1000}
output: {value: "%s", far: other.y1}
"""


def value(expression, **line):
    drawn = draw.line(100, 10.0, "#2962ff", alpha="80")
    return state(VALUES % expression, lines=[{**drawn, **line}])["value"]


@in_one_test(
    ("expression", "expected"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("-level.y1", -10.0),
        ("--1 - -1", 2),
        ("abs(-3)", 3),
        ("min(3, 1, 2)", 1),
        ("max(3, 1, 2)", 3),
        ("mean(1, 2, 6)", 3),
        ("near(level.y1, 10.125)", True),
        ("near(level.y1, 10.1251)", False),
        ("round_to_tick(10.12)", 10.0),
        ("round_to_tick(10.125)", 10.25),
        ("round_to_tick(-10.125)", -10.0),
        ("level.style", "solid"),
        ("level.color", "#2962ff"),
        ("alpha(level.color)", 128),
        ("alpha(paint)", 0x44),
        ("alpha('#000000')", 255),
        ("alpha(paint if word == 'abc' else level.color)", 0x44),
        ("level.x1.bar", 100),
        ("level.x1.time", draw.START + 100 * draw.STEP),
        ("level.x2.time - level.x1.time", 20 * draw.STEP),
        ("chart.last_bar - level.x1.bar", 300),
        ("chart.last_bar", 400),
        ("chart.symbol", "ES1!"),
        ("chart.as_of > chart.last_time", True),
        ("level.horizontal", True),
        ("level.vertical", False),
        ("level.x1 < level.x2", True),
        ("level.x1 == level.x1", True),
        ("level.x1 in [level.x2, level.x1]", True),
        ("starts_with(word, 'ab')", True),
        ("matches(word, 'a.c')", True),
        ("matches(word, 'a')", False),
        ("other", None),
        ("other.y1", None),
        ("other.y1 == 5", False),
        ("other.y1 != 5", True),
        ("other.style in ['solid']", False),
        ("other.style not in ['solid']", True),
        ("other == none", True),
        ("none", None),
        ("'a' if other else 'b'", "b"),
        ("other.x1.bar if other else none", None),
        ("level.y1 == 10 and not level.vertical", True),
        ("len([l for l in level])", 1),
        ("any([l.y1 > 5 for l in level])", True),
        ("all([l.y1 > 5 for l in other])", True),
        ("only([l.style for l in level])", "solid"),
        ("only([l.style for l in other])", None),
        ("only([l.y1 for l in level if l.y1 > 50])", None),
        ("'#2962FF' == level.color", True),
        ("1e3", 1000.0),
        ("0x10", 16),
    ],
)
def test_an_expression_has_its_value(expression, expected):
    if expression == "other":
        assert "is not a JSON value" in told(VALUES % expression)
        return
    found = value(expression)
    assert found == expected
    assert type(found) is type(expected) or expected in (5, 3, 2)


@in_one_test(
    "expression",
    [
        "1 / (level.y1 - 10)",
        "level.y2 * 1e308 * 100",
        "level.y2 * 1e308 * 100 > 5",
        "1 / (level.y2 * 1e308 * 100)",
        "max(1, level.y2 * 1e308 * 100)",
        "mean(level.y2 * 1e307, 1.7e308, 1.7e308)",
        "round_to_tick(level.y2 * 1e307)",
        "level.y2 * 1e308 * 100 - level.y2 * 1e308 * 100",
    ],
)
def test_a_result_that_is_not_finite_is_malformed_at_its_place(expression):
    drawn = draw.line(100, 10.0, "#2962ff")
    if "round" in expression:
        drawn["y2"] = 17.9
    assert refused(VALUES % expression, lines=[drawn]) == [("malformed", "output.value")]


def test_whole_numbers_do_not_grow_without_end():
    product = " * ".join(["level.x1.bar"] * 45)
    drawn = draw.line(100, 10.0, "#2962ff")
    drawn["x1"]["bar"] = 2**53
    assert isinstance(state(VALUES % "level.x1.bar * level.x1.bar", lines=[drawn])["value"], float)
    assert refused(VALUES % product, lines=[drawn]) == [("malformed", "output.value")]


def test_expressions_have_their_caps():
    long = "1" + " + 1" * 119
    assert problems(VALUES % long)[0].message == "239 nodes are too many"
    fitting = "1" + " + 1" * 99
    assert value(fitting) == 100
    text = "'" + "a" * 997 + "'"
    assert len(text) == 999
    assert "two constants" not in told(VALUES % text)
    assert "characters are too many" in told(VALUES % (text + "  "))
    assert "nested more than" in told(VALUES % ("(" * 60 + "1" + ")" * 60))
    assert "nested more than" in told(VALUES % ("-" * 300 + "1"))
    assert "nested more than" in told(VALUES % ("not " * 200 + "true"))


def test_a_fact_of_the_chart_that_is_not_known_makes_the_reading_unavailable():
    drawn = draw.line(100, 10.0, "#2962ff")
    text = VALUES % "chart.last_bar - level.x1.bar"
    unknown = draw.without(draw.snapshot(draw.study("Small", lines=[drawn])), "chart", "last_bar")
    from small import make

    from chartpact.contracts.reading.engine import read
    from chartpact.snapshot import Snapshot

    found = read(make(text), Snapshot(unknown))
    assert [(v.kind, v.path) for v in found.violations] == [("unavailable", "output.value")]
    assert "chart.last_bar is not known" in found.violations[0].message
    found = read(make(VALUES % "chart.last_bar"), Snapshot(unknown))
    assert found.state == {"value": None, "far": None}
    found = read(make(VALUES % "chart.last_bar == 5"), Snapshot(unknown))
    assert found.state == {"value": False, "far": None}
    careful = "chart.last_bar - 1 if chart.last_bar != none else 0"
    assert read(make(VALUES % careful), Snapshot(unknown)).state == {"value": 0, "far": None}


def test_unresolved_anchors_are_older_than_all_and_equal_to_none():
    lost = draw.line(None, 10.0, "#2962ff", x2=50)
    assert state(VALUES % "level.x1 < level.x2", lines=[lost])["value"] is True
    nowhere = {**lost, "x2": draw.at(None)}
    assert state(VALUES % "level.x1 == level.x2", lines=[nowhere])["value"] is False
    assert state(VALUES % "level.vertical", lines=[nowhere])["value"] is False
    assert refused(VALUES % "level.x1.bar", lines=[lost]) == [("unavailable", "output.value")]


def test_texts_that_are_too_long_to_match_are_malformed():
    text = """\
    channels: {labels: signal}
    elements: {tag: {from: labels, where: "matches(text, '.*')"}}
    output: {tags: "len([t for t in tag])"}
    """
    short, long = draw.label(1, 1.0, "a" * 4096), draw.label(1, 1.0, "a" * 4097)
    assert state(text, labels=[short]) == {"tags": 1}
    found = reading(text, labels=[short, long]).violations
    assert [(v.kind, v.path, v.objects[0]["id"]) for v in found] == [
        ("malformed", "elements.tag.where", long["id"])
    ]
