"""A user's own page: signing in and up, clients, tokens, password, the end of the account."""

import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa
from tests.postgres import url_for
from tests.server.auth.conftest import (
    PASSWORD,
    PLENTY,
    Browser,
    Program,
    form_of,
    site_with,
    works,
)

from chartpact.library.database import open_database
from chartpact.library.schema import audit_events, metadata
from chartpact.server.auth import passwords
from chartpact.server.auth.accounts import Accounts
from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.links import SignInLink
from chartpact.server.auth.throttle import Rates, network_of

pytestmark = pytest.mark.both_databases
SESSION = "chartpact-session"


def test_who_signs_in_gets_a_new_session_that_scripts_cannot_read(site, browser):
    browser.cookies.set(SESSION, "planted-by-somebody-else")
    answer = browser.sign_in("ann")
    [cookie] = [c for c in answer.headers.get_list("set-cookie") if c.startswith(SESSION)]
    assert "planted" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie
    first = re.match(rf"{SESSION}=([^;]+)", cookie)[1]
    with Browser(site.url) as again:
        again.sign_in("ann")
        assert again.cookies[SESSION] != first


def test_over_tls_cookies_are_secure_and_bound_to_the_host(tmp_path):
    settings = AuthSettings(public_url="https://charts.example")
    with site_with(tmp_path, settings) as site:
        answer = site.http.get("/sign-in")
        [cookie] = answer.headers.get_list("set-cookie")
        assert cookie.startswith("__Host-chartpact-form=")
        assert cookie.endswith("; Secure")
        said = site.http.get("/.well-known/oauth-authorization-server").json()
        assert said["issuer"] == "https://charts.example"
        # Where a proxy passes requests on, everybody seems to be on this machine.
        assert site.http.get("/sign-in/link?key=x").status_code == 403


def test_wrong_names_and_wrong_passwords_are_answered_alike(browser):
    def shown(name: str, password: str) -> tuple[int, str]:
        answer = browser.sign_in(name, password)
        assert SESSION not in answer.headers.get("set-cookie", "")
        return answer.status_code, answer.text

    assert shown("ann", "wrong password") == shown("nobody", "wrong password")
    assert shown("ann", "") == shown("ann", "x" * 10_000) == shown("", "")
    assert "the name or the password is wrong" in shown("ann", "wrong password")[1]


def test_a_sign_in_that_fails_is_logged_with_its_address_and_nothing_that_was_typed(
    browser, caplog
):
    with caplog.at_level("INFO", "chartpact.audit"):
        browser.sign_in("my password by mistake", "wrong password")
    [entry] = [record for record in caplog.records if record.name == "chartpact.audit"]
    assert entry.fields == {"event": "sign-in failed", "address": "127.0.0.1"}
    assert "mistake" not in caplog.text


def test_who_does_not_exist_costs_a_hash_too(browser, monkeypatch):
    hashed = []
    verify = passwords.verify
    monkeypatch.setattr(
        passwords, "verify", lambda *given: hashed.append(given[0]) or verify(*given)
    )
    browser.sign_in("ann", "wrong password")
    browser.sign_in("nobody", "wrong password")
    assert len(hashed) == 2
    assert hashed[1] is None


