"""The names of this server in OAuth: issuer, resource and where its metadata is."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Realm:
    """One address under which the server is known; tokens for one are not valid under another."""

    base: str  # scheme and host, without a slash at the end; also the issuer

    @property
    def resource(self) -> str:
        return f"{self.base}/mcp"

    @property
    def secure(self) -> bool:
        return self.base.startswith("https://")

    @property
    def resource_metadata(self) -> str:
        return f"{self.base}/.well-known/oauth-protected-resource/mcp"

    def canonical(self, resource: str | None) -> str | None:
        """The resource that is meant; None where it is not this server's."""
        spellings = (None, self.resource, self.base, f"{self.base}/", f"{self.resource}/")
        return self.resource if resource in spellings else None


@dataclass(frozen=True)
class Realms:
    """The realm of each request: the public address, or on loopback the name that was used.

    A loopback server has three names and any port that is forwarded to it. All are this machine,
    so a request may say which it means; beyond it only the operator can.
    """

    public: str | None

    def of(self, host: str) -> Realm | None:
        """The realm of a Host header; None where it cannot be told."""
        if self.public is not None:
            return _realm(self.public)
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, ""
        if name.lower() not in LOOPBACK_HOSTS or (port and not _is_port(port)):
            return None
        return _realm(f"http://{host.lower()}")


def _is_port(text: str) -> bool:
    return text.isdecimal() and len(text) <= 5 and int(text) < 65_536


@lru_cache(maxsize=64)
def _realm(base: str) -> Realm:
    return Realm(base)


def read_public_url(text: str) -> str:
    """The public address that an operator configured, checked; raises ValueError.

    >>> read_public_url("https://Charts.example:443/")
    'https://charts.example'
    """
    parts = urlsplit(text.rstrip("/"))
    host = parts.hostname or ""
    loopback = host in ("127.0.0.1", "localhost", "::1")
    if (
        parts.scheme not in ("https", "http")
        or not host
        or parts.path
        or parts.query
        or parts.fragment
        or parts.username is not None
    ):
        raise ValueError(f"CHARTPACT_PUBLIC_URL: {text!r:.80} is not like https://charts.example")
    if parts.scheme == "http" and not loopback:
        raise ValueError(
            f"CHARTPACT_PUBLIC_URL: {text!r:.80}: passwords and tokens need https; "
            "put a proxy with TLS in front"
        )
    # Clients leave the port out where it is the scheme's own.
    place = parts.netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")
    return f"{parts.scheme}://{place}"
