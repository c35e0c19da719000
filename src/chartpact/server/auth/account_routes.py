"""Signing in and out, signing up, and the user's own page."""

import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from chartpact.library.local import LOCAL_USER
from chartpact.problem import Failure
from chartpact.server.allowance import TooMuch
from chartpact.server.auth import audit, pages
from chartpact.server.auth.accounts import Account
from chartpact.server.auth.authority import Authority
from chartpact.server.auth.grants import Denied
from chartpact.server.auth.requests import (
    Visitor,
    address_of,
    check_form,
    is_cross_site,
    is_local,
    read_form,
    realm_of,
    visitor_of,
)
from chartpact.server.auth.secret import digest, new_secret, sign
from chartpact.server.auth.sessions import FORM_S, SESSION_S, read_cookie, set_cookie
from chartpact.server.auth.tokens import SCOPES

NO_STORE = {"Cache-Control": "no-store"}
WRONG = "the name or the password is wrong"
NOT_OURS = "this form is not from here, or too old: start again"
LONGEST_NEXT = 8000

Endpoint = Callable[[Request], Awaitable[Response]]
Fields = dict[str, str]


def routes(authority: Authority) -> list[Route]:
    """The pages of people."""
    people = _People(authority)
    handlers = [
        ("/sign-in", people.show_sign_in, people.sign_in),
        ("/sign-in/link", people.show_link, people.use_link),
        ("/account", people.show_account, None),
        ("/account/disconnect", None, people.disconnect),
        ("/account/tokens", None, people.make_token),
        ("/account/tokens/revoke", None, people.revoke_token),
        ("/account/password", None, people.change_password),
        ("/account/delete", None, people.delete),
        ("/sign-out", None, people.sign_out),
    ]
    if authority.settings.sign_up:
        handlers.append(("/sign-up", people.show_sign_up, people.sign_up))
    return [
        Route(path, _guard(endpoint), methods=[method])
        for path, shown, sent in handlers
        for method, endpoint in (("GET", shown), ("POST", sent))
        if endpoint is not None
    ]


