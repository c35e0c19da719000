"""Contracts in a real browser: checked as they are typed, drafted, registered and tried."""

import json
from collections import Counter

import httpx2
import pytest
from tests.server.web.accessibility import Scan, on_each_screen
from tests.server.web.conftest import keep_screen, opening

import chartpact as cp
from chartpact.contracts import find

pytestmark = pytest.mark.slow
CHART = "?symbol=sample:es-5m&i=session_hunt_ai"
ATTACK = "<img src=x onerror=alert(1)> SMT - NQ"


@pytest.fixture(scope="module")
def snapshot():
    """What a shipped indicator draws, as a recorded snapshot."""
    return cp.chart(cp.load("sample:es-5m"), ["session_hunt_ai"]).snapshot().to_json()


def open_contracts(page, name):
    page.locator("#contracts-open").click()
    page.locator("#contract-verdict", has_text="every proof holds").wait_for()
    page.locator("#contract-pick").select_option(name)
    page.locator("#contract-verdict", has_text=f"{name} ").wait_for()


@pytest.fixture(scope="module")
def with_contracts(site, chromium):
    """A tab that shows the contracts beside a chart."""
    with opening(chromium) as open_tab:
        opened = open_tab()
        open_contracts(opened.open(f"{site}/{CHART}"), "ob_ai")
        yield opened


@pytest.fixture
def desk(with_contracts):
    """The page of that tab; `show_contract` begins anew on it."""
    yield with_contracts.page
    assert with_contracts.complaints == []


def show_contract(page, name):
    """Shows a contract, listed among those that are registered by now."""
    page.evaluate("(name) => workbench.contracts.open(name)", name)  # done when it is loaded
    page.locator("#contract-verdict", has_text=f"{name} ").wait_for()


def type_contract(page, text):
    page.evaluate(
        """(text) => { const { view } = workbench.contracts.editor;
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }); }""",
        text,
    )


def choose_file(page, name, data):
    page.locator("input[aria-label='Snapshot file']").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": json.dumps(data).encode()}
    )


def test_a_contract_is_read_tried_on_the_chart_and_its_objects_are_marked(desk):
    page = desk
    show_contract(page, "session_hunt_ai")
    page.locator("#contract-source").select_option("this chart")
    page.locator("#contract-try").click()
    rows = page.locator("#contract-result .objects tbody tr")
    rows.first.wait_for()
    assert "HUNT_LOW" in page.locator("#contract-result .headline").inner_text()
    page.locator("#contract-result .objects select").select_option("hunted")
    assert rows.count() == 1
    assert "session london" in rows.inner_text().replace("\n", " ")
    rows.locator("button").click()
    chosen = page.evaluate("() => workbench.view.highlights.chosen")
    assert (chosen["channel"], chosen["isWrong"]) == ("boxes", False)


def test_a_check_or_a_list_that_a_busy_server_refuses_is_asked_for_again(site, tab):
    page = tab().open(f"{site}/{CHART}")
    asked = Counter()

    def refuse_once(route):
        path = route.request.url.partition("/api/v1/")[2]
        asked[path] += 1
        if asked[path] > 1:
            route.continue_()
            return
        problem = {"kind": "busy", "message": "the workers are busy", "hint": ""}
        headers = {"Retry-After": "1"}
        route.fulfill(status=429, headers=headers, json=problem)

    for path in ("contracts", "contracts/check"):
        page.route(f"**/api/v1/{path}", refuse_once)
    open_contracts(page, "ob_ai")
    assert min(asked["contracts"], asked["contracts/check"]) >= 2


def test_an_error_stands_at_its_line_and_what_was_typed_survives_a_reload(site, tab):
    opened = tab()
    page = opened.open(f"{site}/{CHART}")
    open_contracts(page, "ema_trend")
    shipped = find("ema_trend")
    wrong = shipped.text.replace(f"version: {shipped.version}", "version: one", 1)
    line = wrong[: wrong.index("version: one")].count("\n") + 1
    type_contract(page, wrong)
    problem = page.locator("#contract-problems li").first
    problem.wait_for()
    assert f"line {line}" in problem.inner_text()
    page.reload()
    opened.ready()
    page.locator("#contracts-open").click()
    page.locator("#contract-pick").select_option("ema_trend")
    page.locator("#contract-problems li", has_text=f"line {line}").wait_for()


