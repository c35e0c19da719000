"""What the authorization server refuses, line by line of what a reviewer looks for."""

import asyncio
import base64
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from urllib.parse import urlencode, urlsplit

import pytest
import sqlalchemy as sa
from tests.cases import in_one_test
from tests.server.auth.conftest import (
    CALLBACK,
    LISTING,
    MCP_HEADERS,
    Browser,
    Program,
    answer_of,
    form_of,
    works,
)

from chartpact.clock.system import now_ms
from chartpact.library.schema import (
    audit_events,
    metadata,
    oauth_clients,
    oauth_codes,
    oauth_grants,
    tokens,
)
from chartpact.server.auth import clients
from chartpact.server.auth.clients import Client
from chartpact.server.auth.secret import digest
from chartpact.server.auth.tokens import ACCESS_MS, CODE_MS

pytestmark = pytest.mark.both_databases


@pytest.fixture(scope="module")
def program(site) -> Program:
    return Program(site)


def rewind(site, table: sa.Table, key: str, secret: str, **values: object) -> None:
    """Changes one row, as time or somebody else would."""
    with site.database.write(None) as connection:
        where = table.c[key] == digest(secret)
        assert connection.execute(sa.update(table).where(where).values(**values)).rowcount == 1


# ---------------------------------------------------------------------------------- metadata


def test_the_metadata_says_who_issues_tokens_and_how(site):
    with site.client() as client:
        for path in ("", "/mcp"):
            said = client.get(f"/.well-known/oauth-protected-resource{path}").json()
            assert said["resource"] == f"{site.url}/mcp"
            assert said["authorization_servers"] == [site.url]
            assert said["bearer_methods_supported"] == ["header"]
        said = client.get("/.well-known/oauth-authorization-server").json()
    assert said["issuer"] == site.url
    assert said["code_challenge_methods_supported"] == ["S256"]
    assert said["response_types_supported"] == ["code"]
    assert said["token_endpoint_auth_methods_supported"] == ["none"]
    assert said["authorization_response_iss_parameter_supported"] is True
    assert said["client_id_metadata_document_supported"] is True
    for name in ("authorization", "token", "registration", "revocation"):
        assert said[f"{name}_endpoint"].startswith(f"{site.url}/")


def test_a_name_of_this_machine_is_an_issuer_of_its_own_and_another_name_is_none(site):
    port = urlsplit(site.url).port
    with site.client() as client:
        where = "/.well-known/oauth-authorization-server"
        other = client.get(where, headers={"Host": f"localhost:{port}"})
        assert other.json()["issuer"] == f"http://localhost:{port}"
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", ""):
            assert client.get(where, headers={"Host": host}).status_code == 421
        claims = {"X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example;proto=https"}
        assert client.get(where, headers=claims).json()["issuer"] == site.url
    with site.client(site.grants.make_personal("ann", "mine", "read", 1)) as client:
        for host, status in (("127.0.0.1:65535", 200), ("127.0.0.1:65536", 401)):
            headers = MCP_HEADERS | {"Host": host}
            assert client.post("/mcp", json=LISTING, headers=headers).status_code == status


def test_who_has_no_token_is_told_where_to_get_one_and_for_which_scopes(site):
    with site.client() as client:
        for path, method in (("/mcp", "POST"), ("/api/v1/symbols", "GET")):
            answer = client.request(method, path)
            assert answer.status_code == 401
            said = answer.headers["www-authenticate"]
            where = f"{site.url}/.well-known/oauth-protected-resource/mcp"
            assert said == f'Bearer resource_metadata="{where}", scope="read write"'
    with site.client("wrong") as client:
        said = client.get("/api/v1/symbols").headers["www-authenticate"]
        assert said.startswith('Bearer error="invalid_token", ')


# ---------------------------------------------------------------------------------- authorize

STRANGERS = "the client did not register this redirect URI"


