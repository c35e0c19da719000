"""The Pine twin of each pact draws what our script draws, field by field, at every 31st bar.

PineTS judges, not TradingView: docs/ict-indicators.md says what that shows and what it does not.
"""

import pytest
from tests.pacts import pine
from tests.pacts.pictures import draw, walk

pytestmark = pytest.mark.skipif(not pine.READY, reason=pine.ABSENT)

# pact → deliberate mistakes in its Pine text, each of which must be noticed
MUTANTS = {
    "ob_ai": [
        ("h[fractal - k] >= h[fractal]", "h[fractal - k] > h[fractal]"),
        ("c > topLevel", "c >= topLevel"),
        ("reach <= b.side * b.far", "reach < b.side * b.far"),
        ("reach <= b.side * b.near", "reach < b.side * b.near"),
        (
            "math.min(opposing + fvg_bars, bar_index - 1)",
            "math.min(opposing + fvg_bars, bar_index - 2)",
        ),
        ("l > h[2] and c[1] > o[1]", "l >= h[2] and c[1] > o[1]"),
        ("? h[back] : l[back]) : o[back]", "? h[back] : l[back]) : c[back]"),
    ],
}


@pytest.mark.parametrize("pact", MUTANTS)
def test_the_pine_twin_draws_the_same_and_a_wrong_one_is_noticed(pact):
    bars = walk(900, 3)
    text = pine.source(pact)
    wrong = []
    for right, mistake in MUTANTS[pact]:
        assert text.count(right) == 1, right
        wrong.append(text.replace(right, mistake))
    twin, *mutants = pine.run([text, *wrong], bars)
    assert isinstance(twin, list), twin
    ours = {picture["bars"]: pine.of_scene(draw(pact, bars[: picture["bars"]])) for picture in twin}
    assert len(ours) == 30
    for picture in twin:
        assert pine.differences(ours[picture["bars"]], pine.of_pine(picture)) == []
    for (right, mistake), pictures in zip(MUTANTS[pact], mutants, strict=True):
        noticed = isinstance(pictures, dict) or any(
            pine.differences(ours[picture["bars"]], pine.of_pine(picture)) for picture in pictures
        )
        assert noticed, f"{mistake} for {right}"
