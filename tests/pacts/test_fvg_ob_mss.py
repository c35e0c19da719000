"""FVG + OB + MSS: zones and breaks read back as a forward pass over the bars finds them."""

from collections import Counter

from tests.pacts import detectors
from tests.pacts.pictures import prefixes, read, walk

GAPS = ("open", "touched", "ce", "filled", "inverted")
BLOCKS = ("active", "tested", "mitigated", "mitigated", "broken")


def compare(bars):
    reading, wanted = read("fvg_ob_mss", bars), detectors.fvg_ob_mss(bars)
    assert reading.ok, (len(bars), reading.violations)
    state, time = reading.state, bars.time.tolist()
    assert state["trend"] == {1: "bull", -1: "bear", 0: "none"}[wanted["trend"]]
    zones = sorted(
        (
            zone["kind"], "bull" if zone["side"] > 0 else "bear", time[zone["bar"]],
            time[zone["known"]], (GAPS if zone["kind"] == "gap" else BLOCKS)[zone["phase"]],
            zone["top"], zone["bottom"], zone.get("fvg"),
        )
        for zone in wanted["zones"]
    )  # fmt: skip
    told = sorted(
        (
            kind, side, zone["anchor"], zone["known"], zone["phase"],
            *(round(zone[edge] / bars.tick_size) for edge in ("top", "bottom")),
            zone.get("has_fvg"),
        )
        for kind in ("gap", "block")
        for side, found in state[f"{kind}s"].items()
        for zone in found
    )  # fmt: skip
    assert told == zones
    breaks = [
        (
            "mss" if item["mss"] is not None else "choch" if item["turned"] else "bos",
            "bull" if item["side"] > 0 else "bear", time[item["bar"]], item["level"],
            item["swept"], None if item["mss"] is None else time[item["mss"]],
        )
        for item in wanted["breaks"][-20:]
    ]  # fmt: skip
    assert breaks == [
        (
            e["kind"],
            e["side"],
            e["time"],
            round(e["level"] / bars.tick_size),
            e["after_sweep"],
            e["mss_known"],
        )
        for e in state["events"]
    ]
    return [zone[4] for zone in zones] + [item[0] for item in breaks]


def test_the_contract_reads_the_zones_and_breaks_that_the_rules_give():
    seen = Counter(
        name
        for seed in (1, 2, 3)
        for bars in prefixes(walk(900, seed), 67, 3)
        for name in compare(bars)
    )
    assert set(seen) == {*GAPS, *BLOCKS, "bos", "choch", "mss"}


def test_a_zone_that_left_never_returns():
    bars = walk(500, 4)
    gone, before = set(), set()
    for part in prefixes(bars, 7, 20):
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
