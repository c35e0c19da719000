"""OB AI: what its contract reads is what the rules say, at every sampled bar."""

import pytest
from tests.cases import in_one_test
from tests.pacts import detectors
from tests.pacts.agreement import ob_ai, read_blocks
from tests.pacts.pictures import draw, prefixes, read, walk


@in_one_test("zone", ["Body", "Wick"])
def test_the_contract_reads_the_blocks_that_the_rules_give(zone):
    parts = prefixes(walk(1_000, 3), 83, 3)
    assert sum(ob_ai(bars, zone=zone) for bars in parts) > 20


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
        reading = read_blocks(bars[first:])
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