@in_one_test(
    "redirect",
    [
        None,
        "http://127.0.0.1:4567/callback/",
        "http://127.0.0.1:4567/callback?x=1",
        "http://127.0.0.1:4567/Callback",
        "http://127.0.0.1:4567/other",
        "http://localhost:4567/callback",
        "https://127.0.0.1:4567/callback",
        "http://user@127.0.0.1:4567/callback",
        "http://127.0.0.1:4567@evil.example/callback",
        "http://127.0.0.1.evil.example:4567/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:/callback",
        "http://127.0.0.1:4567/callback?",
        "http://127.0.0.1:4567/callback#x",
        "http://127.0.0.1:4567/x/../callback",
        "http://127.0.0.1:4567//callback",
        "HTTP://127.0.0.1:4567/callback",
        "http:127.0.0.1:4567/callback",
        "http://127.1:4567/callback",
        "http://2130706433:4567/callback",
        "http://[::1]:4567/callback",
        "http://[::ffff:127.0.0.1]:4567/callback",
        "http://evil.example/callback",
        "https://evil.example/callback",
        "//evil.example/callback",
        "javascript:alert(1)",
    ],
)
def test_a_redirect_that_is_not_registered_to_the_letter_leads_nowhere(ann, program, redirect):
    answer = ann.get(f"/authorize?{program.query(redirect_uri=redirect)}")
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert STRANGERS in answer.text


def test_of_a_loopback_redirect_only_the_port_may_differ(site, ann, program):
    back = ann.consent(program.query(redirect_uri="http://127.0.0.1:61234/callback"))
    assert back.headers["location"].startswith("http://127.0.0.1:61234/callback?code=")
    web = Program(site, redirect_uri="https://app.example/cb")
    assert ann.get(f"/authorize?{web.query()}").status_code == 200
    other = web.query(redirect_uri="https://app.example:8443/cb")
    assert ann.get(f"/authorize?{other}").status_code == 400
    known = Client("x", "x", ["http://localhost/cb", "http://[::1]:1/cb?a=b", "http://127.0.0.1"])
    for uri in ("http://localhost:9/cb", "http://[::1]/cb?a=b", "http://127.0.0.1:9"):
        assert known.accepts(uri), uri
    for uri in (
        "http://LOCALHOST:9/cb",
        "http://localhost:9/CB",
        "http://127.0.0.1:9/cb",
        "http://localhost.evil.example/cb",
        "http://[0:0:0:0:0:0:0:1]:1/cb?a=b",
        "http://[::1]:1/cb?a=c",
        "http://[::1]:1/cb",
        "http://127.0.0.1:9/",
        "http://127.0.0.1:9x",
    ):
        assert not known.accepts(uri), uri


@in_one_test("client_id", [None, "", "unknown", "https://", "' OR 1=1 --"])
def test_a_client_that_nobody_knows_leads_nowhere(ann, program, client_id):
    answer = ann.get(f"/authorize?{program.query(client_id=client_id)}")
    assert answer.status_code == 400
    assert "location" not in answer.headers


def test_a_field_that_comes_twice_is_refused(ann, program):
    doubled = f"{program.query()}&redirect_uri={CALLBACK}"
    answer = ann.get(f"/authorize?{doubled}")
    assert answer.status_code == 400
    assert "location" not in answer.headers


@in_one_test(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "read admin"}, "invalid_scope"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": "http://127.0.0.1:1/mcp"}, "invalid_target"),
    ],
)
def test_what_is_wrong_is_told_to_the_client_with_state_and_issuer(
    site, ann, program, changes, error
):
    answer = ann.get(f"/authorize?{program.query(**changes)}")
    assert answer.headers["location"].startswith(f"{CALLBACK}?")
    said = answer_of(answer)
    assert (said["error"], said["state"], said["iss"]) == (error, "as it came", site.url)
    assert "code" not in said


