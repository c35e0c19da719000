"""The state board in a real browser: follows, typed states, violations and journals."""

import re
import sys

import httpx2
import pytest
from tests.server.test_drawings import MARKS, show_in_stock
from tests.server.web.conftest import keep_screen, serving_here
from tests.sources.tradingview import stock_server

from chartpact.sources.tradingview import grants

pytestmark = pytest.mark.slow
CHART = "?symbol=sample:es-5m&i=session_hunt_ai"


def follow(page, contract):
    """Follows a contract on the chart that is shown, and waits for its first reading."""
    page.locator("#follow-new").click()
    page.locator("#follow-contract").select_option(contract)
    page.locator("#follow-submit").click()
    page.locator("#follow-dialog").wait_for(state="hidden")
    page.locator("#follow-body .journal").wait_for()


def marks(page):
    """The channels of the objects that are marked on the chart."""
    return page.evaluate("() => workbench.view.highlights.marks.map((mark) => mark.channel)")


def test_a_follow_begins_pauses_and_ends_on_the_page(site, tab):
    page = tab().open(f"{site}/{CHART}")
    page.locator("#board li", has_text="not followed").wait_for()
    follow(page, "session_hunt_ai")
    card = page.locator("#board li")
    assert "HUNT_LOW" in card.inner_text()
    panel = page.locator("#follow-body")
    assert "HUNT_LOW" in panel.locator(".headline").inner_text()
    assert "since" in panel.locator(".headline").inner_text()
    assert "target high" in panel.locator("dl.typed").first.inner_text()
    assert "stood there when the follow began" in panel.locator(".journal").inner_text()
    panel.locator(".objects tbody tr").first.wait_for()
    assert {"boxes", "lines"} <= set(marks(page))
    row = panel.locator(".objects tr", has_text="hunted").first
    row.locator("button").click()
    assert page.evaluate("() => workbench.view.highlights.chosen.channel") == "boxes"
    page.locator("#follow-pause").click()
    page.locator("#board .st", has_text="Paused").wait_for()
    page.locator("#follow-pause", has_text="Go on").click()
    page.locator("#board .st", has_text="HUNT_LOW").wait_for()
    page.locator("#follow-remove").click()
    page.locator("#follow-remove", has_text="Remove with its journal?").click()
    page.locator("#board", has_text="not followed").wait_for()
    assert page.locator("#follow").is_hidden()


ATTACK = "<img src=x onerror=alert(1)>"
SCRIPT = f"""PARAMS = []
META = {{"title": "Evil", "overlay": True}}


def compute(ohlcv, params, chart):
    chart.new_label(len(ohlcv) - 9, ohlcv.close[-9], "{ATTACK}")
"""
CONTRACT = """contract: evil
version: 1.0.0
identity: {pine_title: Evil}
channels: {labels: signal}
elements:
  fine: {from: labels, where: text == 'fine', meaning: what should be drawn}
output: {fine: "len([f for f in fine])"}
"""


def test_a_violation_names_its_object_in_plain_words_and_an_attackers_text_stays_text(site, tab):
    with httpx2.Client(base_url=site, timeout=600) as http:
        for path, source in (("indicators", SCRIPT), ("contracts", CONTRACT)):
            outcome = http.put(f"/api/v1/my/{path}/evil", json={"source": source}).json()
            assert outcome["ok"], outcome
        ask = {"contracts": ["evil"], "symbol": "sample:es-5m", "every": 60}
        http.post("/api/v1/my/follows", json=ask).raise_for_status()
    page = tab().open(f"{site}/?symbol=sample:es-5m&i=evil")
    card = page.locator("#board li", has_text="VIOLATION")
    card.wait_for()
    assert f"no element claims this: label “{ATTACK}” at" in card.inner_text()
    card.locator("button").click()
    page.locator("#follow-body .objects tbody tr").wait_for()
    violation = page.locator("#follow-body .violations li")
    assert ATTACK in violation.inner_text()
    violation.locator("button").click()
    assert page.evaluate("() => workbench.view.highlights.chosen.isWrong")
    assert "Could not be read" in page.locator("#follow-body .journal").inner_text()
    assert page.locator("#board img, #follow img").count() == 0
    keep_screen(page, "follow-violation-dark")


def test_a_granted_tradingview_chart_is_followed_from_the_page(tmp_path, tab):
    recording = tmp_path / "replies.json"
    show_in_stock(recording, "Turn")
    command = f"{sys.executable} {stock_server.__file__} {recording}"
    granted = grants.from_environment({"CHARTPACT_TRADINGVIEW": f"desk=mcp:{command}?users=local"})
    with serving_here(tmp_path, tradingview=granted) as (url, _):
        kept = httpx2.put(f"{url}/api/v1/my/contracts/marks", json={"source": MARKS}, timeout=600)
        assert kept.json()["ok"]
        page = tab().open(url)
        page.locator("#follow-new").click()
        page.locator("#follow-contract").select_option("marks")
        page.locator("#follow-source").select_option("desk")
        page.locator("#follow-submit").click()
        page.locator("#follow-body .journal").wait_for()
        card = page.locator("#board li", has_text="desk")
        # The journal is there before the first reading is.
        card.locator(".st", has_text=re.compile(r"\bON\b")).wait_for()
        page.locator("#follow-body .objects tr", has_text="Turn").wait_for()
        assert page.locator("#follow-body button", has_text="Mark them on this chart").is_visible()
        assert marks(page) == []
