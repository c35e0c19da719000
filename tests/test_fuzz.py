"""Every parser reads its mutants, or refuses them in words."""

import json
from contextlib import suppress

import pytest
from tests import fuzz
from tests.effort import examples

from chartpact.problem import Failure


@pytest.mark.parametrize("name", fuzz.PARSERS)
def test_a_mutant_is_read_or_refused_in_words(name):
    told, failures = fuzz.fuzz(name, examples(240), seed=20261118)
    assert failures == []
    assert told["read"] + told["refused"] == examples(240)


@pytest.mark.parametrize(("name", "broken"), [(b"volume", b"vol\xffme"), ("é".encode(), b"\xc3(")])
def test_bytes_of_a_parquet_file_that_are_no_utf_8_are_refused(name, broken):
    make, read, _ = fuzz.PARSERS["parquet"]
    with pytest.raises(Failure, match="damaged"):
        read(make().replace(name, broken))


@pytest.mark.parametrize(
    "drawn",
    [
        {"labels": ["x"]},
        {"labels": [None]},
        {"lines": [[1]]},
        {"labels": [{"text": [None]}]},
        {"cells": [None]},
        {"boxes": [7]},
        {"lines": "x"},
        {"cells": [{"text": [None]}]},
    ],
)
@pytest.mark.parametrize("contract", ["ob_ai", "bias_ai", "economic_calendar"])
def test_records_of_any_shape_are_matched_or_refused(contract, drawn):
    make, read, _ = fuzz.PARSERS[f"snapshot of {contract}"]
    picture = json.loads(make())
    picture["snapshot"]["studies"][0] |= drawn
    with suppress(Failure):
        read(json.dumps(picture).encode())
