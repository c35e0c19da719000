"""The language reference is read by topic, and every topic can be asked for."""

import re

import pytest
from tests.cases import in_one_test

from chartpact import ta
from chartpact.problem import Failure
from chartpact.script import manual
from chartpact.script.host.chart import OBJECT_METHODS, PLOT_METHODS

CHARACTERS_PER_TOKEN = 4


def test_without_a_topic_it_shows_a_whole_script_the_series_and_every_topic():
    text = manual.read()
    assert "def compute(ohlcv, params, chart):" in text
    assert "A series has no truth value" in text
    assert len(text) < 1500 * CHARACTERS_PER_TOKEN
    topics = re.search("^Topics: (.*)$", text, re.MULTILINE)[1]
    names = re.sub(r"\([^)]*\)|or one such as", "", topics).rstrip(".")
    for name in re.split("[;,]", names):
        assert manual.read(name)


@in_one_test("topic", [f"ta.{name}" for name in ta.FUNCTIONS])
def test_every_function_of_ta_is_a_topic(topic):
    name = topic.removeprefix("ta.")
    text = manual.read(topic)
    assert f"`{name}(" in text
    assert "out=None" not in text
    assert f"  {name}(" in manual.read("ta")


@in_one_test("name", [*PLOT_METHODS, *OBJECT_METHODS])
def test_every_method_of_a_chart_is_a_topic(name):
    assert manual.read(f"chart.{name}").startswith(f"### `chart.{name}(")
    assert f"  chart.{name}(" in manual.read("chart")


@in_one_test(
    ("topic", "first"),
    [
        ("EMA", "### `ema`"),
        ("`ta.ema()`", "### `ema`"),
        ("line", "### `chart.line("),
        ("look-ahead", "## No silent look-ahead"),
        ("errors", "## Errors and warnings"),
        ("text", "## text"),
        ("pine", "# Coming from Pine"),
        ("language", "# The script language"),
    ],
)
def test_a_topic_is_found_by_a_word_of_its_heading(topic, first):
    assert manual.read(topic).startswith(first)


def test_an_unknown_topic_names_what_is_near_and_what_there_is():
    with pytest.raises(Failure) as raised:
        manual.read("ta.emma")
    assert "near: ta.ema" in raised.value.hint
    assert "Topics: a script, params" in raised.value.hint


def test_no_page_has_a_link_that_leads_nowhere_or_a_command_for_a_shell():
    for name in manual.PAGES:
        text = manual.page(name)
        assert "](" not in re.sub("`[^`]*`", "", text)
        assert not re.search("chartpact (check|prove|run|docs)", text)
