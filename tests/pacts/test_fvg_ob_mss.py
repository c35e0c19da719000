"""FVG + OB + MSS: zones and breaks read back as a forward pass over the bars finds them."""

from collections import Counter

from tests.pacts.agreement import BLOCKS, GAPS, fvg_ob_mss
from tests.pacts.pictures import prefixes, read, walk


def test_every_phase_and_kind_of_break_is_met():
    seen = Counter(
        name
        for seed in (1, 2, 3)
        for bars in prefixes(walk(600, seed), 83, 3)
        for name in fvg_ob_mss(bars)
    )
    assert set(seen) == {*GAPS, *BLOCKS, "bos", "choch", "mss"}


def test_a_zone_that_left_never_returns():
    bars = walk(500, 4)
    gone, before = set(), set()
    for part in prefixes(bars, 11, 20):
        state = read("fvg_ob_mss", part).state
        now = {
            (kind, side, zone["anchor"])
            for kind in ("gaps", "blocks")
            for side, found in state[kind].items()
            for zone in found
        }
        assert not now & gone
        gone |= before - now
        before = now
