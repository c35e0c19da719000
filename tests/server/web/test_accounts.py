"""The page of a server with accounts: two users, an expired sign-in, and every page looked at."""

import httpx2
import pytest
import sqlalchemy as sa
from tests.server.auth.conftest import PLENTY, Program, Site
from tests.server.web.accessibility import Scan, on_each_screen
from tests.server.web.conftest import serving_here
from tests.server.web.test_editor import text_of, type_script, wait_for_verdict
from tests.server.web.test_workbench import shown

from chartpact.library.schema import web_sessions
from chartpact.server.auth import passwords
from chartpact.server.auth.authority import AuthSettings

pytestmark = pytest.mark.slow
PASSWORD = "correct horse battery"


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


WORKBENCH = "?symbol=sample:es-5m&i=supertrend&i=cipher_b&i=bias_ai&i=rsi"
REST = {
    "connect": "connect",
    "account": "account",
    "docs": "docs/language",
    "docs-search": "docs?q=ta.ema",
}


@on_each_screen
def test_every_page_is_usable_by_everybody(server, tab, screen):
    url, served = server
    scan = Scan(tab, screen)
    page = scan.tab.page
    for name in ("sign-up", "sign-in"):
        page.goto(f"{url}/{name}")
        scan(name)
    sign_in(scan.tab, url, "ann", WORKBENCH)
    page.wait_for_selector("html[data-thumbnails]", state="attached")
    scan("workbench")
    if screen == "phone":
        page.locator("#thumbs [data-view=picker]").click()
        scan("picker")
    page.evaluate("() => workbench.newScript()")
    wait_for_verdict(page)
    scan("editor")
    if screen == "desk":
        page.keyboard.press("Control+k")
        scan("palette", "#command")
    with httpx2.Client(base_url=url, timeout=600) as http:
        query = Program(Site(url, served, http), client_name="Claude Code").query()
    for name, address in {**REST, "consent": f"authorize?{query}"}.items():
        page.goto(f"{url}/{address}")
        scan(name)
    assert scan.wrong == {}
