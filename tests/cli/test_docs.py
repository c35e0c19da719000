"""`chartpact docs`, as a shell sees it."""

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
