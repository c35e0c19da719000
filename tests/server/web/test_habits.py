"""What a chart user reaches for, in a real browser; and nothing is lost under their fingers."""

import re

import httpx2
import pytest
from tests.server.web.conftest import PHONE, keep_screen, opening

pytestmark = pytest.mark.slow
ES = "?symbol=sample:es-5m"


@pytest.fixture(scope="module")
def opened(chromium):
    """One tab for all of these tests, each of which opens its own address in it."""
    with opening(chromium) as make:
        yield make()


@pytest.fixture
def show(site, opened):
    def open_address(query):
        opened.page.goto(f"{site}/{query}")
        opened.ready()
        return opened.page

    yield open_address
    assert opened.complaints == []


def focused(page):
    return page.evaluate("() => document.activeElement.id || document.activeElement.tagName")


def command(page, words):
    page.keyboard.press("Control+k")
    page.locator("#say").fill(words)
    page.keyboard.press("Enter")


def test_a_change_keeps_the_focus_and_what_is_typed_in_the_next_field(show):
    page = show(f"{ES}&i=macd")
    page.locator("#live .name").click()
    page.fill("#p0-fast", "10")
    page.locator("#p0-slow").click()
    page.locator("#p0-slow").fill("30")
    page.wait_for_function("() => workbench.data.indicators[0].params.fast === 10")
    assert focused(page) == "p0-slow"
    assert page.locator("#p0-slow").input_value() == "30"
    page.keyboard.press("Enter")
    page.wait_for_function("() => workbench.data.indicators[0].params.slow === 30")
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    page.wait_for_function("() => workbench.data.indicators[0].params.slow === 32")
    page.keyboard.press("Tab")
    assert focused(page) == "p0-signal"


def test_a_change_that_is_refused_is_said_and_the_chart_stays(show):
    page = show(ES + "&i=rsi" * 16)
    page.fill("#find", "vwap")
    page.keyboard.press("Enter")
    page.locator("#toast", has_text="more than 16").wait_for()
    assert page.locator("#problem").is_hidden()
    assert page.evaluate("() => workbench.state.indicators.length") == 16


def test_what_is_removed_comes_back_by_undo_and_the_first_hit_is_added_by_enter(show):
    page = show(f"{ES}&i=vwap&i=rsi")
    row = page.locator(".legend-row", has_text="RSI")
    row.hover()
    row.locator("[aria-label^=Take]").click()
    page.wait_for_function("() => workbench.data.indicators.length === 1")
    page.locator("#toast button", has_text="Undo").click()
    page.wait_for_function("() => workbench.data.indicators.length === 2")
    page.fill("#find", "exponential moving average")
    page.keyboard.press("Enter")
    page.wait_for_function("() => workbench.data.indicators.length === 3")
    assert page.evaluate("() => workbench.state.indicators[2].name") == "ema"
    page.fill("#find", "")


def test_the_timeframe_stays_with_another_symbol_and_back_leads_back(show):
    page = show(f"{ES}&tf=1h")
    page.locator("body").press("n")
    page.locator("#say").press_sequentially("q-5m")
    page.keyboard.press("Enter")
    page.wait_for_function("() => workbench.data.symbol.startsWith('NQ')")
    assert page.evaluate("() => workbench.data.timeframe") == "1h"
    page.go_back()
    page.wait_for_function("() => workbench.data.symbol.startsWith('ES')")
    page.locator("#chart").press("4")
    page.locator("#answers", has_text="4h").wait_for()
    page.locator("#answers li", has_text=re.compile("^4h")).click()
    page.wait_for_function("() => workbench.data.timeframe === '4h'")


def test_an_unknown_zone_falls_back_to_utc_with_a_sentence(show):
    page = show(f"{ES}&tz=Europe/Berlim")
    assert "Europe/Berlim" in page.locator("#toast").inner_text()
    assert page.locator("#zone-name").inner_text() == "UTC"


