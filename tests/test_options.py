"""One table of options is what every way in takes."""

import argparse
import inspect

import pytest

import chartpact as cp
from chartpact import documentation
from chartpact.bars import Bars, BarsError
from chartpact.bars.options import LoadOptions
from chartpact.cli.arguments import add_bars
from chartpact.options import read_table
from chartpact.render.options import LookOptions
from chartpact.server.shapes import LoadQuery


def test_every_option_of_load_is_a_flag_and_a_query_parameter_with_the_same_words():
    verb = argparse.ArgumentParser()
    add_bars(verb)
    flags = {action.help: action for action in verb._actions}
    fields = LoadQuery.model_json_schema()["properties"]
    table = read_table(LoadOptions)
    assert list(fields) == list(table)
    for name, option in table.items():
        assert name.replace("_", "-") in flags[option.help].option_strings[0]
        assert tuple(flags[option.help].choices or ()) == option.choices
        assert fields[name]["description"] == option.help
        assert tuple(sorted(fields[name]["anyOf"][0].get("enum", ()))) == option.choices


@pytest.mark.parametrize(
    ("table", "page"), [(LoadOptions, "bars.md"), (LookOptions, "pictures.md")]
)
def test_every_option_is_documented(table, page):
    text = (documentation.folder() / page).read_text()
    assert [name for name in read_table(table) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("load", [cp.load, Bars.from_columns, Bars.from_pandas])
def test_keyword_arguments_are_those_of_the_table(load):
    (options,) = [p for p in inspect.signature(load).parameters.values() if p.kind is p.VAR_KEYWORD]
    assert "LoadOptions" in str(options.annotation)


def test_an_option_that_is_not_in_the_table_is_refused_with_the_one_that_was_meant():
    with pytest.raises(BarsError, match=r"no option 'time_frame' .*did you mean 'timeframe'"):
        cp.load("sample:es-5m", time_frame="1h")
