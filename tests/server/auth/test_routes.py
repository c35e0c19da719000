"""Every route, tried without a token, with an expired, a foreign, a weak and a refresh token."""

import asyncio
import json
import re
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from starlette.requests import Request
from tests.cases import in_one_test
from tests.server.auth.conftest import (
    LISTING,
    MCP_HEADERS,
    META,
    Browser,
    Program,
)

from chartpact.library.schema import tokens
from chartpact.server.auth.requests import PROXIED, is_local
from chartpact.server.auth.secret import digest
from chartpact.server.front import OPEN, OPEN_FOLDERS

READING_POSTS = {
    "/api/v1/bars/after",
    "/api/v1/charts",
    "/api/v1/charts/image",
    "/api/v1/charts/series",
    "/api/v1/check",
    "/api/v1/contracts/check",
    "/api/v1/contracts/draft",
    "/api/v1/contracts/match",
    "/api/v1/prove",
    "/api/v1/state",
    "/api/v1/strategies/check",
    "/api/v1/strategies/state",
    "/api/v1/study",
}
IDENTITY = {
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/authorize",
    "/token",
    "/register",
    "/revoke",
    "/sign-in",
    "/sign-in/link",
    "/sign-up",
    "/sign-out",
    "/account",
    "/account/disconnect",
    "/account/tokens",
    "/account/tokens/revoke",
    "/account/password",
    "/account/delete",
}


def walk(routes) -> Iterator[tuple[str, str]]:
    """Every method and path that a router has, in whatever router it stands."""
    for route in routes:
        if hasattr(route, "original_router"):  # of FastAPI: one router within another
            assert route.include_context.prefix == ""
            yield from walk(route.original_router.routes)
        else:
            yield from ((method, route.path) for method in route.methods - {"HEAD"})


def is_open(path: str) -> bool:
    return path in IDENTITY or path in OPEN or path.startswith(OPEN_FOLDERS)


def fill(path: str) -> str:
    return re.sub(r"\{\w+(:\w+)?\}", "x", path)


def routes(site) -> list[tuple[str, str]]:
    """Every route that needs a token, with names in the place of its variables."""
    every = walk(site.served.api.routes)
    return [(method, fill(path)) for method, path in every if not is_open(path)]


@pytest.fixture(scope="module")
def given(site) -> dict[str, str]:
    """Tokens of ann: a good one, and one for each way to be wrong."""
    with Browser(site.url) as browser:
        browser.sign_in("ann")
        program = Program(site)
        good, expired, elsewhere = (program.tokens(browser) for _ in range(3))
        made = {
            "good": good["access_token"],
            "refresh": good["refresh_token"],
            "expired": expired["access_token"],
            "elsewhere": elsewhere["access_token"],
            "read": program.tokens(browser, scope="read")["access_token"],
            "write": program.tokens(browser, scope="write")["access_token"],
            "code": program.code(browser),
            "session": browser.cookies["chartpact-session"],
            "unknown": "cpa_" + "x" * 43,
            "empty": "",
        }
    changes = {"expired": {"expires_at": 1}, "elsewhere": {"resource": "https://other.example/mcp"}}
    with site.database.write(None) as connection:
        for name, values in changes.items():
            this = tokens.c.token_hash == digest(made[name])
            connection.execute(sa.update(tokens).where(this).values(**values))
    return made


@pytest.mark.parametrize(
    "kind", ["none", "expired", "elsewhere", "refresh", "code", "session", "unknown", "empty"]
)
def test_no_route_answers_who_has_no_valid_token(site, given, kind):
    bearer = {} if kind == "none" else {"Authorization": f"Bearer {given[kind]}".strip()}
    tried = [*routes(site), ("POST", "/mcp"), ("GET", "/no/such/path"), ("GET", "/api/v1")]
    assert len(tried) > 40
    for method, path in tried:
        answer = site.http.request(method, path, headers=bearer)
        assert answer.status_code == 401, (method, path)
        assert answer.headers["www-authenticate"].startswith("Bearer ")
        assert "ann" not in answer.text


def test_a_token_in_the_query_or_in_a_form_is_no_token(site, given):
    for path in (f"/api/v1/symbols?access_token={given['good']}", "/mcp"):
        form = {"access_token": given["good"]}
        answer = site.http.request("POST" if path == "/mcp" else "GET", path, data=form)
        assert answer.status_code == 401


@pytest.mark.parametrize("scheme", ["Basic", "Token", "bearer,Bearer", ""])
def test_a_token_under_another_scheme_is_no_token(site, given, scheme):
    headers = {"Authorization": f"{scheme} {given['good']}".strip()}
    assert site.http.get("/api/v1/symbols", headers=headers).status_code == 401


