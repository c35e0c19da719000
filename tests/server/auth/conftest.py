"""A server with accounts in this process, a browser without a window, and a client's own part."""

import asyncio
import base64
import hashlib
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
import uvicorn
from argon2 import PasswordHasher
from tests.postgres import KIND, url_for
from tests.service import PLAIN

from chartpact.server import app
from chartpact.server.auth.authority import AuthSettings
from chartpact.server.auth.throttle import Rates
from chartpact.server.settings import Settings, UserLimits
from chartpact.server.uvicorn_server import BoundedHttp

PASSWORD = "correct horse battery"
# Verified as any hash is, by the costs that it names itself: a hundredth of what passwords get.
HASH = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
CALLBACK = "http://127.0.0.1:4567/callback"
PLENTY = Rates(*[10**6] * len(fields(Rates)))


@dataclass(frozen=True)
class Site:
    """A server that runs here, its parts, and its address."""

    url: str
    served: app.Server
    http: httpx2.Client  # of whoever has no token

    @property
    def grants(self):
        return self.served.authority.grants

    @property
    def accounts(self):
        return self.served.authority.accounts

    @property
    def database(self):
        return self.served.database

    def client(self, token: str | None = None) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=600, verify=PLAIN)


@contextmanager
def site_with(
    folder: Path,
    settings: AuthSettings,
    kind: str = KIND,
    clock: Callable[[], float] | None = None,
    **limits: int,
) -> Iterator[Site]:
    """A server with these settings, and the users ann and bob."""
    plenty = {"calls_per_minute": 10**6, "script_seconds_per_minute": 10**6} | limits
    served = app.create(
        Settings(database=url_for(folder, kind=kind), limits=UserLimits(**plenty), warm=False),
        identify=settings,
        clock=clock,
    )
    for user in ("ann", "bob"):
        served.authority.accounts.add(user, HASH)
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(served.app, http=BoundedHttp, log_config=None, server_header=False)
    server = uvicorn.Server(config)
    serves = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    serves.start()
    while not server.started:
        time.sleep(0.01)
    try:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx2.Client(base_url=url, timeout=600, verify=PLAIN) as http:
            yield Site(url, served, http)
    finally:
        server.should_exit = True
        serves.join()
        served.close()


@pytest.fixture(scope="module")
def site(storage: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    settings = AuthSettings(rates=PLENTY, sign_up=True)
    with site_with(tmp_path_factory.mktemp("site"), settings, storage) as running:
        yield running


def form_of(page: str, action: str) -> dict[str, str]:
    """The hidden fields of a page's form."""
    [form] = re.findall(rf'<form[^>]*action="{re.escape(action)}">(.*?)</form>', page, re.S)[:1]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: unescape(value) for name, value in found}


class Browser(httpx2.Client):
    """A person at a browser: it keeps cookies, and fills in forms."""

    def __init__(self, url: str) -> None:
        super().__init__(base_url=url, timeout=600, follow_redirects=False, verify=PLAIN)

    def send_form(self, action: str, page: httpx2.Response, **fields: str) -> httpx2.Response:
        return self.post(action, data=form_of(page.text, action) | fields)

    def sign_in(self, name: str, password: str = PASSWORD, **query: str) -> httpx2.Response:
        page = self.get("/sign-in", params=query)
        return self.send_form("/sign-in", page, name=name, password=password)

    def consent(self, query: str, decision: str = "allow") -> httpx2.Response:
        page = self.get(f"/authorize?{query}")
        assert page.status_code == 200, (page.status_code, page.headers, page.text)
        return self.send_form("/authorize", page, decision=decision)


@pytest.fixture
def browser(site: Site) -> Iterator[Browser]:
    with Browser(site.url) as opened:
        yield opened


@pytest.fixture
def ann(browser: Browser) -> Browser:
    """A browser in which ann is signed in."""
    assert browser.sign_in("ann").status_code == 303
    return browser


class Program:
    """An OAuth client, written by hand so that it can do each step wrong."""

    def __init__(self, site: Site, *, redirect_uri: str = CALLBACK, **metadata: object) -> None:
        self.site, self.redirect_uri = site, redirect_uri
        self.http = site.http
        body = {"redirect_uris": [redirect_uri], "client_name": "Program", **metadata}
        self.registered = self.http.post("/register", json=body)
        assert self.registered.status_code == 201, self.registered.text
        self.client_id = self.registered.json()["client_id"]
        self.verifier = secrets.token_urlsafe(48)

    def query(self, **changes: str | None) -> str:
        challenge = hashlib.sha256(self.verifier.encode()).digest()
        fields = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": "read write",
            "state": "as it came",
            "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "resource": f"{self.site.url}/mcp",
        } | changes
        return urlencode({name: value for name, value in fields.items() if value is not None})

    def code(self, browser: Browser, **changes: str | None) -> str:
        return answer_of(browser.consent(self.query(**changes)))["code"]

    def token(self, **changes: str | None) -> httpx2.Response:
        fields = {"client_id": self.client_id, **changes}
        sent = {name: value for name, value in fields.items() if value is not None}
        return self.http.post("/token", data=sent)

    def redeem(self, code: str, /, **changes: str | None) -> httpx2.Response:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
            "resource": f"{self.site.url}/mcp",
        }
        return self.token(**fields | changes)

    def refresh(self, token: str, /, **changes: str | None) -> httpx2.Response:
        return self.token(**{"grant_type": "refresh_token", "refresh_token": token} | changes)

    def tokens(self, browser: Browser, **changes: str | None) -> dict[str, str]:
        answer = self.redeem(self.code(browser, **changes))
        assert answer.status_code == 200, answer.text
        return answer.json()


def answer_of(redirect: httpx2.Response) -> dict[str, str]:
    """What a redirect carries to the client."""
    assert redirect.status_code == 303, (redirect.status_code, redirect.text)
    query = urlsplit(redirect.headers["location"]).query
    return {name: values[0] for name, values in parse_qs(query).items()}


def works(site: Site, token: str) -> bool:
    """Whether a token opens REST and MCP, or neither."""
    with site.client(token) as client:
        rest = client.get("/api/v1/symbols").status_code
        mcp = client.post("/mcp", json=LISTING, headers=MCP_HEADERS).status_code
    assert (rest, mcp) in ((200, 200), (401, 401)), (rest, mcp)
    return rest == 200


MCP_HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/list",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def tool_call(name: str, /, **arguments: object) -> dict[str, object]:
    """A call of an MCP tool, as the arguments of a request."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {**MCP_HEADERS, "mcp-method": "tools/call", "mcp-name": name}
    return {"json": body, "headers": headers}
