"""OAuth clients: those that registered, and those whose id is the URL of their metadata."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import sqlalchemy as sa
from pydantic import BaseModel, Field, ValidationError

from chartpact.cache import Cache
from chartpact.clock.system import now_ms
from chartpact.clock.timeframe import DAY
from chartpact.library.database import Database
from chartpact.library.schema import oauth_clients
from chartpact.oneline import escape_unseen
from chartpact.server.auth.fetch import Fetcher, FetchError
from chartpact.server.auth.grants import Denied
from chartpact.server.auth.secret import new_id
from chartpact.server.auth.tokens import ALL_SCOPES

UNUSED_MS = DAY  # until a registration that nobody used is forgotten
MOST_CLIENTS = 10_000  # registrations at a time
LONGEST_NAME = 80
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PLACE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?")  # host and port
_ON_LOOPBACK = re.compile(
    r"(http://(?:127\.0\.0\.1|localhost|\[::1\]))(?::[0-9]{1,5})?(?=/|\?|$)(.*)"
)
LEAST_CACHE_S, MOST_CACHE_S = 60.0, 86_400.0


@dataclass(frozen=True)
class Client:
    """A public client: it has redirect URIs, and no secret."""

    client_id: str
    name: str
    redirect_uris: Sequence[str]

    def accepts(self, redirect_uri: str) -> bool:
        """Whether a redirect URI is registered, to the letter; only a loopback port may differ."""
        return any(_matches(known, redirect_uri) for known in self.redirect_uris)


class Metadata(BaseModel):
    """What a client says of itself (RFC 7591)."""

    redirect_uris: list[str] = Field(min_length=1, max_length=10)
    client_name: str = Field("", max_length=500)
    grant_types: list[str] = Field(["authorization_code", "refresh_token"], max_length=10)
    response_types: list[str] = Field(["code"], max_length=10)
    scope: str | None = Field(None, max_length=200)
    token_endpoint_auth_method: str | None = Field(None, max_length=50)

    def check(self) -> None:
        """Raises Denied where this server cannot serve such a client."""
        for uri in self.redirect_uris:
            check_redirect(uri)
        if "authorization_code" not in self.grant_types or "code" not in self.response_types:
            raise Denied("invalid_client_metadata", "only the authorization code grant is served")
        if self.scope is not None and not frozenset(self.scope.split()) <= ALL_SCOPES:
            raise Denied(
                "invalid_client_metadata", f"the scopes are {' '.join(sorted(ALL_SCOPES))}"
            )


class _Document(Metadata):
    client_id: str


Shape = TypeVar("Shape", bound=Metadata)


def check_redirect(uri: str) -> None:
    """Raises Denied unless it is https, or http on loopback; never a fragment or a user."""
    refused = Denied("invalid_redirect_uri", "redirect URIs are https, or http on loopback")
    if len(uri) > 1000 or not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        raise refused
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        raise refused from None
    if not _PLACE.fullmatch(parts.netloc) or "#" in uri:  # the place is also part of a CSP header
        raise refused
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise refused


def is_loopback(uri: str) -> bool:
    return urlsplit(uri).hostname in LOOPBACK


def _matches(known: str, uri: str) -> bool:
    if known == uri:
        return True
    try:
        check_redirect(uri)
    except Denied:
        return False
    # RFC 8252: a native app listens on whatever port is free. Only http on loopback.
    one, other = _ON_LOOPBACK.fullmatch(known), _ON_LOOPBACK.fullmatch(uri)
    return one is not None and other is not None and one.groups() == other.groups()


class Clients:
    """Finds clients by id, and registers new ones."""

    def __init__(self, database: Database, fetcher: Fetcher | None, *, registration: bool) -> None:
        self._database = database
        self._fetcher = fetcher
        self.registration = registration
        self._documents: Cache[str, tuple[float, Client | Denied]] = Cache(1000)

    @property
    def documents(self) -> bool:
        """Whether a client's id may be the URL of its metadata."""
        return self._fetcher is not None

    def register(self, body: bytes) -> dict[str, Any]:
        """Registers a client for a day, or for longer once it is used; raises Denied."""
        metadata = _parse(Metadata, body)
        metadata.check()
        client_id, now = new_id(), now_ms()
        name = _clean(metadata.client_name)
        stored = {"name": name, "redirect_uris": metadata.redirect_uris}
        with self._database.write("registrations of clients") as connection:
            connection.execute(sa.delete(oauth_clients).where(oauth_clients.c.expires_at <= now))
            # Nobody is refused for the registrations of others: the least used make room.
            surplus = (
                sa.select(oauth_clients.c.client_id)
                .order_by(oauth_clients.c.expires_at.desc())
                .offset(MOST_CLIENTS - 1)
            )
            connection.execute(
                sa.delete(oauth_clients).where(oauth_clients.c.client_id.in_(surplus))
            )
            connection.execute(
                sa.insert(oauth_clients).values(
                    client_id=client_id,
                    metadata_json=json.dumps(stored),
                    created_at=now,
                    expires_at=now + UNUSED_MS,
                )
            )
        return {
            "client_id": client_id,
            "client_id_issued_at": now // 1000,
            "client_name": name,
            "redirect_uris": metadata.redirect_uris,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "scope": metadata.scope or " ".join(sorted(ALL_SCOPES)),
        }

    async def find(self, client_id: str, before_fetch: Callable[[], Awaitable[None]]) -> Client:
        """The client of that id; raises Denied, and what `before_fetch` raises."""
        if client_id.startswith("https://"):
            return await self._find_document(client_id, before_fetch)
        return await asyncio.to_thread(self._find_registered, client_id)

    def _find_registered(self, client_id: str) -> Client:
        query = sa.select(oauth_clients).where(
            oauth_clients.c.client_id == client_id, oauth_clients.c.expires_at > now_ms()
        )
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise Denied("invalid_client", "the client is unknown, or its registration is over")
        stored = json.loads(row.metadata_json)
        return Client(client_id, stored["name"], stored["redirect_uris"])

    async def _find_document(self, url: str, before_fetch: Callable[[], Awaitable[None]]) -> Client:
        if self._fetcher is None:
            raise Denied(
                "invalid_client", "clients are not known by the URL of their metadata here"
            )
        now = time.monotonic()
        cached = self._documents.get(url)
        if cached is None or cached[0] <= now:
            await before_fetch()
            try:
                document = await self._fetcher.fetch(url)
                outcome: Client | Denied = _read_document(url, document.body)
                lasts_s = min(max(document.max_age_s, LEAST_CACHE_S), MOST_CACHE_S)
            except FetchError as error:
                outcome = Denied("invalid_client", f"the client's metadata: {error}")
                lasts_s = LEAST_CACHE_S  # what fails is not asked for again at once
            except Denied as error:
                outcome, lasts_s = error, LEAST_CACHE_S
            cached = (now + lasts_s, outcome)
            self._documents.put(url, cached)
        if isinstance(cached[1], Denied):
            raise cached[1]
        return cached[1]


def _read_document(url: str, body: bytes) -> Client:
    document = _parse(_Document, body)
    if document.client_id != url:
        raise Denied("invalid_client", "the client's metadata is that of another client")
    if document.token_endpoint_auth_method not in (None, "none"):
        raise Denied("invalid_client", "only public clients are served")
    document.check()
    return Client(url, _clean(document.client_name), tuple(document.redirect_uris))


def _parse(shape: type[Shape], body: bytes) -> Shape:
    try:
        return shape.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, wrong["loc"]))
        code = "invalid_redirect_uri" if place.startswith("redirect") else "invalid_client_metadata"
        raise Denied(code, f"{place or 'the metadata'}: {wrong['msg']}"[:200]) from None


def _clean(name: str) -> str:
    """A name for people: one line, without letters that are not seen."""
    return escape_unseen(" ".join(name.split()))[:LONGEST_NAME] or "a client without a name"
