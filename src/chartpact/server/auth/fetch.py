"""Fetches a small JSON document from a stranger's URL, without reaching anything private (SSRF).

The name is resolved once, every address it has must be public, and the connection goes to an
address that was checked: a second answer of the name server (DNS rebinding) is never asked for.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpcore2

MOST_BYTES = 10_240
MOST_SECONDS = 5.0
LONGEST_URL = 512

# IPv6 ranges that carry an IPv4 address, and the bits at which it begins.
_EMBEDDED = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("64:ff9b:1::/48"), None),
    (ipaddress.IPv6Network("2002::/16"), None),
    (ipaddress.IPv6Network("2001::/32"), None),
    (ipaddress.IPv6Network("::/96"), None),
    (ipaddress.IPv6Network("fec0::/10"), None),
)

# IPv4 ranges of protocols, which some versions of Python take for global.
_SPECIAL = (ipaddress.IPv4Network("192.0.0.0/24"), ipaddress.IPv4Network("192.88.99.0/24"))

_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_PUBLIC_NAME = re.compile(rf"(?:{_LABEL}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?")
AT_ONCE = 16  # names that are resolved

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class FetchError(Exception):
    """The document cannot be had; the message may be shown to anybody."""


@dataclass(frozen=True)
class Document:
    """A body, and for how many seconds it may be cached."""

    body: bytes
    max_age_s: float


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet; what is unclear does not."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # also one with a zone, such as fe80::1%eth0
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        for network, shift in _EMBEDDED:
            if ip in network:
                if shift is None:
                    return False
                ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
                break
    if isinstance(ip, ipaddress.IPv4Address) and any(ip in network for network in _SPECIAL):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


class NameResolver:
    """Every address of a name, on threads of its own: a slow name server holds up nothing else."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, "names")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        ask = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        return [str(answer[4][0]) for answer in answers]


def check_url(url: str) -> str:
    """The host of a URL that may be fetched; raises FetchError."""
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise FetchError("the URL is too long or has letters that no URL has")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise FetchError("the URL cannot be read") from None
    host = parts.hostname or ""
    segments = parts.path.split("/")
    if parts.scheme != "https" or port not in (None, 443):
        raise FetchError("only https on its own port is fetched")
    if parts.username is not None or parts.password is not None or "#" in url or "\\" in url:
        raise FetchError("the URL has a user, a fragment or a backslash")
    if parts.path in ("", "/") or "." in segments or ".." in segments:
        raise FetchError("the URL needs a path, without . or ..")
    if not _PUBLIC_NAME.fullmatch(host):
        raise FetchError("the URL names no public host")  # an IP address, or a local name
    return host


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to an address that was checked, and to nothing else."""

    def __init__(self, resolve: Resolve, allowed: Callable[[str], bool], port: int | None) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._port = port
        self._backend = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await self._resolve(host, port)
        except OSError:
            raise FetchError("the host is unknown") from None
        # One private address among public ones is an attempt: the name is refused altogether.
        if not addresses or not all(map(self._allowed, addresses)):
            raise FetchError("the host is unknown")
        return await self._backend.connect_tcp(
            addresses[0], self._port or port, timeout, local_address, socket_options
        )


class Fetcher:
    """Fetches documents. The arguments are for tests, which have no public network."""

    def __init__(
        self,
        *,
        resolve: Resolve | None = None,
        allowed: Callable[[str], bool] = is_public,
        context: ssl.SSLContext | None = None,
        port: int | None = None,
        seconds: float = MOST_SECONDS,
    ) -> None:
        self._backend = _PinnedBackend(resolve or NameResolver(), allowed, port)
        self._context = context or ssl.create_default_context()
        self._seconds = seconds

    async def fetch(self, url: str) -> Document:
        """The JSON document at a URL; raises FetchError."""
        check_url(url)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._fetch(url)
        except TimeoutError:
            raise FetchError("the host took too long") from None
        except (
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
            OSError,
        ):
            raise FetchError("the host does not answer") from None

    async def _fetch(self, url: str) -> Document:
        headers = [("Accept", "application/json"), ("User-Agent", "chartpact")]
        pool = httpcore2.AsyncConnectionPool(
            ssl_context=self._context, network_backend=self._backend, max_connections=1
        )
        async with pool, pool.stream("GET", url, headers=headers) as answer:
            if answer.status != 200:  # a redirect is not followed
                raise FetchError(f"the host answered {answer.status}")
            sent = {name.lower(): value.decode("latin-1") for name, value in answer.headers}
            kind = sent.get(b"content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json" and not kind.endswith("+json"):
                raise FetchError("the document is not JSON")
            body = b""
            async for piece in answer.aiter_stream():
                body += piece
                if len(body) > MOST_BYTES:
                    raise FetchError(f"the document has more than {MOST_BYTES} bytes")
        return Document(body, _max_age(sent.get(b"cache-control", "")))


def _max_age(header: str) -> float:
    ages = [
        value
        for name, _, value in (part.strip().lower().partition("=") for part in header.split(","))
        if name == "max-age"
    ]
    return float(ages[0]) if ages and ages[0].isdecimal() and len(ages[0]) < 10 else 0.0
