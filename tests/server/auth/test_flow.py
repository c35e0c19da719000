"""The official client's whole way, without a window: discovery to revocation, on both revisions."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from tests.server.auth.conftest import PASSWORD, Browser, Site, works


class Storage:
    """Where the client keeps its registration and its tokens."""

    def __init__(self) -> None:
        self.tokens = None
        self.registration = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.registration

    async def set_client_info(self, client_info):
        self.registration = client_info


class Person:
    """Signs in and consents when the client opens a page."""

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        self.answer: dict[str, list[str]] = {}
        self.asked = 0

    async def open(self, address: str) -> None:
        self.asked += 1
        await asyncio.to_thread(self._consent, address)

    def _consent(self, address: str) -> None:
        with Browser(self.url) as browser:
            page = browser.get(address)
            if page.status_code == 303:
                sign_in = browser.get(page.headers["location"])
                page = browser.send_form("/sign-in", sign_in, name=self.name, password=PASSWORD)
                page = browser.get(page.headers["location"])
            back = browser.send_form("/authorize", page, decision="allow")
            self.answer = parse_qs(urlsplit(back.headers["location"]).query)

    async def wait(self) -> AuthorizationCodeResult:
        said = {name: values[0] for name, values in self.answer.items()}
        return AuthorizationCodeResult(**said)


def provider_of(site: Site, person: Person, storage: Storage, **options) -> OAuthClientProvider:
    metadata = OAuthClientMetadata(
        client_name="Official client", redirect_uris=["http://127.0.0.1:3999/callback"]
    )
    return OAuthClientProvider(
        f"{site.url}/mcp", metadata, storage, person.open, person.wait, **options
    )


async def call(site: Site, provider: OAuthClientProvider, mode: str) -> bool:
    """Whether a tool that reads and one that writes can be called."""
    async with (
        httpx2.AsyncClient(auth=provider, timeout=600) as http,
        Client(streamable_http_client(f"{site.url}/mcp", http_client=http), mode=mode) as client,
    ):
        listed = await client.call_tool("list_my_indicators", {})
        deleted = await client.call_tool("delete_indicator", {"name": "nothing"})
        return listed.structured_content["indicators"] == [] and "scope" not in str(deleted)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_the_official_client_goes_the_whole_way(site, mode):
    person, storage = Person(site.url, "ann"), Storage()

    async def go() -> None:
        provider = provider_of(site, person, storage)
        assert await call(site, provider, mode)
        assert person.asked == 1
        first = storage.tokens
        provider.context.token_expiry_time = 1  # as if the hour were over
        assert await call(site, provider, mode)
        assert person.asked == 1  # refreshed, without the user
        second = storage.tokens
        assert second.refresh_token != first.refresh_token

        client = {"client_id": storage.registration.client_id}
        async with httpx2.AsyncClient(base_url=site.url) as http:
            assert works(site, second.access_token)
            spent = {"grant_type": "refresh_token", "refresh_token": first.refresh_token}
            reused = await http.post("/token", data=spent | client)
            assert reused.json()["error"] == "invalid_grant"
            assert not works(site, second.access_token)  # the whole family is dead

            provider.context.clear_tokens()
            assert await call(site, provider, mode)
            assert person.asked == 2
            third = storage.tokens
            revoked = await http.post("/revoke", data={"token": third.refresh_token, **client})
            assert revoked.status_code == 200
            assert not works(site, third.access_token)

    asyncio.run(go())
