"""Scripts in the page: forked, typed, checked, drawn, saved; and nothing that was typed is lost."""

import re
import socket
from uuid import uuid4

import httpx2
import pytest
from tests.server.web.conftest import opening, serving_here
from tests.server.web.test_workbench import shown

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="document.title=`hacked`">'
SCRIPT = f"""
PARAMS = [{{"name": "n", "type": "int", "default": 3, "desc": '{HOSTILE}'}}]
META = {{"title": '{HOSTILE}', "overlay": True}}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title='{HOSTILE}', color="orange")
    chart.new_label(len(ohlcv) - 5, ohlcv.close[len(ohlcv) - 5], '{HOSTILE}')
    chart.set_label('{HOSTILE}')
"""


def wait_for_verdict(page, pattern=r"^(No problems|\d+ warnings?$)"):
    page.wait_for_function(
        "(pattern) => new RegExp(pattern).test(document.getElementById('verdict').textContent)",
        arg=pattern,
    )


def type_script(page, source):
    page.evaluate(
        "(insert) => { const { view } = workbench.desk.editor;"
        " view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }); }",
        source,
    )


def last_value(page, name):
    return page.evaluate(
        "(name) => { const { data } = workbench;"
        " const drawn = data.indicators.find((drawn) => drawn.name === name);"
        " return drawn?.scene?.plots.find((plot) => plot.values)?.values[data.count - 1] }",
        name,
    )


def text_of(page):
    return page.evaluate("() => workbench.desk.editor.text")


@pytest.fixture(scope="module")
def with_script(site, chromium):
    """A tab on which a new script is written."""
    with opening(chromium) as open_tab:
        opened = open_tab()
        page = opened.open(f"{site}/?symbol=sample:es-5m")
        page.locator("#write").click()
        wait_for_verdict(page)
        yield opened, text_of(page)


@pytest.fixture
def desk(with_script):
    """The page of that tab, on whose chart the new script is drawn, whatever was typed before."""
    opened, text = with_script
    page = opened.page
    text = f"# {uuid4()}\n{text}"  # no verdict that is on its way is for this one
    type_script(page, text)
    page.wait_for_function(
        "(text) => workbench.desk.lastGood === text && workbench.data.indicators[0]?.scene",
        arg=text,
    )
    wait_for_verdict(page)
    yield page
    assert opened.complaints == []


def test_cipher_b_is_forked_changed_seen_reloaded_saved_restored_and_deleted(site, tab):
    page = tab().open(f"{site}/?symbol=sample:es-5m&i=cipher_b")
    original = last_value(page, "cipher_b")
    page.locator("#live .name").click()
    page.locator("#live .link", has_text="Fork").click()
    page.wait_for_function("() => workbench.data.indicators[0].name === 'my_cipher_b'")
    wait_for_verdict(page)
    assert last_value(page, "my_cipher_b") == pytest.approx(original)

    source = text_of(page)
    faster = source.replace('"default": 9', '"default": 5', 1)
    assert faster != source
    type_script(page, faster)
    page.wait_for_function(
        "(before) => { const { data } = workbench; const [{ scene }] = data.indicators;"
        " return scene && scene.plots.find((p) => p.values).values[data.count - 1] !== before }",
        arg=original,
    )
    changed = last_value(page, "my_cipher_b")

    page.reload()  # the script was never saved
    page.wait_for_selector("html[data-ready]", state="attached")
    assert text_of(page) == faster
    assert last_value(page, "my_cipher_b") == pytest.approx(changed)

    page.keyboard.press("Control+s")
    page.locator("#toast", has_text="Saved my_cipher_b").wait_for()
    assert page.locator("#dirty").is_hidden()
    type_script(page, source)
    wait_for_verdict(page)
    page.locator("#run").click()
    page.wait_for_function("() => workbench.desk.saved === workbench.desk.editor.text")
    page.locator("#versions").click()
    page.locator("#diff .cm-changedLine").first.wait_for()
    page.locator("#restore").click()
    page.wait_for_function("() => !document.getElementById('history').open")
    assert text_of(page) == faster

    page.locator("#script-menu").click()
    page.fill("#new-name", "faster")
    page.locator("#rename button").click()
    page.wait_for_function("() => workbench.data.indicators[0]?.name === 'faster'")
    page.locator("#script-menu").click()
    page.locator("[aria-label='Delete faster']").click()
    page.locator("#confirm-yes").click()
    page.wait_for_function("() => workbench.data.indicators.length === 0")