def test_heights_that_were_dragged_survive_another_indicator_and_a_reload(show):
    page = show(f"{ES}&i=rsi")
    heights = "() => workbench.view.chart.panes().map((pane) => pane.getHeight())"
    first = page.evaluate(heights)
    box = page.locator("#chart").bounding_box()
    y = box["y"] + first[0] + 1
    page.mouse.move(box["x"] + 300, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, y - 120, steps=5)
    page.mouse.up()
    page.wait_for_function("() => workbench.state.look?.heights")
    dragged = page.evaluate(heights)
    assert dragged[0] < first[0] - 80
    page.fill("#find", "macd")
    page.keyboard.press("Enter")
    page.wait_for_function("() => workbench.view.panes.length === 4")
    grown = page.evaluate(heights)
    assert grown[1] / grown[0] == pytest.approx(dragged[1] / dragged[0], rel=0.1)
    page.fill("#find", "")


def test_the_look_of_a_plot_is_chosen_kept_in_the_link_and_a_second_one_differs(site, show):
    page = show(f"{ES}&i=ema&i=ema:period=50")
    page.locator("#live .name").nth(1).click()
    page.locator(".look summary").click()
    colors = page.evaluate(
        "() => workbench.view.panes[0].scenes.map((scene) => scene.plots[0].color)"
    )
    assert colors[0] != colors[1]
    page.locator(".look input[type=color]").fill("#ff0000")
    page.locator(".look input[type=number]").fill("4")
    page.locator(".look input[type=number]").press("Enter")
    page.wait_for_function("() => workbench.view.panes[0].scenes[1].plots[0].width === 4")
    assert page.locator(".look").get_attribute("open") is not None
    again = show(page.url.removeprefix(f"{site}/"))
    plot = again.evaluate("() => workbench.view.panes[0].scenes[1].plots[0]")
    assert (plot["color"], plot["width"]) == ("#ff0000", 4)


def test_scales_chart_types_and_volume_are_a_command_away_and_change_no_value(show):
    page = show(f"{ES}&i=rsi")
    before = page.evaluate("() => [...workbench.data.indicators[0].scene.plots[0].values].at(-1)")
    for words, look in (
        ("Logarithmic", {"scale": "log"}),
        ("Percent scale", {"scale": "percent"}),
        ("Heikin", {"candles": "heikin"}),
        ("Hollow", {"candles": "hollow"}),
        ("Area", {"candles": "area"}),
        ("Hide volume", {"noVolume": True}),
    ):
        command(page, words)
        page.wait_for_function(
            "(look) => Object.entries(look).every(([k, v]) => workbench.view.look[k] === v)",
            arg=look,
        )
        keep_screen(page, f"look-{words.lower().replace(' ', '-')}")
    assert page.evaluate("() => workbench.view.panes.length") == 2
    assert "candles=area" in page.url and "volume=0" in page.url
    after = page.evaluate("() => [...workbench.data.indicators[0].scene.plots[0].values].at(-1)")
    assert after == before


def drag(page, *steps):
    box = page.locator("#chart").bounding_box()
    (x, y), *rest = [(box["x"] + dx, box["y"] + dy) for dx, dy in steps]
    page.mouse.move(x, y)
    page.mouse.down()
    for x, y in rest:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()