def _guard(endpoint: Endpoint) -> Endpoint:
    """Turns what goes wrong into a page."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Denied as error:
            return pages.problem(error.description)
        except TooMuch as error:
            return pages.problem(error.message, 429)

    return answer


def _go(path: str, *cookies: str) -> Response:
    answer = RedirectResponse(path, 303, NO_STORE)
    for cookie in cookies:
        answer.headers.append("set-cookie", cookie)
    return answer


def _safe_next(path: str) -> str:
    """Where a sign-in leads: our own consent page, a chart or the account, never elsewhere."""
    own = path == "/" or path.startswith(("/?", "/authorize?"))
    plain = len(path) <= LONGEST_NEXT and path.isascii() and path.isprintable()
    return path if own and plain else "/account"


class _People:
    def __init__(self, authority: Authority) -> None:
        self._authority = authority

    def _form_cookie(self, request: Request) -> str | None:
        secure = realm_of(self._authority, request).secure
        return read_cookie(request.headers.get("cookie", ""), "form", secure=secure)

    def _with_form(
        self, request: Request, purpose: str, show: Callable[[str], Response]
    ) -> Response:
        """A form for somebody who is not signed in, bound to this browser by a cookie."""
        secret = self._form_cookie(request)
        fresh = secret or new_secret()
        answer = show(sign(fresh, purpose))
        if secret is None:
            secure = realm_of(self._authority, request).secure
            answer.headers.append("set-cookie", set_cookie("form", fresh, FORM_S, secure=secure))
        return answer

    def _is_own_form(self, request: Request, fields: Fields, purpose: str) -> bool:
        secret = self._form_cookie(request)
        return secret is not None and check_form(request, fields, sign(secret, purpose))

    def _show_sign_in(
        self, request: Request, then: str, note: str = "", status: int = 200
    ) -> Response:
        def show(form: str) -> Response:
            sign_up = self._authority.settings.sign_up
            return pages.sign_in(then=then, form=form, note=note, sign_up=sign_up, status=status)

        return self._with_form(request, "sign-in", show)

    async def show_sign_in(self, request: Request) -> Response:
        then = _safe_next(request.query_params.get("next", ""))
        if await visitor_of(self._authority, request) is not None:
            return _go(then)
        return self._show_sign_in(request, then)

    async def sign_in(self, request: Request) -> Response:
        fields = await read_form(request)
        then = _safe_next(fields.get("next", ""))
        if not self._is_own_form(request, fields, "sign-in"):
            return self._show_sign_in(request, then, NOT_OURS, 403)
        address, name = address_of(request), fields.get("name", "")
        await self._authority.throttle.spend("sign_in", address, name)
        proved = await self._authority.sign_in(name, fields.get("password", ""))
        if proved is None:
            audit.log_failure("sign-in failed", address)
            return self._show_sign_in(request, then, WRONG, 403)
        user, hashed = proved
        return await self._start_session(request, user, "password", then, hashed)

    async def _start_session(
        self,
        request: Request,
        user: str,
        how: str,
        then: str = "/account",
        password_hash: str | None = None,
    ) -> Response:
        """Signs the browser in under a new session id, and forgets what it had before."""
        secure = realm_of(self._authority, request).secure
        address, run = address_of(request), self._authority.run
        if (before := await visitor_of(self._authority, request)) is not None:
            await run(self._authority.sessions.end, before.session, address)
        session = await run(self._authority.sessions.start, user, how, address, password_hash)
        return _go(
            then,
            set_cookie("session", session, SESSION_S, secure=secure),
            set_cookie("form", "", 0, secure=secure),
        )

    def _link_allowed(self, request: Request) -> bool:
        """A sign-in link works on this machine alone, not through a proxy on it."""
        return is_local(request) and self._authority.settings.public_url is None

    async def show_link(self, request: Request) -> Response:
        if not self._link_allowed(request):
            return pages.problem("sign-in links work on the server's own machine", 403)
        return pages.link(request.query_params.get("key", "")[:200])

    async def use_link(self, request: Request) -> Response:
        fields = await read_form(request)
        if not self._link_allowed(request) or is_cross_site(request):
            return pages.problem("sign-in links work on the server's own machine", 403)
        await self._authority.throttle.spend("sign_in", address_of(request))
        used = await self._authority.run(self._authority.link.use, fields.get("key", ""))
        if not used:
            return pages.problem("the link is used up or too old: restart the server", 403)
        return await self._start_session(request, LOCAL_USER, "link")

    async def show_sign_up(self, request: Request) -> Response:
        return self._with_form(request, "sign-up", lambda form: pages.sign_up(form=form))

    async def sign_up(self, request: Request) -> Response:
        fields = await read_form(request)

        def again(note: str, status: int) -> Response:
            def show(form: str) -> Response:
                return pages.sign_up(form=form, note=note, status=status)

            return self._with_form(request, "sign-up", show)

        if not self._is_own_form(request, fields, "sign-up"):
            return again(NOT_OURS, 403)
        address = address_of(request)
        await self._authority.throttle.spend("sign_up", address)
        try:
            hashed = await self._authority.hashing.hash(
                fields.get("password", ""), fields.get("name", "")
            )
            accounts = self._authority.accounts
            user = await self._authority.run(
                accounts.sign_up, fields.get("name", ""), hashed, address
            )
        except Failure as failure:
            return again(failure.message, 422)
        return await self._start_session(request, user, "sign-up")

    async def show_account(self, request: Request) -> Response:
        visitor = await visitor_of(self._authority, request)
        account = await self._account_of(visitor)
        if visitor is None or account is None:
            return _go("/sign-in")
        return await self._show(visitor, account)

    async def _account_of(self, visitor: Visitor | None) -> Account | None:
        if visitor is None:
            return None
        return await self._authority.run(self._authority.accounts.by_id, visitor.user)

    async def _show(
        self, visitor: Visitor, account: Account, note: str = "", made: str = "", status: int = 200
    ) -> Response:
        grants, run = self._authority.grants, self._authority.run
        return pages.account(
            account,
            await run(grants.list_connected, visitor.user),
            await run(grants.list_personal, visitor.user),
            visitor.form_token("account"),
            note=note,
            made=made,
            status=status,
        )

    async def _enter(self, request: Request) -> tuple[Visitor, Account, Fields]:
        """The signed-in user and the form they sent; raises Denied."""
        fields = await read_form(request)
        visitor = await visitor_of(self._authority, request)
        account = await self._account_of(visitor)
        if visitor is None or account is None:
            raise Denied("access_denied", "you are not signed in")
        if not check_form(request, fields, visitor.form_token("account")):
            raise Denied("access_denied", NOT_OURS)
        return visitor, account, fields

    async def disconnect(self, request: Request) -> Response:
        visitor, _, fields = await self._enter(request)
        await self._authority.run(
            self._authority.grants.disconnect,
            visitor.user,
            fields.get("grant", ""),
            address_of(request),
        )
        return _go("/account")

    async def make_token(self, request: Request) -> Response:
        visitor, account, fields = await self._enter(request)
        days = fields.get("days", "")
        try:
            made = await self._authority.run(
                self._authority.grants.make_personal,
                visitor.user,
                fields.get("name", "").strip(),
                " ".join(scope for scope in SCOPES if scope in fields),
                int(days) if re.fullmatch("[0-9]{1,4}", days) else 0,
                address_of(request),
            )
        except Denied as error:
            return await self._show(visitor, account, error.description, status=422)
        return await self._show(visitor, account, made=made)

    async def revoke_token(self, request: Request) -> Response:
        visitor, _, fields = await self._enter(request)
        await self._authority.run(
            self._authority.grants.drop_personal,
            visitor.user,
            fields.get("token", ""),
            address_of(request),
        )
        return _go("/account")

    async def _knows_password(self, request: Request, account: Account, fields: Fields) -> bool:
        if not account.has_password:
            return True
        await self._authority.throttle.spend("sign_in", address_of(request), account.name)
        proved = await self._authority.sign_in(account.name, fields.get("current", ""))
        return proved is not None and proved[0] == account.user_id

    async def change_password(self, request: Request) -> Response:
        visitor, account, fields = await self._enter(request)
        if not await self._knows_password(request, account, fields):
            return await self._show(visitor, account, "the present password is wrong", status=403)
        try:
            hashed = await self._authority.hashing.hash(fields.get("new", ""), account.name)
        except Failure as failure:
            return await self._show(visitor, account, failure.message, status=422)
        await self._authority.run(
            self._authority.accounts.set_password,
            account.user_id,
            hashed,
            keep_session=digest(visitor.session),
            address=address_of(request),
        )
        return _go("/account")

    async def delete(self, request: Request) -> Response:
        visitor, account, fields = await self._enter(request)
        if fields.get("name") != account.name or not await self._knows_password(
            request, account, fields
        ):
            return await self._show(visitor, account, WRONG, status=403)
        await self._authority.run(
            self._authority.accounts.remove, account.user_id, address_of(request)
        )
        secure = realm_of(self._authority, request).secure
        return _go("/", set_cookie("session", "", 0, secure=secure))

    async def sign_out(self, request: Request) -> Response:
        visitor, _, _ = await self._enter(request)
        await self._authority.run(
            self._authority.sessions.end, visitor.session, address_of(request)
        )
        secure = realm_of(self._authority, request).secure
        return _go("/", set_cookie("session", "", 0, secure=secure))
