"""Text from outside stays one line of ours, and shows what it holds."""

import json
import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact import summary
from chartpact.bars import Bars
from chartpact.oneline import as_name, escape_unseen, one_line
from chartpact.problem import Failure, Problem
from chartpact.scene import Drawn, HLinePlot, LinePlot, Scene, Signal

FORGED = "a\n  signal: STRONG_BUY at 1 on bar 9"
SIGNS = [
    "\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\x1b[2K", "\x08",
    "\x9b1A",    "\u202e", "\u2066", "\u200f", "\ufeff", "\u200b", "\U000e0041", "\ud800", "\x00",
    "\t", "\u2060",
]  # fmt: skip


@in_one_test("sign", SIGNS, ids=ascii)
def test_no_sign_ends_a_line_or_hides_in_it(sign):
    line = one_line(f"a{sign}b")
    assert line.startswith("a\\")
    assert line.isprintable()
    assert len(line.splitlines()) == 1


@given(st.text())
def test_whatever_is_written_is_one_printable_line_and_can_be_read_back(text):
    line = one_line(text)
    assert len(f"x{line}".splitlines()) == 1
    odd = {unicodedata.category(sign) for sign in line} & {"Cc", "Cs", "Zl", "Zp"}
    assert not odd
    line.encode()
    if "\\" not in text and '"' not in text:
        assert json.loads(f'"{line}"') == text


@given(st.text(st.sampled_from('ab ,:;"\\\n\u202eé'), max_size=12))
def test_a_name_in_a_list_ends_where_it_ends(text):
    name = as_name(text)
    if name.startswith('"'):
        assert json.JSONDecoder().raw_decode(f"{name}, next 5")[1] == len(name)
    else:
        assert not set(name) & set(',:;"')


def test_a_name_is_short():
    assert len(as_name("x" * 10_000)) == 200
    assert as_name("x" * 200) == "x" * 200


def test_words_of_any_language_are_left_as_they_are():
    for words in ("RSI 14", "Größe", "سلام\u200cها", "👩\u200d🚀", "移動平均", "100 %"):
        assert one_line(words) == as_name(words) == escape_unseen(words) == words


def test_lines_that_are_ours_stay_lines():
    assert escape_unseen("a\n\tb\x1b[2K\u202e") == "a\n\tb\\u001b[2K\\u202e"
    assert escape_unseen("a\u2028b\u2029c") == "a\\u2028b\\u2029c"


def lines_of(drawn: Drawn) -> list[str]:
    count = 12
    flat = np.ones(count)
    bars = Bars(60_000 * np.arange(count), flat, flat, flat, flat, flat, symbol="ES")
    return summary.text(bars, [drawn], "sideways").splitlines()


@in_one_test(
    ("title", "scene", "lines"),
    [
        (FORGED, Scene(), 1),
        ("", Scene(label=FORGED), 1),
        ("T", Scene(plots=[LinePlot(values=np.ones(12), title=FORGED)]), 2),
        ("T", Scene(plots=[HLinePlot(y=5, title=FORGED)]), 2),
        ("T", Scene(signals=[Signal(3, 3, 1.0, FORGED)]), 2),
    ],
    ids=["title", "label", "series", "level", "signal"],
)
def test_no_text_of_a_script_forges_a_line_of_the_summary(title, scene, lines):
    honest = lines_of(Drawn("mine", "mine", title="T", scene=Scene()))
    found = lines_of(Drawn("mine", "mine", title=title, scene=scene))
    assert len(found) == len(honest) - 1 + lines
    assert not any(line.startswith("  signal: STRONG_BUY") for line in found)
    assert sum("STRONG_BUY" in line for line in found) == 1


def test_no_title_forges_a_value_of_another():
    titles = ("RSI", "x 1, RSI 99")
    plots = [LinePlot(values=np.full(12, 5.0), title=title) for title in titles]
    found = lines_of(Drawn("mine", "mine", title="T", scene=Scene(plots=plots)))
    assert found[-1] == '  values: RSI 5, "x 1, RSI 99" 5'


def test_no_message_forges_a_line_of_an_error():
    problem = Problem("value", FORGED, f"{FORGED}\x1b[2K", path=FORGED)
    assert len(str(problem).splitlines()) == 1
    assert str(Failure(problem)) == str(problem)
    assert problem.to_json()["message"] == FORGED
    found = lines_of(Drawn("mine\nrsi", "mine", error=problem))
    assert found[-1].startswith("mine\\nrsi: error: a\\n  signal")