def test_a_mistake_sends_nobody_to_a_site_that_anybody_can_register(site, ann):
    phish = Program(site, redirect_uri="https://evil.example/phish")
    answer = ann.get(f"/authorize?{phish.query(response_type='x')}")
    assert answer.status_code == 400
    assert "location" not in answer.headers


def test_a_stranger_is_asked_to_sign_in_before_anything_is_fetched_or_redirected(browser, program):
    for query in (
        program.query(),
        program.query(response_type="token"),
        program.query(client_id="https://evil.example/client.json"),
    ):
        answer = browser.get(f"/authorize?{query}")
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/sign-in?next=%2Fauthorize")


@pytest.mark.parametrize(
    "then",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "/api", "", "/authorize\r\nX:"],
)
def test_a_sign_in_leads_only_to_pages_of_ours(browser, then):
    answer = browser.sign_in("ann", next=then)
    assert answer.headers["location"] == "/account"


def test_a_denial_is_told_with_state_and_issuer(site, ann, program):
    said = answer_of(ann.consent(program.query(), decision="deny"))
    assert said == {"error": "access_denied", "state": "as it came", "iss": site.url}


def test_consent_carries_state_and_issuer_and_is_a_303(site, ann, program):
    answer = ann.consent(program.query())
    assert answer.status_code == 303
    assert answer.headers["cache-control"] == "no-store"
    said = answer_of(answer)
    assert (said["state"], said["iss"]) == ("as it came", site.url)


def test_consent_is_asked_for_every_time(ann, program):
    for _ in range(3):
        page = ann.get(f"/authorize?{program.query()}")
        assert page.status_code == 200
        assert 'value="allow"' in page.text
        assert ann.send_form("/authorize", page, decision="allow").status_code == 303


def test_the_consent_page_says_who_asks_for_what_and_where_it_leads(site, ann):
    named = Program(site, client_name='<script>"&\u202eExe\n' + "x" * 300)
    page = ann.get(f"/authorize?{named.query(scope='read')}")
    assert "<script" not in page.text
    assert "\u202e" not in page.text
    assert "&lt;script&gt;" in page.text
    assert "x" * 81 not in page.text
    assert "You will be sent to <b>127.0.0.1:4567</b>" in page.text
    assert "Any program on your computer can pass for this client" in page.text
    assert "read your scripts and bars" in page.text
    assert "change and delete" not in page.text
    assert "as <b>ann</b>" in page.text
    web = Program(site, redirect_uri="https://app.example/cb")
    page = ann.get(f"/authorize?{web.query()}")
    assert "Any program on your computer" not in page.text


def test_pages_cannot_be_framed_cached_scripted_or_traced(ann, program):
    for path in (f"/authorize?{program.query()}", "/sign-in/link?key=x", "/account", "/sign-up"):
        page = ann.get(path)
        policy = page.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "unsafe" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"
    # Browsers check a form's target after the redirect too: the client's own, and no other.
    policy = ann.get(f"/authorize?{program.query()}").headers["content-security-policy"]
    assert "form-action 'self' http://127.0.0.1:4567;" in policy
    assert "form-action 'self';" in ann.get("/account").headers["content-security-policy"]


