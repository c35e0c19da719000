"""What comes with a request to identity: form fields, address, session, CSRF token."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request

from chartpact.server.auth.authority import Authority
from chartpact.server.auth.grants import Denied
from chartpact.server.auth.realm import Realm
from chartpact.server.auth.secret import equal, sign
from chartpact.server.auth.sessions import read_cookie

MOST_FIELDS = 40
# How headers begin by which proxies tell for whom they ask.
PROXIED = ("x-forwarded", "forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "via",
           "true-client-ip", "cf-connecting-ip", "fastly-client-ip", "x-original-for")  # fmt: skip
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Visitor:
    """A browser, and who is signed in there."""

    session: str
    user: str

    def form_token(self, purpose: str) -> str:
        """The CSRF token of a form of this session, for one purpose."""
        return sign(self.session, purpose)


def realm_of(authority: Authority, request: Request) -> Realm:
    realm = authority.realms.of(request.headers.get("host", ""))
    if realm is None:
        raise Denied(
            "invalid_request", "the server has no public address: set CHARTPACT_PUBLIC_URL"
        )
    return realm


def is_local(request: Request) -> bool:
    """Whether somebody at this machine asks, and not through a proxy on it."""
    try:
        near = ipaddress.ip_address(address_of(request) or "").is_loopback
    except ValueError:
        return False
    return near and not any(name.startswith(PROXIED) for name in request.headers)


def address_of(request: Request) -> str | None:
    return request.client.host if request.client else None


def parse_fields(text: str) -> dict[str, str]:
    """Fields of a query or a form; a field that comes twice is refused (RFC 6749, 3.1)."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise Denied("invalid_request", "there are too many fields") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Denied("invalid_request", "a field comes twice")
    if "\0" in text or "%00" in text:  # no name, token or address has it, nor does PostgreSQL
        raise Denied("invalid_request", "a field has a NUL")
    return {name: value for name, value in fields.items() if value}


async def read_form(request: Request) -> dict[str, str]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        raise Denied("invalid_request", f"send {FORM}")
    try:
        text = (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        raise Denied("invalid_request", "the form is not UTF-8") from None
    return parse_fields(text)


async def visitor_of(authority: Authority, request: Request) -> Visitor | None:
    """The user who is signed in in this browser. A token does not count: it cannot consent."""
    secure = realm_of(authority, request).secure
    session = read_cookie(request.headers.get("cookie", ""), "session", secure=secure)
    user = None if session is None else await authority.find_session(session)
    return None if session is None or user is None else Visitor(session, user)


def is_cross_site(request: Request) -> bool:
    """Whether the browser says that another site sent the form."""
    return request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def check_form(request: Request, fields: dict[str, str], token: str) -> bool:
    """Whether a form is one that this server made for this browser (CSRF)."""
    return not is_cross_site(request) and equal(fields.get("form", ""), token)
