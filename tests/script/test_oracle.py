"""Every accepted script is Starlark, and a scalar script means the same there."""

import ast
import re
from itertools import islice
from pathlib import Path

import pytest
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE
from tests.script import oracle
from tests.script.chunks import chunks, source_of

from chartpact import script
from chartpact.script import stock

HERE = Path(__file__).parent
LANGUAGE = HERE.parents[1] / "docs" / "language.md"
ROW = re.compile(r"^\| `(.+?)` \| (\(fails\)|`.+?`) \| (\(fails\)|`.+?`) \| .+ \|$", re.MULTILINE)

DIFFERENCES = {
    match[1].replace("\\|", "|"): (match[2], match[3])
    for match in ROW.finditer(LANGUAGE.read_text())
}
GO_ROW = re.compile(r"^\| `([^|]+?)` \| [^|]+ \| (\(fails\)|`[^|`]+`) \|$", re.MULTILINE)
OF_GO = {match[1]: match[2] for match in GO_ROW.finditer(LANGUAGE.read_text())}
CORPUS = list(dict.fromkeys(line for line in (HERE / "corpus.txt").read_text().split("\n") if line))

# Not worth a row: these say the same thing as a row that is there.
LIKEWISE = {
    '"\\xff"': 'repr("é")',
    '"a\\u00e9"': 'repr("é")',
    '"straße".upper()': 'repr("é")',
    'float("inf")': 'str(float("inf"))',
    'float("infinity")': 'str(float("inf"))',
    "1e308 * 10": 'str(float("inf"))',
    "repr(len)": "str(len)",
    "str(lambda x: x)": "str(len)",
    "{1: 2, True: 3}": "{True: 1}",
    '"{!s}".format("a")': '"{!r}".format("a")',
    '"abc".codepoints()': '"abc".elems()',
    '"\\777"': '"\\q"',
    '"½".isdigit()': "str.isdigit asks for digits",
    '"ǆ".capitalize()': '"ǆ".title()',
    '"\\x1f".isspace()': '"\\x1c".isspace()',
    '"a\\x1cb".split()': '"\\x1c".strip()',
    '"%d" % 1e300': '"%d" % 1e17',
    '"İ".lower()': 'repr("é")',
    "{1: 2}.get(False)": "{True: 1}",
    "repr(1.5 - 1e15)": "len(str(1e15))",
}


def test_the_table_of_differences_is_there():
    assert len(DIFFERENCES) >= 20


@in_one_test("expression", DIFFERENCES)
def test_a_documented_difference_is_one(expression):
    here, there = (cell.strip("`") for cell in DIFFERENCES[expression])
    assert oracle.value_here(expression) == here
    assert oracle.value_there(expression) == there
    assert here != there


@in_one_test("code", OF_GO)
def test_a_difference_from_starlark_go_is_as_documented(code):
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        program = f"def f():\n    xs = [0]\n    {code}\n    return xs\n"
    else:
        program = f"def f():\n    return {code}\n"
    assert oracle.program_here(program) == OF_GO[code].strip("`")


@pytest.mark.slow
def test_every_expression_of_the_corpus_means_the_same():
    known = {*DIFFERENCES, *LIKEWISE}
    compared = [each for each in CORPUS if each not in known]
    assert len(compared) > 600
    differing = {
        each: pair
        for each in compared[:: 1 if EXHAUSTIVE else 2]
        if (pair := (oracle.value_here(each), oracle.value_there(each)))[0] != pair[1]
    }
    assert differing == {}


@in_one_test("program", list(chunks(HERE / "programs.star")), ids=lambda c: c.id)
def test_a_program_means_the_same(program):
    assert oracle.program_here(program.text) == oracle.program_there(program.text)


def accepted() -> list[tuple[str, str]]:
    sources = [(name, stock.source(name)) for name in stock.NAMES]
    pacts = HERE.parents[1] / "src" / "chartpact" / "pacts"
    sources += [(file.parent.name, file.read_text()) for file in pacts.glob("*/*.star")]
    # of the hostile ones, which are many and alike, every third
    for folder, step in (("language", 1), ("hostile", 1 if EXHAUSTIVE else 3)):
        for file in sorted((HERE / folder).glob("*.star")):
            for chunk in islice(chunks(file), 0, None, step):
                source, _ = source_of(chunk)
                if not script.examine(source, script.Limits())[1]:
                    sources.append((chunk.id, source))
    return sources


@pytest.mark.slow
def test_every_accepted_script_can_be_read_by_starlark():
    found = accepted()
    refused = {name: why for name, source in found if (why := oracle.parses(source)) is not None}
    assert refused == {}
    assert len(found) > 200
