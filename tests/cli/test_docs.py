"""`chartpact docs`, as a shell sees it."""

import pytest

from chartpact.cli import BAD_INPUT, DONE, main


def test_a_topic_of_the_language_is_printed_and_an_unknown_one_names_the_topics(capsys):
    assert main(["docs", "ta.ema"]) == DONE
    assert capsys.readouterr().out.startswith("### `ema`\n")
    assert main(["docs"]) == DONE
    assert "def compute(ohlcv, params, chart):" in capsys.readouterr().out
    assert main(["docs", "serise"]) == BAD_INPUT
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "near: series" in shown.err


@pytest.mark.parametrize(
    ("topic", "told"),
    [
        ("bgcolor", "chart.background(colors)"),
        ("box.new", "chart.new_box("),
        ("alert", "a dot with a label is a signal"),
        ("security", "ohlcv.security("),
        ("ohlcv.security", "ohlcv.security("),
    ],
)
def test_a_name_of_pine_or_inside_a_topic_is_found(capsys, topic, told):
    assert main(["docs", topic]) == DONE
    assert told in capsys.readouterr().out
