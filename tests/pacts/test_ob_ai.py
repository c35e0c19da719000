"""OB AI: what its contract reads is what the rules say, at every sampled bar."""

import pytest
from tests.pacts import detectors
from tests.pacts.pictures import draw, prefixes, read, walk

TICK = 0.25


def blocks(reading) -> dict[str, list]:
    """The blocks of a reading in whole ticks, as the detector tells them."""
    return {
        side: [
            (*(round(price / TICK) for price in (b["high"], b["low"])), b["spent"],
             *(round(b["fvg"][edge] / TICK) for edge in ("high", "low")))
            for b in found
        ]
        for side, found in reading.state["order_blocks"].items()
    }  # fmt: skip


@pytest.mark.parametrize("zone", ["Body", "Wick"])
@pytest.mark.parametrize("seed", range(4))
def test_the_contract_reads_the_blocks_that_the_rules_give(seed, zone):
    seen = 0
    for bars in prefixes(walk(1_000, seed), 61, 3):
        reading = read("ob_ai", bars, zone=zone)
        wanted = detectors.ob_ai(bars, wick=zone == "Wick")
        assert reading.ok, reading.violations
        assert blocks(reading) == {side: [b[1:] for b in found] for side, found in wanted.items()}
        seen += sum(map(len, wanted.values()))
    assert seen > 50


def test_a_block_tells_its_candle_and_when_it_became_known():
    bars = walk(1_000, 2)
    scene = draw("ob_ai", bars)
    starts = {line.x1.time for line in scene.lines}
    for label in scene.labels:
        tag, anchor, known = label.tooltip.split("|")
        assert tag == "OB"
        assert int(anchor.removeprefix("ANCHOR:")) in starts
        assert int(known.removeprefix("KNOWN:")) > int(anchor.removeprefix("ANCHOR:"))
    assert len(scene.labels) == len(starts) > 0


def test_a_shorter_history_shows_no_other_block():
    bars = walk(1_000, 3)
    for first in range(50, 900, 110):
        cut = detectors.ob_ai(bars[first:])
        whole = detectors.ob_ai(bars)
        reading = blocks(read("ob_ai", bars[first:]))
        for side, found in reading.items():
            assert found == [b[1:] for b in cut[side]]
            settled = [b[1:] for b in whole[side] if b[0] - first > 60]
            assert settled == [b[1:] for b in cut[side] if b[0] > 60]


def test_with_del_lines_off_the_reading_is_refused():
    reading = read("ob_ai", walk(600, 2), delLines=False)
    assert [violation.kind for violation in reading.violations] == ["config"]


def test_a_dotted_base_style_is_refused_in_words():
    with pytest.raises(Exception, match="dotted bound is spent"):
        draw("ob_ai", walk(60, 2), base_style="dotted")