def test_a_decision_needs_the_token_of_that_page_session_and_request(site, ann, program):
    page = ann.get(f"/authorize?{program.query()}")
    form = form_of(page.text, "/authorize") | {"decision": "allow"}
    other = form_of(ann.get(f"/authorize?{program.query(state='other')}").text, "/authorize")
    with Browser(site.url) as bobs:
        bobs.sign_in("bob")
        theirs = form_of(bobs.get(f"/authorize?{program.query()}").text, "/authorize")
    account = form_of(ann.get("/account").text, "/sign-out")
    for wrong in ("", "x", other["form"], theirs["form"], account["form"]):
        answer = ann.post("/authorize", data=form | {"form": wrong})
        assert answer.status_code == 403
        assert "location" not in answer.headers
    widened = form | {"request": program.query(scope="read write", state="another")}
    assert ann.post("/authorize", data=widened).status_code == 403
    from_elsewhere = ann.post("/authorize", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert from_elsewhere.status_code == 403
    # A page without a referrer sends its origin as null.
    own = ann.post("/authorize", data=form, headers={"Origin": "null"})
    assert own.status_code == 303


def test_another_sites_page_may_not_post_here(ann, program):
    form = form_of(ann.get(f"/authorize?{program.query()}").text, "/authorize")
    sent = ann.post("/authorize", data=form, headers={"Origin": "https://evil.example"})
    assert sent.status_code == 403


@pytest.mark.parametrize("kind", ["personal", "access"])
def test_a_token_can_neither_consent_nor_make_tokens(site, ann, program, kind):
    if kind == "personal":
        token = site.grants.make_personal("ann", "mine", "read write", 1)
    else:
        token = program.tokens(ann)["access_token"]
    assert works(site, token)
    with site.client(token) as client:
        answer = client.get(f"/authorize?{program.query()}")
        assert answer.headers["location"].startswith("/sign-in")
        assert client.get("/account").headers["location"] == "/sign-in"
        posted = client.post("/authorize", data={"request": program.query(), "decision": "allow"})
        assert posted.headers["location"].startswith("/sign-in")
        for path in ("/account/tokens", "/account/password", "/account/delete"):
            answer = client.post(path, data={"name": "ann", "days": "1", "read": "1"})
            assert answer.status_code == 400
            assert "you are not signed in" in answer.text


# ---------------------------------------------------------------------------------- codes


def test_a_code_works_once_and_its_replay_ends_what_came_of_it(site, ann, program):
    code = program.code(ann)
    issued = program.redeem(code).json()
    assert works(site, issued["access_token"])
    replayed = program.redeem(code)
    assert (replayed.status_code, replayed.json()["error"]) == (400, "invalid_grant")
    assert not works(site, issued["access_token"])
    assert program.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"


@in_one_test(
    "changes",
    [
        {"code_verifier": "x" * 43},
        {"code_verifier": None},
        {"code_verifier": "short"},
        {"code_verifier": "é" * 43},
        {"redirect_uri": "http://127.0.0.1:9999/callback"},
        {"redirect_uri": None},
        {"client_id": "another"},
        {"code": "cpc_unknown"},
        {"code": None},
    ],
)
def test_a_code_needs_its_client_its_redirect_and_its_verifier(ann, program, changes):
    answer = program.redeem(program.code(ann), **changes)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_grant"
    assert "access_token" not in answer.text


def test_a_code_lives_for_a_minute(site, ann, program):
    assert CODE_MS <= 60_000
    code = program.code(ann)
    rewind(site, oauth_codes, "code_hash", code, expires_at=now_ms() - 1)
    assert program.redeem(code).json()["error"] == "invalid_grant"


@in_one_test("resource", ["https://other.example/mcp", "http://localhost:1/mcp"])
def test_a_token_is_given_for_this_resource_alone(ann, program, resource):
    answer = program.redeem(program.code(ann), resource=resource)
    assert answer.json()["error"] == "invalid_target"


@in_one_test(
    ("fields", "status", "error"),
    [
        ({"grant_type": "password", "username": "ann"}, 400, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, 400, "unsupported_grant_type"),
        ({}, 400, "unsupported_grant_type"),
        ({"grant_type": "refresh_token"}, 400, "invalid_grant"),
        ({"grant_type": "refresh_token", "client_id": None}, 401, "invalid_client"),
    ],
)
def test_the_token_endpoint_serves_two_grants_and_no_other(program, fields, status, error):
    answer = program.token(**fields)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.headers["cache-control"] == "no-store"


def test_the_token_endpoint_takes_forms_alone_and_no_field_twice(program):
    fields = {"grant_type": "refresh_token", "client_id": program.client_id}
    answer = program.http.post("/token", json=fields)
    assert answer.json()["error"] == "invalid_request"
    doubled = urlencode([*fields.items(), *fields.items()])
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = program.http.post("/token", content=doubled, headers=kind)
    assert answer.json()["error"] == "invalid_request"
    assert program.http.get("/token").status_code == 405
    assert program.http.post("/token", content=b"x" * 20_000, headers=kind).status_code == 413


# ---------------------------------------------------------------------------------- tokens


def test_an_access_token_lives_for_an_hour(site, ann, program):
    issued = program.tokens(ann)
    assert issued["expires_in"] == ACCESS_MS // 1000 <= 3600
    assert issued["token_type"] == "Bearer"
    rewind(site, tokens, "token_hash", issued["access_token"], expires_at=now_ms() - 1)
    assert not works(site, issued["access_token"])


def test_refresh_tokens_rotate_and_reuse_ends_the_family(site, ann, program):
    first = program.tokens(ann)
    second = program.refresh(first["refresh_token"]).json()
    third = program.refresh(second["refresh_token"]).json()
    secrets = {issued["refresh_token"] for issued in (first, second, third)}
    assert len(secrets) == 3
    assert works(site, third["access_token"])
    assert program.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    for issued in (first, second, third):
        assert not works(site, issued["access_token"])
        assert program.refresh(issued["refresh_token"]).status_code == 400


def test_reuse_ends_that_family_alone(site, ann, program):
    kept, lost = program.tokens(ann), program.tokens(ann)
    program.refresh(lost["refresh_token"])
    program.refresh(lost["refresh_token"])
    assert works(site, kept["access_token"])


def test_a_refresh_token_is_its_clients_alone_and_cannot_grow(site, ann, program):
    issued = program.tokens(ann, scope="read")
    other = Program(site)
    assert other.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"
    for scope in ("read write", "write", "admin", " "):
        wider = program.refresh(issued["refresh_token"], scope=scope)
        assert wider.json()["error"] == "invalid_scope"
    # What is refused spends nothing: the client may ask again, for what it has.
    again = program.refresh(issued["refresh_token"], scope="read read").json()
    assert again["scope"] == "read"
    assert works(site, again["access_token"])


def test_an_expired_refresh_token_is_refused(site, ann, program):
    issued = program.tokens(ann)
    rewind(site, tokens, "token_hash", issued["refresh_token"], expires_at=now_ms() - 1)
    assert program.refresh(issued["refresh_token"]).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("kind", ["refresh_token", "code"])
def test_of_many_who_redeem_at_once_one_gets_tokens_which_the_others_end(site, ann, program, kind):
    secret = program.code(ann) if kind == "code" else program.tokens(ann)[kind]
    redeem = program.redeem if kind == "code" else program.refresh
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: redeem(secret), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 7
    [issued] = [answer.json() for answer in answers if answer.status_code == 200]
    assert not works(site, issued["access_token"])
    assert program.refresh(issued["refresh_token"]).status_code == 400


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_revoking_either_token_ends_both_at_once(site, ann, program, kind):
    issued = program.tokens(ann)
    revoked = program.http.post(
        "/revoke", data={"token": issued[kind], "client_id": program.client_id}
    )
    assert (revoked.status_code, revoked.content) == (200, b"")
    assert not works(site, issued["access_token"])
    assert program.refresh(issued["refresh_token"]).status_code == 400


def test_revoking_what_is_unknown_or_anothers_says_the_same_and_does_nothing(site, ann, program):
    issued = program.tokens(ann)
    for fields in (
        {"token": "unknown", "client_id": program.client_id},
        {"token": issued["access_token"], "client_id": Program(site).client_id},
        {"token": issued["access_token"]},
        {},
    ):
        revoked = program.http.post("/revoke", data=fields or {"x": "y"})
        assert (revoked.status_code, revoked.content) == (200, b"")
    assert works(site, issued["access_token"])


def test_a_token_for_another_name_of_the_server_is_refused(site, ann, program):
    issued = program.tokens(ann)
    elsewhere = {"Host": f"localhost:{urlsplit(site.url).port}"}
    with site.client(issued["access_token"]) as client:
        assert client.get("/api/v1/symbols", headers=elsewhere).status_code == 401
        answer = client.post("/mcp", json=LISTING, headers=MCP_HEADERS | elsewhere)
        assert answer.status_code == 401


def test_no_secret_is_stored_as_it_is(site, ann, program):
    code = program.code(ann)
    issued = program.redeem(code).json()
    personal = site.grants.make_personal("ann", "mine", "read", 1)
    session = ann.cookies["chartpact-session"]
    secrets = (code, issued["access_token"], issued["refresh_token"], personal, session)
    for secret in secrets:  # 256 bits each, after a prefix that says what it is
        assert len(base64.urlsafe_b64decode(secret[-43:] + "=")) == 32
    assert len({secret[-43:] for secret in secrets}) == len(secrets)
    with site.database.read() as connection:
        stored = "\n".join(
            str(row)
            for table in metadata.sorted_tables
            for row in connection.execute(sa.select(table))
        )
    for secret in (*secrets, "correct horse battery"):
        assert secret not in stored
        assert secret[5:] not in stored
    for secret in secrets[1:]:
        assert digest(secret) in stored


def test_the_audit_log_tells_what_happened_without_secrets(site, browser, program):
    began = now_ms()
    browser.sign_in("ann")
    issued = program.tokens(browser)
    program.refresh(issued["refresh_token"])
    program.refresh(issued["refresh_token"])
    again = program.tokens(browser)
    program.http.post(
        "/revoke", data={"token": again["refresh_token"], "client_id": program.client_id}
    )
    with site.database.read() as connection:
        query = sa.select(audit_events).where(audit_events.c.at >= began)
        rows = connection.execute(query.order_by(audit_events.c.event_id)).all()
    assert [row.event for row in rows] == [
        "signed in by password",
        "consent given",
        "tokens issued",
        "tokens issued",
        "refresh token reused",
        "consent given",
        "tokens issued",
        "token revoked",
    ]
    assert {row.user_id for row in rows} == {"ann"}
    assert rows[0].address == "127.0.0.1"
    text = str(rows)
    for secret in (issued["access_token"], issued["refresh_token"], again["refresh_token"]):
        assert secret not in text
        assert digest(secret) not in text


# ---------------------------------------------------------------------------------- registration


@in_one_test(
    "uri",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://evil.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "http://user@127.0.0.1/cb",
        "https://user:pass@app.example/cb",
        "https://app.example/cb#fragment",
        "https:///cb",
        "file:///etc/passwd",
        "myapp:/cb",
        "/relative",
        "https://app.example/\\evil",
        "https://app.example;sandbox/cb",
        "https://app.example,evil.example/cb",
        "https://app.example%2f.evil.example/cb",
        'https://app.example"/cb',
        "https://*/cb",
        "https://app.example:/cb",
        "https://app.example:99999/cb",
        "https://[::1]evil.example/cb",
        "https://äpp.example/cb",
        "https://app.example/" + "x" * 1000,
        "",
    ],
)
def test_a_redirect_that_is_neither_https_nor_loopback_is_not_registered(program, uri):
    answer = program.http.post("/register", json={"redirect_uris": [CALLBACK, uri]})
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_redirect_uri"