def test_too_little_scope_is_a_403_that_says_which_scope_is_missing(site, given):
    for method, path in routes(site):
        reads = method == "GET" or path in READING_POSTS
        weak = "write" if reads else "read"
        headers = {"Authorization": f"Bearer {given[weak]}"}
        answer = site.http.request(method, path, headers=headers)
        assert answer.status_code == 403, (method, path)
        said = answer.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in said
        assert 'scope="read write"' in said
        assert "resource_metadata=" in said
        headers = {"Authorization": f"Bearer {given['good']}"}
        answer = site.http.request(method, path, headers=headers)
        assert answer.status_code not in (401, 403), (method, path)


def call(site, token: str, tool: str, *, legacy: bool = False, body: bytes | None = None):
    params = {"name": tool, "arguments": {"name": "nothing"}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = MCP_HEADERS | {"mcp-method": "tools/call", "mcp-name": tool}
    if legacy:
        headers = {"accept": MCP_HEADERS["accept"], "mcp-protocol-version": "2025-11-25"}
        del params["_meta"]
    headers |= {"Authorization": f"Bearer {token}", "content-type": "application/json"}
    return site.http.post("/mcp", content=body or json.dumps(message).encode(), headers=headers)


@pytest.mark.parametrize("legacy", [False, True])
def test_a_tool_that_writes_needs_the_scope_write_over_either_revision(site, given, legacy):
    tools = asyncio.run(site.served.mcp.list_tools())
    changing = [tool.name for tool in tools if not tool.annotations.read_only_hint]
    assert {"delete_indicator", "register_contract", "follow_state"} <= set(changing)
    for tool in changing:
        answer = call(site, given["read"], tool, legacy=legacy)
        assert answer.status_code == 403
        assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert call(site, given["good"], "delete_indicator", legacy=legacy).status_code == 200
    assert call(site, given["write"], "list_symbols", legacy=legacy).status_code == 403


def test_a_call_that_two_readers_may_read_differently_still_needs_the_scope(site, given):
    body = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete_indicator",'
        b'"arguments":{"name":"nothing"}},"params":{"name":"list_symbols","arguments":{}}}'
    )
    for doubled in (body, body.replace(b"list_symbols", b"delete_indicator", 1)):
        answer = call(site, given["read"], "delete_indicator", legacy=True, body=doubled)
        assert '"ok":true' not in answer.text.replace(" ", "")


def test_another_users_token_reaches_another_users_things(site, given):
    bobs = site.grants.make_personal("bob", "his", "read write", 1)
    csv = "time,open,high,low,close\n" + "".join(
        f"2024-01-02T10:0{minute}:00Z,1,2,1,2\n" for minute in range(3)
    )
    with site.client(given["good"]) as ann, site.client(bobs) as bob:
        assert ann.put("/api/v1/my/bars/anns", content=csv).status_code == 200
        assert ann.get("/api/v1/my/bars/anns").status_code == 200
        assert bob.get("/api/v1/my/bars/anns").status_code == 404
        assert bob.delete("/api/v1/my/bars/anns").status_code == 404
        assert bob.get("/api/v1/my/bars").json()["bars"] == []
        assert ann.get("/api/v1/my/bars/anns").status_code == 200


def test_what_is_open_to_all_is_on_this_list_and_nothing_else_is(site):
    known = set(walk(site.served.api.routes))
    for method, path in sorted(known):
        status = site.http.request(method, fill(path)).status_code
        assert (status != 401) == is_open(path), (method, path)
    paths = {path for _, path in known}
    assert paths >= IDENTITY
    assert paths >= set(OPEN)


def test_what_needs_a_token_is_in_the_schema_from_which_other_tables_are_checked(site):
    paths = site.http.get("/openapi.json").json()["paths"]
    told = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert told == {route for route in walk(site.served.api.routes) if not is_open(route[1])}


def test_a_method_that_a_route_does_not_have_needs_a_token_too(site):
    for _, path in routes(site):
        for method in ("PATCH", "OPTIONS", "DELETE", "TRACE"):
            assert site.http.request(method, path).status_code == 401, (method, path)


@in_one_test("name", sorted({*PROXIED, "x-forwarded-for", "x-forwarded-proto", "x-real-ip", "via"}))
def test_who_asks_through_a_proxy_is_not_at_this_machine(name):
    scope = {"type": "http", "client": ("127.0.0.1", 1)}
    assert is_local(Request({**scope, "headers": []}))
    assert not is_local(Request({**scope, "headers": [(name.encode(), b"x")]}))


def test_a_web_session_speaks_no_mcp(site, given):
    cookies = {"Cookie": f"chartpact-session={given['session']}", "Sec-Fetch-Site": "same-origin"}
    answer = site.http.post("/mcp", json=LISTING, headers={**MCP_HEADERS, **cookies})
    assert answer.status_code == 401
    assert site.http.get("/api/v1/me", headers=cookies).status_code == 200