def test_a_contract_is_drafted_from_a_snapshot_file_completed_and_registered(desk, snapshot):
    page = desk
    show_contract(page, "ob_ai")
    choose_file(page, "recorded.json", snapshot)
    page.locator("#toast", has_text="recorded.json: 1 studies").wait_for()
    page.locator("#contract-draft").click()
    assert page.locator("#draft-study").input_value() == "Session Hunt AI"
    page.locator("#draft-form [type=submit]").click()
    page.wait_for_function("() => workbench.contracts.editor.text.includes('TODO')")
    own = find("session_hunt_ai").text.replace("contract: session_hunt_ai", "contract: my_hunt", 1)
    type_contract(page, own)
    page.locator("#contract-verdict", has_text="my_hunt").wait_for()
    page.locator("#contract-save").click()
    page.locator("#toast", has_text="Registered my_hunt").wait_for()
    assert page.locator("#contract-pick").input_value() == "my_hunt"
    page.locator("#contract-source").select_option("recorded.json")
    page.locator("#contract-try").click()
    page.locator("#contract-result .objects tbody tr").first.wait_for()
    assert "HUNT_LOW" in page.locator("#contract-result .headline").inner_text()


def test_an_earlier_version_of_a_contract_is_compared_and_put_back_in_force(site, desk):
    first = find("ema_trend").text.replace("contract: ema_trend", "contract: my_trend", 1)
    version = find("ema_trend").version
    second = first.replace(f"version: {version}", "version: 9.0.1", 1)
    with httpx2.Client(base_url=site, timeout=600) as client:
        for text in (first, second):
            reply = client.put("/api/v1/my/contracts/my_trend", json={"source": text})
            assert reply.json()["ok"]
    page = desk
    show_contract(page, "my_trend")
    page.locator("#contract-versions").click()
    page.locator("#diff .cm-changedLine").first.wait_for()
    assert page.locator("#version-list b").all_inner_texts() == ["9.0.1", version]
    keep_screen(page, "contract-versions-dark")
    page.locator("#restore").click()
    page.locator("#toast", has_text=f"my_trend {version} is in force again").wait_for()
    assert page.evaluate("() => workbench.contracts.saved") == first
    page.locator("#contract-pick").select_option("ema_trend")
    page.locator("#contract-versions").wait_for(state="hidden")


def test_an_attackers_label_is_text_in_the_table_and_named_by_its_violation(desk):
    drawn = cp.chart(cp.load("sample:es-5m"), ["ema_trend"]).snapshot().to_json()
    drawn = json.loads(json.dumps(drawn))
    drawn["studies"][0]["labels"][0]["text"] = ATTACK
    page = desk
    show_contract(page, "ema_trend")
    choose_file(page, "hostile.json", drawn)
    page.locator("#toast", has_text="hostile.json: 1 studies").wait_for()
    page.locator("#contract-try").click()
    violation = page.locator("#contract-result .violations li", has_text=ATTACK[:40]).first
    violation.wait_for()
    assert page.locator("#contract-result img").count() == 0
    violation.locator("button").first.click()
    assert page.evaluate("() => workbench.view.highlights.chosen.isWrong")
    keep_screen(page, "contract-violation-dark")


@on_each_screen
def test_board_and_contracts_are_usable_by_everybody(site, tab, screen):
    scan = Scan(tab, screen)
    page = scan.tab.open(f"{site}/?symbol=sample:es-5m&i=session_hunt_ai&i=ob_ai&i=bias_ai")
    if screen == "phone":
        page.locator("#thumbs [data-view=board]").click()
    page.locator("#board li").nth(2).wait_for()
    if screen == "phone":
        scan("board")
    page.locator("#follow-new").click()
    page.locator("#follow-dialog").wait_for()
    scan("follow-dialog", "#follow-dialog")
    page.locator("#follow-dialog [data-close]").click()
    page.locator("#board button").first.click()
    page.locator("#follow-body .objects tbody tr").first.wait_for()
    scan("follow", "#follow")
    page.locator("#follow-close").click()
    page.locator("#contracts-open").click()
    page.locator("#contract-verdict", has_text="every proof holds").wait_for()
    page.locator("#contract-pick").select_option("ob_ai")
    page.locator("#contract-verdict", has_text="ob_ai").wait_for()
    page.locator("#contract-try").click()
    page.locator("#contract-result .objects tbody tr").first.wait_for()
    # One kind of objects, as the rows of all are alike and axe looks at each of them.
    page.locator("#contract-result .objects select").select_option("gap")
    scan("contract")
    page.locator("#contract-draft").click()
    scan("draft-dialog", "#draft-dialog")
    assert scan.wrong == {}