def test_lines_drawn_by_hand_are_kept_for_their_symbol_and_removed_by_a_key(show, site):
    page = show(ES)
    page.locator("#tools [aria-label='Trend line']").click()
    drag(page, (200, 120), (420, 220))
    page.locator("#tools [aria-label=Rectangle]").click()
    drag(page, (300, 150), (360, 250))
    assert page.evaluate("() => workbench.drawings.all.map((one) => one.tool)") == [
        "trend",
        "rectangle",
    ]
    keep_screen(page, "drawings-dark")
    drawings = None
    while len(drawings or []) < 2:  # a page that is opened at once may be sooner than what is kept
        page.wait_for_timeout(50)
        layout = httpx2.get(f"{site}/api/v1/my/layout").json()["layout"]
        drawings = layout and layout.get("drawings", {}).get("sample:es-5m")
    page.evaluate("() => workbench.setSymbol('sample:nq-5m')")
    page.wait_for_function("() => workbench.data.symbol.startsWith('NQ')")
    assert page.evaluate("() => workbench.drawings.all.length") == 0
    page = show(ES)
    assert page.evaluate("() => workbench.drawings.all.length") == 2
    page.keyboard.down("Shift")
    drag(page, (200, 120), (420, 60))
    page.keyboard.up("Shift")
    assert page.evaluate("() => workbench.drawings.drawn.tool") == "measure"
    page.evaluate("() => { workbench.drawings.chosen = workbench.drawings.all[0] }")
    page.locator("#chart").press("Delete")
    assert page.evaluate("() => workbench.drawings.all.length") == 1
    page.evaluate("() => workbench.drawings.clear()")


def test_another_symbol_is_compared_and_taken_off_again(show):
    page = show(ES)
    page.evaluate("() => workbench.compare('sample:nq-5m')")
    page.wait_for_function("() => workbench.view.compared.length === 1")
    page.locator(".legend-row", has_text="sample:nq-5m").wait_for()
    keep_screen(page, "compare-dark")
    page.evaluate("() => workbench.compare('sample:nq-5m')")
    page.wait_for_function("() => workbench.view.compared.length === 0")


def test_a_replay_knows_nothing_of_later_bars_and_goes_one_bar_further(show, site):
    page = show(f"{ES}&i=session_hunt_ai")
    count = page.evaluate("() => workbench.data.count")
    time = page.evaluate("() => workbench.data.bars.time[2000]")
    page.evaluate("(time) => workbench.replay(time)", time)
    page.wait_for_function("() => workbench.data.count === 2001")
    page.locator("#replay [aria-label='One bar further']").click()
    page.wait_for_function("() => workbench.data.count === 2002")
    shown = page.evaluate("() => workbench.data.bars.time[2001]")
    ask = {"contracts": ["session_hunt_ai"], "symbol": "sample:es-5m", "to": shown}
    state = httpx2.post(f"{site}/api/v1/state", json=ask, timeout=600).json()
    assert state["as_of"] == shown + 300_000  # its close
    keep_screen(page, "replay-dark")
    page.locator("#replay button", has_text="Back to now").click()
    page.wait_for_function("(count) => workbench.data.count === count", arg=count)
    assert page.locator("#replay").is_hidden()


CSV = "time,open,high,low,close,volume\n" + "".join(
    f"{1_700_000_100 + 300 * i},{10 + i % 3},{12 + i % 3},9,{11 + i % 3},5\n" for i in range(60)
)


def test_bars_that_close_later_come_to_the_page_by_themselves(show, site):
    put = {"timeout": 120, "headers": {"Content-Type": "text/csv"}}
    address = f"{site}/api/v1/my/bars/live"
    httpx2.put(address, content=CSV, **put).raise_for_status()
    page = show("?symbol=live@mine&tf=15m")
    count = page.evaluate("() => workbench.data.count")
    more = "".join(f"{1_700_000_100 + 300 * i},10,12,9,11,5\n" for i in range(60, 64))
    httpx2.put(address, content=CSV + more, **put).raise_for_status()
    page.evaluate("() => workbench.parts.live.look()")
    page.wait_for_function("(count) => workbench.data.count === count + 1", arg=count)
    page.evaluate("() => workbench.parts.live.look()")
    page.wait_for_function("() => workbench.view.forming?.close === 11")


