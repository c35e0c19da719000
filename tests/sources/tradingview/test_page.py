"""A chart in a real browser, read over the DevTools protocol."""

import json
import threading
from contextlib import closing

import pytest
from tests.sources.tradingview import models
from tests.sources.tradingview.models import GREEN, chart, label, study, zones

import chartpact as cp
from chartpact.cli import main
from chartpact.problem import Failure
from chartpact.sources.errors import SourceFailed
from chartpact.sources.tradingview import CdpSource
from chartpact.sources.tradingview.page import AmbiguousTab, NotReady, _expression

LAST = (models.START + 119 * models.STEP) * 1000


@pytest.fixture
def read(browser, tab):
    """Shows a chart and reads it."""

    def shown(model):
        tab.set_chart(model)
        with closing(CdpSource(browser.url, timeout=60)) as source:
            return source.read()

    return shown


def only(snapshot, name="Zones"):
    [found] = [study.data for study in snapshot.studies if study.name == name]
    return found


def test_every_attribute_of_every_drawn_object_is_read(read):
    zones_ = only(read(chart(zones())))
    assert zones_["labels"] == [
        {
            "id": 1,
            "x": {"n": 5, "bar": 5, "time": (models.START + 5 * 300) * 1000},
            "y": 110.25,
            "yloc": "price",
            "text": "Zone",
            "style": "label_down",
            "color": "#f23645ff",
            "text_color": "#ffffffff",
            "size": "normal",
            "text_align": "center",
            "tooltip": "",
            "force_overlay": False,
        },
        {
            "id": 2,
            "x": {"n": 119, "bar": 119, "time": LAST},
            "y": None,
            "yloc": "belowbar",
            "text": "Hint",
            "style": "label_up",
            "color": "#f23645ff",
            "text_color": "#ffffffff",
            "size": "normal",
            "text_align": "center",
            "tooltip": "",
            "force_overlay": False,
        },
        {
            "id": 3,
            "x": {"n": None, "bar": None, "time": None},
            "y": 111,
            "yloc": "price",
            "text": "old",
            "style": "label_down",
            "color": None,
            "text_color": "#ffffffff",
            "size": "normal",
            "text_align": "center",
            "tooltip": "",
            "force_overlay": True,
        },
    ]
    [line] = zones_["lines"]
    assert line["x2"] == {"n": 130, "bar": 130, "time": None}  # right of the last bar
    assert (line["extend"], line["style"], line["width"]) == ("right", "dashed", 2)
    drawn, forced = zones_["boxes"]
    assert (drawn["top"], drawn["bottom"], drawn["text"]) == (120.5, 110.25, "OB")
    assert (drawn["bgcolor"], drawn["border_color"]) == ("#00b3e633", "#f23645ff")
    assert (forced["top"], forced["bgcolor"], forced["force_overlay"]) == (99, None, True)
    colored, empty = zones_["cells"]
    assert (colored["row"], colored["column"], colored["bgcolor"]) == (0, 1, "#4caf50ff")
    assert (colored["table"], colored["position"], colored["text"]) == (7, "top_right", "")
    assert (empty["text"], empty["bgcolor"]) == ("H4 | D", None)
    assert zones_["tables"][0]["frame_color"] == "#363a45ff"
    assert zones_["linefills"][0]["raw"]["l1"] == 1


def test_chart_study_and_objects_come_from_one_read(read):
    snapshot = read(chart(zones()))
    facts = dict(snapshot.chart)
    assert facts.pop("as_of") > LAST
    assert facts == {
        "symbol": "CME_MINI:NQ1!",
        "timeframe": "5m",
        "confirmed": True,
        "first_time": models.START * 1000,
        "last_bar": 119,
        "last_time": LAST,
        "last_price": 220,
        "tick_size": 0.25,
        "timezone": "America/Chicago",
    }
    zones_ = only(snapshot)
    assert (zones_["id"], zones_["short_name"], zones_["version"]) == ("zones1", "Zone", "3.0")
    assert zones_["inputs"] == {"Length": 14, "Up Color": "#4caf50ff"}
    assert zones_["input_titles"] == {"in_0": "Length", "in_1": "Up Color"}
    assert snapshot.problems() == []


def test_a_bar_that_may_still_change_is_not_confirmed(read):
    now = 4_000_000_000  # in seconds, later than any clock of these tests
    forming = chart(zones(), bars=[[now, 1, 2, 0, 1, 5]])
    assert read(forming).chart["confirmed"] is False
    days = chart(zones(), resolution="1R")
    assert "confirmed" not in read(days).chart


def test_limits_are_told_where_the_study_declares_them(read):
    told = study("a", "Told", {"indexes": []}, maxLabelsCount=120)
    silent = study("b", "Silent", {"indexes": []})
    snapshot = read(chart(told, silent))
    assert only(snapshot, "Told")["limits"] == {"labels": 120}
    assert only(snapshot, "Silent")["limits"] == {}