@in_one_test(
    ("body", "error"),
    [
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK] * 11}, "invalid_redirect_uri"),
        ({"redirect_uris": "x"}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK], "scope": "admin"}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "grant_types": ["password"]}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "response_types": ["token"]}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "client_name": "x" * 9000}, "invalid_client_metadata"),
        ([], "invalid_client_metadata"),
    ],
)
def test_metadata_that_cannot_be_served_is_not_registered(program, body, error):
    answer = program.http.post("/register", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


def test_a_registered_client_is_public_whatever_it_asks_for(site):
    program = Program(site, token_endpoint_auth_method="client_secret_basic")
    said = program.registered.json()
    assert said["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in said


def test_a_registration_that_nobody_uses_is_over_after_a_day_and_one_in_use_is_not(site, ann):
    day = 24 * 3600 * 1000
    used, unused = Program(site), Program(site)
    used.tokens(ann)
    with site.database.read() as connection:
        query = sa.select(oauth_clients.c.client_id, oauth_clients.c.expires_at)
        ends = {row.client_id: row.expires_at for row in connection.execute(query)}
    assert ends[unused.client_id] <= now_ms() + day
    assert ends[used.client_id] > now_ms() + 2 * day
    with site.database.write(None) as connection:
        this = oauth_clients.c.client_id == unused.client_id
        connection.execute(sa.update(oauth_clients).where(this).values(expires_at=now_ms() - 1))
    answer = ann.get(f"/authorize?{unused.query()}")
    assert answer.status_code == 400
    site.grants.purge()
    with site.database.read() as connection:
        assert connection.execute(sa.select(oauth_clients).where(this)).first() is None


def test_purging_goes_on_after_a_time_when_the_database_failed(site, monkeypatch):
    authority, tries = site.served.authority, []

    def purge() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise sa.exc.OperationalError("DELETE", {}, Exception("the database is restarting"))
        raise EOFError  # what ends the test

    monkeypatch.setattr(authority.grants, "purge", purge)
    monkeypatch.setattr("chartpact.server.auth.authority.PURGE_S", 0.0)
    with pytest.raises(EOFError):
        asyncio.run(authority.purge_for_ever())
    assert len(tries) == 3


def test_where_there_are_too_many_registrations_the_one_that_ends_first_makes_room(
    site, ann, monkeypatch
):
    used, unused = Program(site), Program(site)
    used.tokens(ann)
    this = oauth_clients.c.client_id == unused.client_id
    with site.database.write(None) as connection:
        connection.execute(
            sa.update(oauth_clients).where(this).values(expires_at=now_ms() + 60_000)
        )
        count = sa.select(sa.func.count()).select_from(oauth_clients)
        monkeypatch.setattr(clients, "MOST_CLIENTS", connection.execute(count).scalar_one())
    fresh = Program(site)
    for program, status in ((used, 200), (unused, 400), (fresh, 200)):
        assert ann.get(f"/authorize?{program.query()}").status_code == status
    with site.database.read() as connection:
        assert connection.execute(count).scalar_one() == clients.MOST_CLIENTS


def test_purging_deletes_what_is_over_and_nothing_else(site, ann, program):
    issued, over = program.tokens(ann), program.tokens(ann)
    with site.database.write(None) as connection:
        grant = connection.execute(
            sa.select(tokens.c.grant_id).where(tokens.c.token_hash == digest(over["access_token"]))
        ).scalar_one()
        connection.execute(sa.update(tokens).where(tokens.c.grant_id == grant).values(expires_at=1))
        connection.execute(
            sa.update(oauth_codes).where(oauth_codes.c.grant_id == grant).values(expires_at=1)
        )
    site.grants.purge()
    with site.database.read() as connection:
        query = sa.select(oauth_grants).where(oauth_grants.c.grant_id == grant)
        assert connection.execute(query).first() is None
    assert works(site, issued["access_token"])


def test_what_a_request_says_is_escaped_on_the_page(ann, program):
    query = program.query(state='<b>" onclick=x>')
    page = ann.get(f"/authorize?{query}")
    assert '<b>" onclick' not in page.text
    [sent] = re.findall(r'name="request" value="([^"]*)"', page.text)
    assert "state=%3Cb%3E" in unescape(sent)