def test_a_sign_in_form_is_good_in_the_browser_that_asked_for_it_alone(site, browser):
    page = browser.get("/sign-in")
    fields = form_of(page.text, "/sign-in") | {"name": "ann", "password": PASSWORD}
    with Browser(site.url) as other:
        assert other.post("/sign-in", data=fields).status_code == 403  # no cookie
        other.get("/sign-in")
        assert other.post("/sign-in", data=fields).status_code == 403  # another cookie
    cross = browser.post("/sign-in", data=fields, headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 403
    assert browser.post("/sign-in", data=fields).status_code == 303


def test_signing_out_ends_the_session_at_once(site, ann):
    session = ann.cookies[SESSION]
    assert ann.get("/account").status_code == 200
    assert ann.send_form("/sign-out", ann.get("/account")).status_code == 303
    with Browser(site.url) as thief:
        thief.cookies.set(SESSION, session)
        assert thief.get("/account").headers["location"] == "/sign-in"
        assert thief.get("/api/v1/symbols").status_code == 401


def test_a_web_session_reads_and_writes_from_our_own_pages_and_never_speaks_mcp(site, ann):
    path = "/api/v1/my/indicators/nothing"
    assert ann.get("/api/v1/symbols").status_code == 200
    assert ann.delete(path).status_code == 403  # nothing says that a page of ours sent it
    for own in ({"Origin": site.url}, {"Sec-Fetch-Site": "same-origin"}):
        assert ann.delete(path, headers=own).status_code != 403
    assert ann.delete(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert ann.delete(path, headers={"Sec-Fetch-Site": "same-site"}).status_code == 403
    assert ann.post("/mcp", json={}).status_code == 401


def test_two_session_cookies_are_nobody(site, ann):
    session = ann.cookies[SESSION]
    doubled = {"Cookie": f"{SESSION}={session}; {SESSION}={session}"}
    assert httpx2.get(f"{site.url}/api/v1/symbols", headers=doubled).status_code == 401


def test_the_page_lists_connected_clients_and_revokes_them(site, ann):
    program = Program(site, client_name="My <editor>")
    issued = program.tokens(ann)
    page = ann.get("/account")
    assert "My &lt;editor&gt;" in page.text
    grant = site.grants.list_connected("ann")[0].grant_id
    with Browser(site.url) as bobs:
        bobs.sign_in("bob")
        shown = bobs.get("/account")
        assert "editor" not in shown.text
        form = form_of(shown.text, "/sign-out")["form"]
        bobs.post("/account/disconnect", data={"form": form, "grant": grant})
    assert works(site, issued["access_token"])  # another user's click changes nothing
    assert ann.post("/account/disconnect", data={"grant": grant}).status_code == 400
    assert works(site, issued["access_token"])
    assert ann.send_form("/account/disconnect", page).status_code == 303
    assert not works(site, issued["access_token"])
    assert "My &lt;editor&gt;" not in ann.get("/account").text


def test_a_personal_token_is_shown_once_scoped_and_revocable(site, ann):
    page = ann.get("/account")
    made = ann.send_form("/account/tokens", page, name="cron <job>", read="1", days="30")
    [token] = re.findall(r"<code>(cpp_[\w-]+)</code>", made.text)
    assert len(token) >= 43
    listed = ann.get("/account").text
    assert token not in listed
    assert "cron &lt;job&gt;" in listed
    assert works(site, token)
    with site.client(token) as client:
        assert client.delete("/api/v1/my/indicators/x").status_code == 403
    token_id = site.grants.list_personal("ann")[0].token_id
    site.grants.drop_personal("bob", token_id, None)
    assert works(site, token)
    assert ann.send_form("/account/tokens/revoke", ann.get("/account")).status_code == 303
    assert not works(site, token)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "x", "days": "30"},
        {"name": "x", "days": "0", "read": "1"},
        {"name": "x", "days": "367", "read": "1"},
        {"name": "x", "days": "-1", "read": "1"},
        {"name": "x", "days": "٣", "read": "1"},
        {"name": "", "days": "30", "read": "1"},
        {"name": "x" * 81, "days": "30", "read": "1"},
        {"name": "a\nb", "days": "30", "read": "1"},
    ],
)
def test_a_token_without_scope_end_or_name_is_not_made(site, ann, fields):
    before = len(site.grants.list_personal("ann"))
    answer = ann.send_form("/account/tokens", ann.get("/account"), **fields)
    assert answer.status_code == 422
    assert len(site.grants.list_personal("ann")) == before


