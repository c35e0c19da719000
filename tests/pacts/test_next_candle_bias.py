"""Next Candle Bias: six rows, one of which holds, read back as the rules give them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pacts.agreement import next_candle_bias
from tests.pacts.pictures import draw, half_days, walk

from chartpact import script

candles = st.tuples(*[st.integers(10, 14)] * 4).map(lambda p: (p[0], max(p), min(p), p[3]))


@given(st.tuples(candles, candles, candles))
def test_exactly_one_row_holds_for_any_two_candles_equalities_included(days):
    assert next_candle_bias(half_days([*days])) != "WARMUP"


def test_a_candle_that_is_not_above_the_charts_is_refused_in_words():
    with pytest.raises(script.ScriptError, match="above the chart's"):
        draw("next_candle_bias", walk(60, 1), candle="5m")