@pytest.mark.parametrize(
    ("palette", "numbers", "colors"),
    [
        pytest.param({"0": "#ff0000"}, [0], ["#ff0000ff"], id="an index into the palette"),
        pytest.param({"0": "rgb(0, 1, 2)"}, [0], ["#000102ff"], id="in a style sheet's words"),
        pytest.param({"0": "#ff0000"}, [3], None, id="not in the palette"),
        pytest.param(None, [3], None, id="no palette"),
        pytest.param({"0": "#ff0000"}, [0, GREEN], None, id="an index beside packed colours"),
        pytest.param(None, [0xE6B300, GREEN], ["#00b3e600", "#4caf50ff"], id="invisible"),
        pytest.param(None, [0xE6B300], None, id="invisible or an index"),
        pytest.param(None, ["red"], None, id="not a number"),
    ],
)
def test_a_colour_is_told_only_where_it_is_certain(read, palette, numbers, colors):
    labels = [label(i, 0, 1, "x", ci=number, tci=None) for i, number in enumerate(numbers)]
    meta = {}
    if palette is not None:
        entries = {index: {"color": color} for index, color in palette.items()}
        meta = {"palettes": {"palette_common": {"colors": entries}}}
    drawn = study("p", "Painted", {"indexes": [3], "dwglabels": labels}, **meta)
    snapshot = read(chart(drawn))
    [painted] = [study for study in snapshot.studies if study.name == "Painted"]
    assert snapshot.delivers("labels", "color", painted) == (colors is not None)
    assert snapshot.delivers("labels", "text", painted)
    if colors is not None:
        assert [record["color"] for record in painted.records("labels")] == colors


CONTRACT = """
contract: painted
version: 1.0.0
identity: {pine_title: Painted, study_filter: Painted}
channels: {labels: signal}
encodings:
  side: {up: '#4caf50', down: '#f23645'}
elements:
  mark:
    from: labels
    count: 1
    reads: {side: side(color)}
output: {side: mark.side}
"""


def test_a_palette_that_the_study_does_not_carry_makes_colours_unavailable(read, tmp_path):
    (tmp_path / "painted.yaml").write_text(CONTRACT)
    packed = study("p", "Painted", {"indexes": [3], "dwglabels": [label(1, 0, 1, "x", ci=GREEN)]})
    assert cp.read(tmp_path / "painted.yaml", read(chart(packed))).state == {"side": "up"}
    indexed = study("p", "Painted", {"indexes": [3], "dwglabels": [label(1, 0, 1, "x", ci=2)]})
    [violation] = cp.read(tmp_path / "painted.yaml", read(chart(indexed))).violations
    assert (violation.kind, violation.field) == ("unavailable", "labels.color")


def test_a_study_that_cannot_be_read_spoils_no_other(read, capsys, browser):
    blind = study("n", "Blind")  # it has no _graphics
    snapshot = read(chart(zones(), blind))
    assert [study.name for study in snapshot.studies] == ["Zones", "Blind"]
    assert snapshot.studies[1].records("labels") is None
    lacks = {(lack["study"], lack["missing"]) for lack in snapshot.source["unread"]}
    assert lacks == {("late01", "metaInfo()"), ("Blind", "_graphics")}
    assert main(["snapshot", "--tv", browser.url, "--tv-timeout", "60"]) == 0
    assert "note: Blind: graphics cannot be read: _graphics is not there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ("delete collection.dwglabels", "_graphics._primitivesCollection.dwglabels"),
        (
            "collection.dwglabels = new Map([['tags', new Map()]])",
            "_graphics._primitivesCollection.dwglabels.get('labels')",
        ),
        (
            "collection.dwglabels.get('labels').get(false)._primitivesDataById = new Map()",
            "_graphics._primitivesCollection.dwglabels.get('labels').get(false)"
            "._primitivesDataById (2 objects)",
        ),
    ],
)
def test_labels_that_moved_elsewhere_are_unavailable_and_never_none(browser, tab, change, lost):
    tab.set_chart(chart(zones()))
    path = "TradingViewApi._activeChartWidgetWV.value()._chartWidget.model().model().dataSources()"
    tab.evaluate(f"{{ const collection = {path}[2]._graphics._primitivesCollection; {change}; 0 }}")
    with closing(CdpSource(browser.url, timeout=60)) as source:
        snapshot = source.read()
    assert snapshot.studies[0].records("labels") is None
    assert len(snapshot.studies[0].records("lines")) == 1
    assert lost in [lack["missing"] for lack in snapshot.source["unread"]]


STEPS = {
    "TradingViewApi._activeChartWidgetWV": "TradingViewApi._activeChartWidgetWV",
    "TradingViewApi._activeChartWidgetWV.value": "TradingViewApi._activeChartWidgetWV.value()",
    "widget._chartWidget": "TradingViewApi._activeChartWidgetWV.value()._chartWidget",
    "widget.symbol": "TradingViewApi._activeChartWidgetWV.value().symbol()",
    "widget._chartWidget.model().mainSeries": (
        "TradingViewApi._activeChartWidgetWV.value()._chartWidget.model().mainSeries()"
    ),
    "widget._chartWidget.model().model().dataSources": (
        "TradingViewApi._activeChartWidgetWV.value()._chartWidget.model().model().dataSources()"
    ),
}