def test_the_password_changes_with_the_present_one_and_signs_out_other_browsers(site):
    site.accounts.add("pat", passwords.hash_password(PASSWORD))
    with Browser(site.url) as one, Browser(site.url) as other:
        one.sign_in("pat")
        other.sign_in("pat")
        page = one.get("/account")
        for current, new, status in (
            ("wrong password", "another password", 403),
            (PASSWORD, "short", 422),
        ):
            answer = one.send_form("/account/password", page, current=current, new=new)
            assert answer.status_code == status
        assert other.get("/account").status_code == 200
        changed = one.send_form("/account/password", page, current=PASSWORD, new="another password")
        assert changed.status_code == 303
        assert one.get("/account").status_code == 200
        assert other.get("/account").status_code == 303
        assert other.sign_in("pat").status_code == 403
        assert other.sign_in("pat", "another password").status_code == 303


@pytest.mark.slow
def test_an_account_is_deleted_with_everything_and_only_by_its_owner(site):
    site.accounts.add("del", passwords.hash_password(PASSWORD))
    with Browser(site.url) as browser:
        browser.sign_in("del")
        issued = Program(site).tokens(browser)
        csv = (
            "time,open,high,low,close\n2024-01-02T10:00:00Z,1,2,1,2\n2024-01-02T10:01:00Z,1,2,1,2\n"
        )
        with site.client(issued["access_token"]) as client:
            assert client.put("/api/v1/my/bars/mine", content=csv).status_code == 200
        page = browser.get("/account")
        for name, current in (("del", "wrong password"), ("ann", PASSWORD), ("", PASSWORD)):
            answer = browser.send_form("/account/delete", page, name=name, current=current)
            assert answer.status_code == 403
        assert works(site, issued["access_token"])
        answer = browser.send_form("/account/delete", page, name="del", current=PASSWORD)
        assert answer.status_code == 303
        assert browser.get("/account").status_code == 303
    assert not works(site, issued["access_token"])
    with site.database.read() as connection:
        for table in metadata.sorted_tables:
            if "user_id" in table.c and table.name != "audit_events":
                mine = sa.select(table).where(table.c.user_id == "del")
                assert connection.execute(mine).first() is None, table.name


def test_signing_up_makes_an_account_of_its_own(site, browser):
    page = browser.get("/sign-up")
    for name, password, status in (
        ("ann", PASSWORD, 422),
        ("local", PASSWORD, 422),
        ("a|b", PASSWORD, 422),
        ("zed", "short", 422),
        ("zed", PASSWORD, 303),
    ):
        answer = browser.send_form("/sign-up", page, name=name, password=password)
        assert answer.status_code == status, name
    assert "<b>zed</b>" in browser.get("/account").text
    [account] = [each for each in site.accounts.list() if each.name == "zed"]
    assert account.user_id.startswith("u-")
    with Browser(site.url) as other:
        assert other.post("/sign-up", data={"name": "eve", "password": PASSWORD}).status_code == 403


# ---------------------------------------------------------------------------------- a closed server


@pytest.fixture(scope="module")
def closed(storage, tmp_path_factory):
    settings = AuthSettings(registration=False, fetcher=None)
    folder = tmp_path_factory.mktemp("closed")
    with site_with(folder, settings, storage, clock=lambda: 0.0) as running:
        yield running


