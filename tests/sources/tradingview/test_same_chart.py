"""One chart, read over CDP, from the stock server's replies and from a file."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from tests.sources.tradingview import models

import chartpact as cp
from chartpact import pacts
from chartpact.sources.tradingview import CdpSource
from chartpact.sources.tradingview.stock import LISTS, TOOLS, read_replies, write_reply

FOLDER = Path(pacts.__file__).parent
KINDS = {"labels": "labels", "lines": "lines", "boxes": "boxes", "tables": "cells"}


def examples():
    """Of each shipped contract, the example with a state in which most is drawn."""
    for folder in sorted(path.parent for path in FOLDER.glob("*/examples")):
        good = []
        for path in sorted((folder / "examples").glob("*.json")):
            example = json.loads(path.read_text())
            [*studies] = example["snapshot"]["studies"] if "state" in example["expect"] else []
            facts = example["snapshot"]["chart"]
            whole = {"last_bar", "last_time", "tick_size"} <= facts.keys()
            if len(studies) == 1 and whole and "fields" not in example["snapshot"]["source"]:
                good.append((len(json.dumps(studies)), path.stem, example))
        if good:
            _, name, example = max(good, key=lambda item: item[:2])
            yield pytest.param(folder.name, example, id=f"{folder.name}-{name}")


@pytest.fixture(scope="module")
def shown(browser):
    """A tab, kept for the module."""
    tab = browser.open()
    yield tab
    browser.close(tab)


@pytest.fixture
def read_page(browser, shown):
    def read(model):
        shown.set_chart(model)
        with closing(CdpSource(browser.url, timeout=60)) as source:
            return source.read()

    return read


@pytest.mark.parametrize(("contract", "example"), [*examples()])
def test_one_chart_gives_one_state_or_the_declared_refusal(contract, example, read_page, tmp_path):
    config, profile = example.get("config"), example.get("profile")
    expected = example["expect"]["state"]

    drawn = read_page(models.of_snapshot(example["snapshot"]))
    assert drawn.problems() == []
    over_cdp = cp.read(contract, drawn, config, profile)
    assert over_cdp.violations == ()
    assert over_cdp.state == expected

    (tmp_path / "drawn.json").write_text(drawn.dumps())
    from_file = cp.read(contract, tmp_path / "drawn.json", config, profile)
    assert from_file.to_json() == over_cdp.to_json()

    state = {"symbol": drawn.chart["symbol"], "resolution": drawn.chart["timeframe"]}
    replies = {channel: write_reply(drawn, channel, verbose=True, max_labels=9999, decimals=2)
               for channel in TOOLS}  # fmt: skip
    told = read_replies(state, replies, "tradingview-mcp", drawn.chart["as_of"])
    stock = cp.read(contract, told, {**(config or {}), "tick_size": 0.25}, profile)
    if stock.ok:
        assert {**stock.state, "hunt": {}} == {**expected, "hunt": {}}
        for key in ("state", "side", "target_high", "target_low"):  # without bars, no times
            assert stock.state["hunt"][key] == expected["hunt"][key]
    else:
        assert {violation.kind for violation in stock.violations} == {"unavailable"}
        for violation in stock.violations:
            assert violation.field.partition(".")[0] in TOOLS
            assert f"({TOOLS[violation.field.partition('.')[0]]})" in violation.message


# ------------------------------------------------------------------------------------- captures


def stock_part(channel, ours, theirs, key=None):
    """Of our reply what the stock one has too; x, which is opaque there, by its rank."""
    if isinstance(theirs, dict):
        assert theirs.keys() <= ours.keys(), (theirs.keys(), ours.keys())
        return {name: stock_part(channel, ours[name], theirs[name], name) for name in theirs}
    if isinstance(theirs, list) and isinstance(ours, list):
        if key == LISTS.get(channel):
            ours = [record for record in ours if drawn_by_stock(channel, record)]
        assert len(ours) == len(theirs)
        return [stock_part(channel, a, b) for a, b in zip(ours, theirs, strict=True)]
    if key == "x" or key in ("x1", "x2"):
        return None
    return ours


def drawn_by_stock(channel, record):
    lost = channel == "labels" and not record["text"] and record["price"] is None
    return not lost and not record.get("forceOverlay")


def without_order(reply):
    if isinstance(reply, dict):
        return {key: None if key in ("x", "x1", "x2") else without_order(value)
                for key, value in reply.items()}  # fmt: skip
    return list(map(without_order, reply)) if isinstance(reply, list) else reply


def without_overlay(snapshot):
    """The snapshot as the stock server sees it: it never looks into the group of force_overlay."""
    studies = []
    for study in snapshot.studies:
        data = dict(study.data)
        for channel in LISTS:
            if channel in data:
                data[channel] = [r for r in data[channel] if not r["force_overlay"]]
        studies.append(data)
    return cp.Snapshot({**snapshot.data, "studies": studies})


def all_orders(records):
    keys = ("x", "x1", "x2")
    return [record[key] for record in records for key in keys if record.get(key) is not None]


@pytest.mark.needs_shared
def test_our_replies_hold_all_that_the_stock_server_replied(read_page, shared):
    captures = shared / "captures"
    compared = 0
    for model in sorted((captures / "page_models").glob("*.json")):
        page = json.loads(model.read_text())
        drawn = without_overlay(read_page({"info": {}, **page}))
        for path in sorted(captures.glob(f"{model.stem}.*.json")):
            capture = json.loads(path.read_text())
            if capture["payload"] is None:
                continue
            channel = KINDS[capture["tool"].rpartition("_")[2]]
            asked = capture["arguments"]
            ours = write_reply(
                drawn,
                channel,
                asked.get("study_filter", ""),
                bool(asked.get("verbose")),
                asked.get("max_labels", 0),
                decimals=2,
            )
            theirs = capture["payload"]
            if asked.get("verbose") and channel == "labels":
                for mine, study in zip(ours["studies"], theirs["studies"], strict=True):
                    assert mine.pop("showing") == study.pop("showing") + sum(
                        not drawn_by_stock(channel, record) for record in mine["labels"]
                    )
            assert stock_part(channel, ours, theirs) == without_order(theirs), path.name
            compared += 1
            if asked.get("verbose") and channel in LISTS:
                for mine, study in zip(ours["studies"], theirs["studies"], strict=True):
                    kept = [r for r in mine[LISTS[channel]] if drawn_by_stock(channel, r)]
                    a, b = all_orders(kept), all_orders(study[LISTS[channel]])
                    assert [a.index(n) for n in a] == [b.index(n) for n in b]
    assert compared == 47


@pytest.mark.needs_shared
def test_the_stock_servers_replies_are_read_as_the_page_is(read_page, shared):
    captures = shared / "captures"
    page = json.loads((captures / "page_models" / "contract_chart.json").read_text())
    drawn = read_page({"info": {}, **page})
    replies = {
        channel: json.loads((captures / f"contract_chart.{kind}.all.{mode}.json").read_text())[
            "payload"
        ]
        for kind, channel in KINDS.items()
        for mode in ("default" if kind == "tables" else "verbose",)
    }
    state = {"symbol": page["symbol"], "resolution": page["resolution"],
             "studies": [{"name": study.name} for study in drawn.studies]}  # fmt: skip
    told = read_replies(state, replies, "tradingview-mcp", 0)
    assert sorted(s.name for s in told.studies) == sorted(s.name for s in drawn.studies)
    for study in told.studies:
        [*same] = [other for other in drawn.studies if other.name == study.name]
        if len(same) > 1:
            continue
        for channel in LISTS:
            known = [r for r in same[0].records(channel) or () if not r["force_overlay"]]
            if channel in study.truncated:
                known = [r for r in known if r["text"] or r["y"] is not None]
            fields = [name for name in ("text", "yloc", "style", "color", "bgcolor", "border_color")
                      if told.delivers(channel, name, study)]  # fmt: skip
            told_of = [[record[name] for name in fields] for record in study.records(channel)]
            assert told_of == [[record[name] for name in fields] for record in known]
    assert [s.name for s in told.studies if s.truncated] == ["Session Hunt AI"]
    for name in ("bias_ai", "smt_divergences"):
        violations = cp.read(
            name, told, {"tick_size": 0.25}, "tfo" if name == "bias_ai" else None
        ).violations
        assert {violation.kind for violation in violations} <= {"unavailable", "duplicate"}