def test_a_request_that_fails_is_made_again_and_nothing_stays_dead(show, opened):
    page = show(ES)
    page.context.set_offline(True)
    page.locator("#write").click()
    page.locator("#waiting", has_text="does not answer").wait_for()
    page.context.set_offline(False)
    page.locator("#desk .cm-content").wait_for()
    page.wait_for_function(
        "() => !document.getElementById('verdict').textContent.includes('Check')"
    )
    assert page.locator("#waiting").is_hidden()
    page.evaluate(
        "() => workbench.desk.editor.load('//@version=5\\nindicator(\"x\")\\nplot(close)')"
    )
    page.locator("#problems .notice", has_text="This is Pine").wait_for()
    page.keyboard.press("Escape")
    page.locator("#close-desk").click()
    assert focused(page) == "chart"
    opened.complaints.clear()  # the browser names the requests that failed


def test_a_save_over_what_another_tab_saved_is_asked_about(site, show):
    source = "PARAMS = []\nMETA = {'title': 'T', 'overlay': True}\n"
    source += "def compute(ohlcv, params, chart):\n    chart.line(ohlcv.close, title='C')\n"
    address = f"{site}/api/v1/my/indicators/both"
    assert httpx2.put(address, json={"source": source}, timeout=120).json()["ok"]
    page = show(f"{ES}&i=both")
    page.evaluate("() => workbench.edit('both')")
    page.locator("#desk .cm-content").wait_for()
    httpx2.patch(address, json={"source": f"# theirs\n{source}"}, timeout=120)
    page.evaluate("() => workbench.desk.editor.insert('# mine\\n')")
    page.keyboard.press("Control+s")
    page.locator("#confirm-title", has_text="saved elsewhere").wait_for()
    page.locator("#confirm-yes").click()
    page.locator("#toast", has_text="Saved both").wait_for()
    page.locator("#close-desk").click()


def test_a_contract_drafted_from_this_chart_is_tried_on_this_chart_and_hides_no_price(show):
    page = show(f"{ES}&i=macro")
    page.evaluate("() => workbench.contracts.open('macro')")
    page.locator("#contract-verdict", has_text="macro").wait_for()
    page.evaluate(
        "() => workbench.contracts.editor.load("
        "workbench.contracts.editor.text.replace('contract: macro', 'contract: my_macro'))"
    )
    page.locator("#contract-verdict", has_text="my_macro").wait_for()
    page.locator("#contract-try").click()
    page.locator("#contract-result .objects tbody tr").first.wait_for()
    assert page.locator("#contract-result .trouble").count() == 0
    keep_screen(page, "contract-tried-dark")
    page.locator("#contract-close").click()


def test_a_right_click_opens_a_menu_that_keys_move_in(show):
    page = show(ES)
    page.locator("#chart").click(button="right", position={"x": 300, "y": 200})
    page.locator("#menu").wait_for()
    page.keyboard.press("ArrowDown")
    assert "Go to a date" in page.evaluate("() => document.activeElement.textContent")
    keep_screen(page, "menu-dark")
    page.keyboard.press("Escape")
    assert page.locator("#menu").is_hidden()


def test_more_on_the_phone_has_what_the_bar_has_no_room_for(site, tab):
    page = tab(**PHONE).open(f"{site}/{ES}")
    page.locator("#more").click()
    items = page.locator("#menu button").all_inner_texts()
    for wanted in ("Time zone…", "Picture", "Help", "Copy the link", "Go to the last bar"):
        assert wanted in items
    keep_screen(page, "more-phone")


def test_a_symbol_is_watched_with_its_price_and_no_more(show, site):
    page = show(ES)
    page.locator("#shelves [data-source=watch]").click()
    page.locator("#stock button", has_text="Watch sample:es-5m").click()
    page.locator(".watched", has_text="%").wait_for()
    kept = httpx2.get(f"{site}/api/v1/my/watchlists").json()["watchlists"]
    assert kept[0]["symbols"] == ["sample:es-5m"]
    keep_screen(page, "watchlist-dark")
    page.locator("[aria-label='Watch sample:es-5m no more']").click()
    page.locator("#stock button", has_text="Watch sample:es-5m").wait_for()
    page.locator("#shelves [data-source=builtin]").click()