@pytest.mark.parametrize(("gone", "step"), STEPS.items())
def test_the_step_of_the_path_that_changed_is_named(browser, tab, gone, step):
    tab.set_chart(chart(zones()))
    widget = "const widget = TradingViewApi._activeChartWidgetWV.value();"
    tab.evaluate(f"{{ {widget} delete {gone}; 0 }}")
    with (
        closing(CdpSource(browser.url, timeout=60)) as source,
        pytest.raises(SourceFailed) as wrong,
    ):
        source.read()
    assert str(wrong.value) == f"TradingView's page is built differently now: {step} is not there"


def test_reading_changes_nothing_in_the_page(tab):
    tab.set_chart(chart(zones()))
    text = tab.evaluate(_expression(False), throwOnSideEffect=True)
    assert json.loads(text)["studies"]
    before = "JSON.stringify(Object.keys(window).sort())"
    names = tab.evaluate(before)
    tab.evaluate(_expression(True))
    assert tab.evaluate(before) == names


def test_a_page_that_is_not_ready_is_waited_for_and_then_named(browser, tab):
    with closing(CdpSource(browser.url, timeout=60, patience=0)) as source:
        with pytest.raises(NotReady, match=r"window.TradingViewApi is not there"):
            source.read()
        tab.set_chart(chart(zones(), bars=[]))
        with pytest.raises(NotReady, match="the bars of the chart are not there"):
            source.read()
    with closing(CdpSource(browser.url, timeout=60)) as patient:
        later = threading.Timer(0.3, tab.set_chart, [chart(zones())])
        later.start()
        assert patient.read().chart["last_bar"] == 119
        later.join()


def test_of_several_charts_one_is_chosen_by_id_or_title(browser, tab, capsys):
    tab.set_chart(chart(zones()))
    other = browser.open(chart(zones(), symbol="ES1!"), title="ES on 5m")
    try:
        with pytest.raises(AmbiguousTab) as wrong:
            CdpSource(browser.url, timeout=60).read()
        assert "ES on 5m" in str(wrong.value)
        assert main(["snapshot", "--tv", browser.url]) == 2
        assert "--tv-tab" in capsys.readouterr().err
        for name in (other.id, "ES on"):
            with closing(CdpSource(browser.url, name, timeout=60)) as source:
                assert source.read().chart["symbol"] == "ES1!"
    finally:
        browser.close(other)


def test_without_a_chart_the_tabs_are_listed(browser):
    page = browser.open(title="News", url="https://www.tradingview.com/news/")
    try:
        with pytest.raises(SourceFailed, match=r"no TradingView chart is open .*; tabs: .*News"):
            CdpSource(browser.url, timeout=60).read()
        with pytest.raises(SourceFailed, match=r"no tab is called 'Gold'"):
            CdpSource(browser.url, "Gold", timeout=60).read()
    finally:
        browser.close(page)


def test_a_lost_connection_is_made_anew(browser):
    first = browser.open(chart(zones()))
    with closing(CdpSource(browser.url, timeout=60)) as source:
        assert source.read().chart["symbol"] == "CME_MINI:NQ1!"
        second = browser.open(chart(zones(), symbol="ES1!"))
        browser.close(first)
        assert source.read().chart["symbol"] == "ES1!"
        browser.close(second)
        with pytest.raises(Failure):
            source.read()


def test_a_page_that_never_answers_is_given_up(browser, tab):
    tab.set_chart(chart(zones()))
    slow = "TradingViewApi._activeChartWidgetWV.value().symbol = () => { for (;;); }; 0"
    tab.evaluate(slow)
    given_up = "was not read within 1 s|failed while it was read|does not answer in time"
    with (
        closing(CdpSource(browser.url, timeout=1)) as source,
        pytest.raises(SourceFailed, match=given_up),
    ):
        source.read()


def test_a_recording_holds_the_pages_shape_and_no_account_data(browser, tab, capsys):
    tab.set_chart(chart(zones()))
    assert main(["snapshot", "--tv", browser.url, "--tv-timeout", "60", "--raw"]) == 0
    text = capsys.readouterr().out
    recording = json.loads(text)
    assert recording["browser"].startswith(("Chrome/", "HeadlessChrome/"))
    [shape] = [study["shape"] for study in recording["page"]["studies"] if "shape" in study]
    assert ["dwglabels", ["labels"]] in shape["families"]
    assert ["dwglabels", ["id", "text"]] in shape["objects"]
    for private in ("USER;a1b2c3", "the script itself", "AbCd1234"):
        assert private not in text


def test_the_command_line_reads_a_contract_from_the_page(browser, tab, tmp_path, capsys):
    (tmp_path / "painted.yaml").write_text(CONTRACT)
    packed = study("p", "Painted", {"indexes": [3], "dwglabels": [label(1, 0, 1, "x", ci=GREEN)]})
    tab.set_chart(chart(packed))
    options = ["--tv", browser.url, "--tv-timeout", "60", "--json"]
    assert main(["read", str(tmp_path / "painted.yaml"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == {"side": "up"}
    tab.set_chart(chart(zones()))
    assert main(["read", str(tmp_path / "painted.yaml"), *options]) == 3
