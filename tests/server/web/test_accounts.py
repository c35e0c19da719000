"""The page of a server with accounts: two users, an expired sign-in, and every page looked at."""

from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa
from tests.server.auth.conftest import PLENTY, Program, Site
from tests.server.web.conftest import PHONE, keep_screen, serving_here
from tests.server.web.test_editor import text_of, type_script, wait_for_verdict
from tests.server.web.test_workbench import shown

from chartpact.library.schema import web_sessions
from chartpact.server.auth import passwords
from chartpact.server.auth.authority import AuthSettings

pytestmark = pytest.mark.slow
PASSWORD = "correct horse battery"
AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    settings = AuthSettings(rates=PLENTY, sign_up=True)
    folder = tmp_path_factory.mktemp("accounts")
    with serving_here(folder, identify=settings) as (url, served):
        for user in ("ann", "bob"):
            served.authority.accounts.add(user, passwords.hash_password(PASSWORD))
        yield url, served


def sign_in(opened, url, name, address=""):
    page = opened.page
    page.goto(f"{url}/{address}")
    page.locator("#name").fill(name)
    page.locator("#password").fill(PASSWORD)
    page.locator("main button").click()
    opened.ready()
    return page


def test_the_address_asks_who_it_is_and_then_shows_the_chart_that_was_asked_for(server, tab):
    url, _ = server
    page = sign_in(tab(), url, "ann", "?symbol=sample:es-5m&i=rsi:period=7")
    assert shown(page)["ids"] == ["rsi:period=7"]
    assert page.locator("#who").inner_text() == "A"


def test_two_users_have_layouts_and_scripts_of_their_own(server, tab):
    url, _ = server
    ann = sign_in(tab(), url, "ann", "?symbol=sample:es-5m")
    bob = sign_in(tab(), url, "bob", "?symbol=sample:nq-5m")
    ann.locator("#write").click()
    wait_for_verdict(ann)
    ann.keyboard.press("Control+s")
    ann.locator("#toast", has_text="Saved my_script").wait_for()
    bob.reload()
    bob.wait_for_selector("html[data-ready]", state="attached")
    assert shown(bob)["symbol"] == "NQ"
    bob.locator("#shelves [data-source=user]").click()
    assert "No script of yours yet" in bob.locator("#stock").inner_text()


def test_what_was_typed_outlives_the_sign_in(server, tab):
    url, served = server
    opened = tab()
    page = sign_in(opened, url, "bob", "?symbol=sample:es-5m")
    page.locator("#write").click()
    wait_for_verdict(page)
    with served.database.write(None) as connection:
        connection.execute(sa.delete(web_sessions))
    typed = f"# typed in vain?\n{text_of(page)}"
    type_script(page, typed)
    page.locator("#signed-out").wait_for()
    page.locator("#sign-in-link").click()
    page.locator("#name").fill("bob")
    page.locator("#password").fill(PASSWORD)
    page.locator("main button").click()
    opened.ready()
    page.locator("#script-menu").wait_for()
    assert text_of(page) == typed


def violations(page):
    page.evaluate(f"{AXE.read_text('utf-8')}\n;0")
    found = page.evaluate(
        "(rules) => axe.run(document, { runOnly: rules, resultTypes: ['violations'] })", RULES
    )["violations"]
    return [(one["id"], one["nodes"][0]["html"][:160]) for one in found]


WORKBENCH = "?symbol=sample:es-5m&i=supertrend&i=cipher_b&i=bias_ai&i=rsi"
REST = {
    "connect": "connect",
    "account": "account",
    "docs": "docs/language",
    "docs-search": "docs?q=ta.ema",
}


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_every_page_is_usable_by_everybody(server, tab, scheme, phone):
    if not AXE.exists():
        pytest.skip("the pages were not scanned: make web installs axe")
    url, served = server
    options = {"viewport": PHONE, "is_mobile": True, "has_touch": True} if phone else {}
    opened = tab(color_scheme=scheme, **options)
    page = opened.page
    found = {}
    kind = f"{scheme}-phone" if phone else scheme
    for name in ("sign-up", "sign-in"):
        page.goto(f"{url}/{name}")
        keep_screen(page, f"{name}-{kind}")
        found[name] = violations(page)
    page = sign_in(opened, url, "ann", WORKBENCH)
    page.wait_for_selector("html[data-thumbnails]", state="attached")
    keep_screen(page, f"workbench-{kind}")
    found["workbench"] = violations(page)
    for view in ("picker",) if phone else ():
        page.locator(f"#thumbs [data-view={view}]").click()
        keep_screen(page, f"{view}-{kind}")
        found[view] = violations(page)
    page.evaluate("() => workbench.newScript()")
    wait_for_verdict(page)
    keep_screen(page, f"editor-{kind}")
    found["editor"] = violations(page)
    if not phone:
        page.keyboard.press("Control+k")
        keep_screen(page, f"palette-{kind}")
        found["palette"] = violations(page)
    with httpx2.Client(base_url=url, timeout=600) as http:
        query = Program(Site(url, served, http), client_name="Claude Code").query()
    for name, address in {**REST, "consent": f"authorize?{query}"}.items():
        page.goto(f"{url}/{address}")
        keep_screen(page, f"{name}-{kind}")
        found[name] = violations(page)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