def test_an_error_is_shown_where_it_stands_and_mended_by_a_button_while_the_chart_stays(desk):
    page = desk
    name = shown(page)["ids"][0]
    good = text_of(page)
    type_script(page, good.replace("ta.crossover", "ta.crosover").replace("# A", "# 🚀🚀 A"))
    wait_for_verdict(page, "1 error")
    assert last_value(page, name) is not None
    assert page.locator("#code .cm-lintRange-error").inner_text() == "ta.crosover"
    page.locator("#problems .fix").click()
    wait_for_verdict(page)
    assert "ta.crossover" in text_of(page)


def test_completion_hover_and_the_reference_know_the_language(desk):
    page = desk
    page.locator("#code .cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("    x = ta.pivot_h")
    page.locator("#code .cm-tooltip-autocomplete li", has_text="pivot_high").wait_for()
    page.keyboard.press("Escape")
    page.locator("#code .cm-line span", has_text=re.compile("^ema$")).first.hover()
    page.locator("#code .cm-tooltip-hover", has_text="ta.ema(").wait_for()
    page.locator("#reference-toggle").click()
    page.fill("#reference-find", "supertrend")
    assert "ta.supertrend(" in page.locator("#reference-list code").first.inner_text()


def test_whether_a_script_rewrites_its_past_is_a_button_away(desk):
    page = desk
    page.locator("#prove").click()
    page.locator("#proof.ok").wait_for()
    assert "does not rewrite its past" in page.locator("#proof").inner_text()


def test_what_a_script_says_is_text_everywhere_on_the_page(desk):
    page = desk
    type_script(page, SCRIPT)
    wait_for_verdict(page)
    page.wait_for_function(
        "(text) => workbench.data.indicators[0]?.scene?.label === text", arg=HOSTILE
    )
    page.locator("#live .name").first.click()
    page.keyboard.press("Control+s")
    page.locator("#toast", has_text="Saved").wait_for()
    page.locator("#shelves [data-source=user]").click()
    page.locator("#stock b", has_text="onerror").wait_for()
    assert page.locator("img[src]").count() == 0  # CodeMirror has some without
    assert "hacked" not in page.title()


CSV = "Date;Price;Open;High;Low\n" + "".join(
    f"{day:02}.03.2024;{100 + day},5;{100 + day},0;{102 + day},0;{99 + day},0\n"
    for day in range(1, 29)
)


def test_bars_are_dropped_shown_as_they_were_read_corrected_and_kept(site, tab):
    page = tab().open(f"{site}/?symbol=sample:es-5m")
    page.evaluate(
        "(text) => { const data = new DataTransfer();"
        " data.items.add(new File([text], 'my bars.csv', { type: 'text/csv' }));"
        " dispatchEvent(new DragEvent('drop', { dataTransfer: data, cancelable: true })) }",
        CSV,
    )
    page.locator("#bars-form summary").click()
    page.fill("#bars-columns", "close=Price")
    page.fill("#bars-tz", "UTC")
    page.fill("#bars-symbol", "THING")
    page.locator("#bars-symbol").press("Tab")
    page.locator(".read-as dd", has_text="THING").wait_for()
    assert page.locator(".read-as").inner_text().count("2024-03") == 2
    page.locator("#keep-bars").click()
    page.wait_for_function("() => workbench.data.symbol === 'THING'")
    assert "symbol=my_bars@mine" in page.url


CONTROLS = """
PARAMS = [
    {"name": "n", "type": "int", "default": 5, "min": 2, "max": 9, "group": "Look"},
    {"name": "ink", "type": "color", "default": "#ff8800", "group": "Look", "inline": "a"},
    {"name": "on", "type": "bool", "default": True, "group": "Look", "inline": "a"},
    {"name": "hours", "type": "session", "default": "0930-1600", "group": "When"},
    {"name": "since", "type": "time", "default": 1700000000000, "group": "When"},
    {"name": "other", "type": "symbol", "default": "sample:nq-5m", "tooltip": "Its pair"},
    {"name": "way", "type": "choice", "default": "up", "options": ["up", "down"]},
]
META = {"title": "Controls", "overlay": True}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title="Average", color=params["ink"])
"""


def test_every_kind_of_parameter_has_a_control_of_its_own(site, tab):
    saved = httpx2.put(
        f"{site}/api/v1/my/indicators/controls", json={"source": CONTROLS}, timeout=120
    )
    assert saved.json()["ok"], saved.text
    page = tab().open(f"{site}/?symbol=sample:es-5m&i=controls")
    page.locator("#live .name").click()
    kinds = {name: page.locator(f"#p0-{name}").get_attribute("type") for name in ("n", "ink", "on")}
    assert kinds == {"n": "number", "ink": "color", "on": "checkbox"}
    assert page.locator("#p0-since").get_attribute("type") == "datetime-local"
    assert page.locator("#p0-hours").input_value() == "0930-1600"
    assert page.locator("#p0-other").get_attribute("list") == "symbols"
    assert page.locator("#p0-other").get_attribute("title") == "Its pair"
    assert page.locator("#p0-way option").all_inner_texts() == ["up", "down"]
    assert page.locator(".params h3").all_inner_texts() == ["Look", "When"]
    assert page.locator(".param", has=page.locator("#p0-ink")).locator("#p0-on").count() == 1
    page.locator("#p0-ink").fill("#00ff00")
    page.wait_for_function("() => workbench.data.indicators[0].params.ink === '#00ff00ff'")
    page.locator("#p0-n").fill("99")
    page.locator("#p0-n").press("Enter")
    assert page.locator("#p0-n").get_attribute("aria-invalid") == "true"


def test_the_meter_shows_what_the_run_on_the_chart_took(site, tab):
    page = tab().open(f"{site}/?symbol=sample:es-5m")
    page.locator("#write").click()
    wait_for_verdict(page)
    page.wait_for_function("() => workbench.data.indicators[0]?.steps > 0")
    steps, count = page.evaluate("() => [workbench.data.indicators[0].steps, workbench.data.count]")
    page.locator("#steps", has_text=f"{steps:,} steps on {count:,} bars").wait_for()
    assert page.locator("#budget").evaluate("(meter) => meter.value") == steps
    shown, cpu_ms = page.evaluate(
        "() => [document.getElementById('ms').textContent, workbench.data.indicators[0].cpu_ms]"
    )
    assert shown == f"{cpu_ms:g} ms"


def test_a_server_that_restarts_in_mid_edit_costs_nothing_that_was_typed(tmp_path, tab):
    listener = socket.create_server(("127.0.0.1", 0))
    with listener:
        with serving_here(tmp_path, listener=listener.dup()) as (url, _):
            page = tab().open(f"{url}/?symbol=sample:es-5m")
            page.locator("#write").click()
            wait_for_verdict(page)
        typed = f"# typed while nobody listened\n{text_of(page)}"
        type_script(page, typed)
        with serving_here(tmp_path, listener=listener.dup()):
            wait_for_verdict(page)
            assert text_of(page) == typed
            page.keyboard.press("Control+s")
            page.locator("#toast", has_text="Saved").wait_for()
            assert page.evaluate("() => workbench.desk.saved") == typed
            page.close()