def test_sign_up_registration_and_documents_can_be_switched_off(closed):
    assert closed.http.get("/sign-up").status_code == 401  # as any path that is not there
    said = closed.http.get("/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in said
    assert said["client_id_metadata_document_supported"] is False
    answer = closed.http.post("/register", json={"redirect_uris": ["https://app.example/cb"]})
    assert answer.status_code == 404
    with Browser(closed.url) as browser:
        browser.sign_in("ann")
        asked = browser.get("/authorize?client_id=https://app.example/c.json")
        assert asked.status_code == 400
        assert "not known by the URL" in asked.text
        assert "Sign up" not in browser.get("/sign-in").text


def test_tries_are_counted_by_account_and_by_address(closed):
    rates = Rates()
    with Browser(closed.url) as browser:
        page = browser.get("/sign-in")

        def attempt(name: str) -> int:
            sent = browser.send_form("/sign-in", page, name=name, password="wrong password")
            return sent.status_code

        codes = [attempt("bob") for _ in range(int(rates.sign_in_by_account) + 1)]
        assert codes[-1] == 429
        assert set(codes[:-1]) == {403}
        # The right password does not help either, so the answer tells nothing.
        sent = browser.send_form("/sign-in", page, name="bob", password=PASSWORD)
        assert sent.status_code == 429
        codes = [attempt(f"nobody{number}") for number in range(int(rates.sign_in_by_address))]
        assert codes[-1] == 429  # whoever it is: the address has had its tries
    for method, path, most in (
        ("POST", "/token", rates.token_by_address),
        ("POST", "/register", rates.register_by_address),
        ("GET", "/authorize", rates.authorize_by_address),
    ):
        codes = [closed.http.request(method, path).status_code for _ in range(int(most) + 1)]
        assert codes[-1] == 429, path
    assert closed.http.post("/token").headers["retry-after"].isdigit()


def test_a_request_is_counted_once_by_address_and_once_by_account(tmp_path):
    most = 3
    rates = replace(PLENTY, token_by_address=most, authorize_by_address=most)
    settings = AuthSettings(rates=rates, fetcher=None)
    with site_with(tmp_path, settings, clock=lambda: 0.0) as site, Browser(site.url) as ann:
        ann.sign_in("ann")
        program = Program(site)
        codes = [program.refresh("unknown").status_code for _ in range(most + 1)]
        assert codes == [400] * most + [429]
        query = program.query()
        codes = [ann.get(f"/authorize?{query}").status_code for _ in range(most + 1)]
        assert codes == [200] * most + [429]
    rates = replace(PLENTY, token_by_account=most, authorize_by_account=most)
    settings = AuthSettings(rates=rates, fetcher=None)
    with (
        site_with(tmp_path / "by-account", settings, clock=lambda: 0.0) as site,
        Browser(site.url) as ann,
        Browser(site.url) as bob,
    ):
        ann.sign_in("ann")
        bob.sign_in("bob")
        program, other = Program(site), Program(site)
        codes = [program.refresh("unknown").status_code for _ in range(most + 1)]
        assert codes == [400] * most + [429]
        assert other.refresh("unknown").status_code == 400
        query = program.query()
        codes = [ann.get(f"/authorize?{query}").status_code for _ in range(most + 1)]
        assert codes == [200] * most + [429]
        assert bob.get(f"/authorize?{query}").status_code == 200


def test_the_limits_are_those_of_the_documentation():
    rows = {
        "sign-ins": "sign_in",
        "requests for consent": "authorize",
        "metadata documents fetched": "document",
        "requests for tokens": "token",
        "registrations": "register",
        "new accounts": "sign_up",
    }
    rates, page = vars(Rates()), Path("docs/identity.md").read_text("utf-8")
    told = {}
    for words, kind in rows.items():
        [(by_address, by_account)] = re.findall(rf"^\| {words} \| (.*?) \| (.*?)\|$", page, re.M)
        for whom, cell in (("address", by_address), ("account", by_account)):
            if number := re.match(r"[0-9]+", cell):
                told[f"{kind}_by_{whom}"] = float(number[0])
    assert told == rates


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        (None, ""),
        ("unix", "unix"),
    ],
)
def test_an_address_is_what_one_host_has_to_itself(address, network):
    assert network_of(address) == network


# ---------------------------------------------------------------------------------- the first link


