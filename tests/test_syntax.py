import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

from chartpact.problem import Failure
from chartpact.syntax import Places, children, guarded_parse, scan, walk


def parse(text, kind=ast.Expression, **limits):
    return guarded_parse(text, kind, **{"max_chars": 100_000, **limits})


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "[" * 90000,
        "-" * 50000 + "1",
        "- " * 40000 + "1",
        "not " * 20000 + "x",
        "~" * 50000 + "1",
        "lambda: " * 10000 + "1",
        "1 if x else " * 8000 + "1",
        "2 ** " * 15000 + "2",
        "a" + ".a" * 40000,
        "a" + "()" * 40000,
        "a" + "[0]" * 30000,
        "+".join("1" * 40000),
        " and ".join("(x or y)" for _ in range(10)) + "+1" * 40000,
        "{" * 3000 + "(" * 3000 + "-" * 3000,
        "f" + "(x, " * 10000,
        "9" * 90000,
    ],
    ids=lambda text: text[:12],
)
def test_deep_or_endless_text_is_refused_before_it_can_exhaust_the_parser(text):
    with pytest.raises(Failure) as refused:
        parse(text, prefixes=("",))
    assert refused.value.kind in ("size", "syntax")


@pytest.mark.parametrize(
    "text",
    "1_000 00 007 0b1 1j 1is 1.5.2 1e 'a''b' R'a' u'a' b'a' f'a' '\\N{DASH}' '\\ud800' "
    "'\\d' '\\x1' '\\U00110000' é ½ a\tb a\fb $x ?x x! 'a \"a '''a".split(" "),
)
def test_spellings_that_starlark_does_not_know_are_refused(text):
    with pytest.raises(Failure) as refused:
        parse(text)
    assert refused.value.kind == "syntax"
    assert refused.value.line == 1


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "0",
        "1000",
        "0x3E8",
        "0o17",
        "1.",
        ".5",
        "1.5e-3",
        "1e5",
        "'a' + 'b'",
        "r'\\d'",
        "'\\u00e9\\n\\x41\\101'",
        "'''a\n\"b'''",
        "a.b(c)[0]",
        "[x for x in y if x > 1]",
        "-1 - -1",
        "a if b else c",
        "'é'",
        "(1)if x else 2",
        "0xe-1",
    ],
)
def test_what_starlark_spells_is_parsed_as_python_does(text):
    assert ast.dump(parse(text)) == ast.dump(ast.parse(text, mode="eval"))


def test_texts_stand_side_by_side_only_as_statements():
    parse("'a'\n'b'", ast.Module)
    for text in ("'a' 'b'", "('a'\n'b')", "'a' \\\n'b'", "('a' # c\n'b')"):
        with pytest.raises(Failure, match="side by side"):
            parse(text, ast.Module)


def test_a_program_may_have_any_number_of_statements_but_not_of_levels():
    parse("x = -1\n" * 5000, ast.Module)
    with pytest.raises(Failure, match="nested more than 64"):
        parse("x = " + "(" * 65 + "1" + ")" * 65, ast.Module)
    parse("x = " + "(" * 60 + "1" + ")" * 60, ast.Module)


def test_commas_do_not_count_as_depth():
    parse("f(" + ", ".join(["-1"] * 1000) + ")")


def test_an_error_tells_its_place_in_characters():
    with pytest.raises(Failure) as refused:
        parse("a + ('éé' +\n  1_0)")
    assert (refused.value.line, refused.value.column) == (2, 3)


def test_a_node_is_placed_by_characters_although_ast_counts_bytes():
    text = "f('éé', x)"
    call = parse(text).body
    assert Places(text).of(call.args[1]) == (1, 9)


def test_a_text_longer_than_its_limit_is_refused_unread():
    with pytest.raises(Failure, match="at most 10"):
        parse("1 + 1 + 1 + 1", max_chars=10)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(st.sampled_from("abx01.,:()[]{}'\"\\+-*/=<>!~ \n#notifelsorlambda"), max_size=60))
def test_any_text_is_either_parsed_or_refused_with_a_place(text):
    try:
        parse(text, ast.Module)
    except Failure as refused:
        assert refused.message


@settings(max_examples=examples(200), deadline=None)
@given(st.text(st.characters(codec=None), max_size=30))
def test_any_characters_at_all_are_either_parsed_or_refused(text):
    try:
        parse(text, ast.Module)
    except Failure as refused:
        assert refused.message


def test_the_scan_tells_every_token_with_its_place():
    tokens = (
        [(t.kind, t.text, t.line, t.column) for t in scan("a = 'x\ny' # c\nb")]
        if 0
        else [(t.kind, t.text, t.line, t.column) for t in scan("a = '''x\ny''' # c\nb")]
    )
    assert tokens == [
        ("name", "a", 1, 1),
        ("op", "=", 1, 3),
        ("string", "'''x\ny'''", 1, 5),
        ("comment", "# c", 2, 6),
        ("newline", "\n", 2, 9),
        ("name", "b", 3, 1),
    ]


def test_the_parts_of_a_node_are_those_that_ast_tells():
    text = """
@d
def f(a, b=1, *c, d: int, g=3, **e) -> a:
    for (x, y) in [i for i in c if i > 1 if not i]:
        a[0], b = {1: 2, **e}, {j: -k for j, k in e.items()}
        if x and y or a.b[1:2:3]: continue
        else: break
    a += f(*c, k=1 if x else 2, **e) < 3
    with a as b: pass
    while 1: x = f"{a!r:>5} b"
    return lambda q, r=2: (yield)
"""
    named = ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop
    for node in ast.walk(ast.parse(text)):
        told = [each for each in ast.iter_child_nodes(node) if not isinstance(each, named)]
        found = [each for each in children(node) if not isinstance(each, named)]
        assert {*map(id, found)} == {*map(id, told)}, ast.dump(node)
        assert {*map(id, walk(node))} <= {*map(id, ast.walk(node))}


def test_a_number_of_thousands_of_digits_is_refused_in_our_words():
    with pytest.raises(Failure, match="this number is too large"):
        list(scan(f"x = {'9' * 5000}"))
