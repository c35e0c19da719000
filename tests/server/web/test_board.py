"""The state board in a real browser: follows, typed states, violations and journals."""

import pytest

pytestmark = pytest.mark.slow
CHART = "?symbol=sample:es-5m&i=session_hunt_ai"


def follow(page, contract):
    """Follows a contract on the chart that is shown, and waits for its first reading."""
    page.locator("#follow-new").click()
    page.locator("#follow-contract").select_option(contract)
    page.locator("#follow-submit").click()
    page.locator("#follow-dialog").wait_for(state="hidden")
    page.locator("#follow-body .journal").wait_for()


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
    page.locator("#follow-pause").click()
    page.locator("#board .st", has_text="Paused").wait_for()
    page.locator("#follow-pause", has_text="Go on").click()
    page.locator("#board .st", has_text="HUNT_LOW").wait_for()
    page.locator("#follow-remove").click()
    page.locator("#follow-remove", has_text="Remove with its journal?").click()
    page.locator("#board", has_text="not followed").wait_for()
    assert page.locator("#follow").is_hidden()