def test_a_link_is_good_once_and_for_ten_minutes(site):
    now = [0.0]
    link = SignInLink(site.database, lambda: now[0])
    assert not link.use("")
    key = link.make()
    assert not link.use(key + "x")
    now[0] = 599.9
    assert link.use(key)
    assert not link.use(key)
    key = link.make()
    now[0] += 600
    assert not link.use(key)
    older, newer = link.make(), link.make()
    assert not link.use(older)
    assert link.use(newer)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    """What `chartpact serve` shows on a terminal at its first start, and what it logs to a file."""
    folder = tmp_path_factory.mktemp("first")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "chartpact", "serve", "--port", "0"]
    own = {"CHARTPACT_DB": f"sqlite:///{folder}/it.db", "CHARTPACT_WARM": "off"}
    environment = {**os.environ, **own}
    process = subprocess.Popen(command, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"link?key=" not in shown or not shown.endswith(b"\n"):
        try:
            shown += os.read(ours, 65536)
        except OSError:
            raise AssertionError(shown) from None
    yield shown.decode(), ours, folder
    process.terminate()
    process.wait(60)
    os.close(ours)


@pytest.mark.slow
def test_the_first_start_shows_a_link_on_the_terminal_that_signs_in_by_post_once(terminal):
    shown, _, folder = terminal
    [address] = re.findall(r"sign in within ten minutes: (http://\S+)", shown)
    url, _, path = address.partition("/sign-in")
    with Browser(url) as browser:
        assert browser.get("/api/v1/symbols").status_code == 401
        for _ in range(3):  # a preview of the link uses nothing up
            page = browser.get(f"/sign-in{path}")
            assert page.status_code == 200
        proxied = browser.post(
            "/sign-in/link",
            data=form_of(page.text, "/sign-in/link"),
            headers={"X-Forwarded-For": "192.0.2.1"},
        )
        assert proxied.status_code == 403
        assert browser.send_form("/sign-in/link", page).status_code == 303
        assert browser.get("/api/v1/symbols").status_code == 200
        account = browser.get("/account").text
        assert "<b>local</b>" in account
        assert "set one to sign in again later" in account
        # No proxy is configured, so nobody is believed about an address.
        changed = browser.post(
            "/account/password",
            data=form_of(account, "/account/password") | {"new": PASSWORD},
            headers={"X-Forwarded-For": "203.0.113.9"},
        )
        assert changed.status_code == 303
        assert address_of_last(f"sqlite:///{folder}/it.db", "password changed") == "127.0.0.1"
    with Browser(url) as late:
        assert (
            late.post("/sign-in/link", data=form_of(page.text, "/sign-in/link")).status_code == 403
        )


def address_of_last(url: str, event: str) -> str:
    database = open_database(url)
    query = sa.select(audit_events.c.address).where(audit_events.c.event == event)
    with database.read() as connection:
        [address] = connection.execute(query).scalars()
    database.close()
    return address


@pytest.mark.slow
def test_behind_a_proxy_on_this_machine_the_forwarded_address_is_that_of_the_visitor(tmp_path):
    from tests.server.conftest import start

    url = url_for(tmp_path)
    running = start(tmp_path, url=url, forked=True, CHARTPACT_PUBLIC_URL="http://127.0.0.1:1")
    try:
        database = open_database(url)
        Accounts(database).set_password("ann", passwords.hash_password(PASSWORD))
        database.close()
        with Browser(running.url) as browser:
            # The proxy adds the last one; the visitor may claim any before it.
            browser.headers["X-Forwarded-For"] = "127.0.0.1, 198.51.100.1, 203.0.113.9"
            assert browser.sign_in("ann").status_code == 303
    finally:
        running.process.terminate()
        running.process.wait(120)
    assert address_of_last(url, "signed in by password") == "203.0.113.9"


@pytest.mark.slow
def test_without_a_terminal_no_link_is_written_anywhere(tmp_path):
    from tests.server.conftest import serving

    with serving(tmp_path) as running:
        told = running.log.read_text()
    assert "key=" not in told
    assert "chartpact user password local" in told
