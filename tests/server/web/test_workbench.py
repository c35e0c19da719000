"""The workbench in a real browser: a chart, its indicators and its address."""

import pytest

pytestmark = pytest.mark.slow


def names_on_chart(page):
    return page.locator("#live .name").evaluate_all(
        "names => names.map((name) => name.firstChild.textContent)"
    )


def shown(page):
    """What the chart itself holds: its symbol, timeframe, bars and indicators."""
    return page.evaluate(
        "() => { const { data } = workbench; return {"
        " symbol: data.symbol, timeframe: data.timeframe, count: data.count,"
        " ids: data.indicators.map((drawn) => drawn.id) } }"
    )


def ink(page, index=0):
    """The share of a pane's pixels that differ from its background."""
    return page.evaluate(
        """(index) => {
          const canvas = workbench.view.chart.panes()[index].getHTMLElement()
            .querySelectorAll("canvas")[2];
          const { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          let inked = 0;
          for (let i = 0; i < data.length; i += 4)
            if (Math.abs(data[i] - 0x13) + Math.abs(data[i + 1] - 0x17) > 40) inked++;
          return inked / (width * height);
        }""",
        index,
    )


def test_the_served_address_shows_a_chart_with_indicators_and_says_that_it_is_synthetic(site, tab):
    page = tab().open(site)
    assert shown(page)["ids"] == ["supertrend", "cipher_b", "rsi"]
    assert ink(page) > 0.01
    assert page.locator(".legend .badge").inner_text() == "synthetic"
    assert names_on_chart(page) == ["Supertrend", "Cipher B", "RSI"]
    assert "BTCUSD" in page.title()


def test_an_indicator_is_found_added_changed_moved_and_removed(site, tab):
    page = tab().open(f"{site}/?symbol=sample:es-5m&i=rsi")
    page.fill("#find", "bollinger")
    page.locator("#stock button", has_text="Bollinger Bands").first.click()
    page.wait_for_function("() => workbench.data.indicators.length === 2")
    page.locator("#p1-period").fill("9")
    page.locator("#p1-period").press("Enter")
    page.wait_for_function("() => workbench.data.indicators[1].params.period === 9")
    assert "i=bbands:period=9" in page.url
    page.locator("[aria-label^='Move'][aria-label$='up']").last.click()
    page.wait_for_function("() => workbench.data.indicators[0].name === 'bbands'")
    page.locator("[aria-label^='Remove']").first.click()
    page.wait_for_function("() => workbench.data.indicators.length === 1")
    assert page.url.endswith("?symbol=sample:es-5m&i=rsi")


def test_the_address_of_a_chart_draws_it_again(site, tab):
    page = tab().open(f"{site}/?symbol=sample:es-5m&tf=1h&i=rsi:period=7&i=vwap")
    first = shown(page)
    assert first["timeframe"] == "1h"
    assert first["ids"] == ["rsi:period=7", "vwap"]
    again = tab().open(page.url)
    assert shown(again) == first


def test_symbols_timeframes_and_commands_are_a_few_keys_away(site, tab):
    page = tab().open(site)
    page.keyboard.press("Control+k")
    page.keyboard.type("nq-5m")
    page.keyboard.press("Enter")
    page.wait_for_function("() => workbench.data.symbol.startsWith('NQ')")
    page.locator("#frames button", has_text="1h").click()
    page.wait_for_function("() => workbench.data.timeframe === '1h'")
    assert page.locator("#frames [aria-checked=true]").inner_text() == "1h"


def test_a_symbol_that_is_not_there_is_explained_with_a_next_step(site, tab):
    opened = tab()
    page = opened.page
    page.goto(f"{site}/?symbol=sample:nowhere")
    page.locator("#problem h2").wait_for()
    assert "nowhere" in page.locator("#problem h2").inner_text()
    assert page.locator("#problem button", has_text="Choose a symbol").is_visible()
    opened.ready()
    # Who comes back to the tab finds it as it was: without a chart no live bars are looked for.
    page.evaluate(
        "() => { document.dispatchEvent(new Event('visibilitychange'));"
        " return new Promise((done) => setTimeout(done, 100)); }"
    )


def test_a_broken_indicator_spoils_nothing_else(site, tab):
    page = tab().open(f"{site}/?symbol=sample:es-5m&i=rsi:period=0&i=vwap")
    assert "rsi" in page.locator(".error-card").inner_text()
    assert ink(page) > 0.01


def test_the_policy_is_in_force_and_a_breach_of_it_would_be_noticed(site, tab):
    opened = tab()
    page = opened.open(site)
    page.evaluate(
        "() => { const div = document.createElement('div');"
        " try { div.innerHTML = '<b>x</b>'; } catch (error) { document.title = error.name } }"
    )
    assert page.title() == "TypeError"
    assert any("TrustedHTML" in complaint for complaint in opened.complaints)
    opened.complaints.clear()
