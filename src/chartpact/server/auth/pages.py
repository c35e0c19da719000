"""The pages of identity: sign in, consent, account. Plain HTML, no script, nothing external."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from chartpact.server.auth.accounts import Account
from chartpact.server.auth.clients import Client, is_loopback
from chartpact.server.auth.grants import Connected, PersonalToken
from chartpact.server.auth.passwords import LEAST_LETTERS
from chartpact.server.auth.tokens import SCOPES
from chartpact.server.templating import render
from chartpact.server.workbench_page import read_style

_SELF = "'self'"
_STYLE, _STYLE_SOURCE = read_style("home.css", "forms.css")


def respond(
    template: str, title: str, *, status: int = 200, target: str = "", note: str = "", **values: Any
) -> HTMLResponse:
    """A page. `target` is an origin to which a form's answer may redirect."""
    policy = (
        f"default-src 'none'; style-src {_STYLE_SOURCE}; img-src 'self'; font-src 'self'; "
        f"base-uri 'none'; form-action {' '.join(filter(None, (_SELF, target)))}; "
        "frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    page = render(template, title=title, style=_STYLE, note=note, **values)
    return HTMLResponse(page, status, headers)


def problem(message: str, status: int = 400) -> HTMLResponse:
    """A page that says what is wrong, and leads nowhere."""
    return respond("problem.html", "This does not work", message=message, status=status)


def sign_in(
    *, then: str, form: str, note: str = "", sign_up: bool, status: int = 200
) -> HTMLResponse:
    fields: dict[str, Any] = {"then": then, "form": form, "sign_up": sign_up}
    return respond("sign_in.html", "Sign in", note=note, status=status, **fields)


def sign_up(*, form: str, note: str = "", status: int = 200) -> HTMLResponse:
    fields: dict[str, Any] = {"form": form, "least_letters": LEAST_LETTERS}
    return respond("sign_up.html", "Sign up", note=note, status=status, **fields)


def link(key: str) -> HTMLResponse:
    """A sign-in link is used by a button: programs that look at links do not press it."""
    return respond("link.html", "Sign in", key=key)


def consent(
    client: Client, account: Account, redirect_uri: str, scope: str, request: str, form: str
) -> HTMLResponse:
    """Asks whether a client may have access. It is asked every time."""
    target = urlsplit(redirect_uri)
    return respond(
        "consent.html",
        "Allow access?",
        target=f"{target.scheme}://{target.netloc}",
        client=client,
        account=account,
        where=target.netloc,
        may=[SCOPES[name] for name in scope.split()],
        loopback=is_loopback(redirect_uri),
        request=request,
        form=form,
    )


def account(
    who: Account,
    clients: Sequence[Connected],
    tokens: Sequence[PersonalToken],
    form: str,
    *,
    note: str = "",
    made: str = "",
    status: int = 200,
) -> HTMLResponse:
    """A user's own page: connected clients, personal tokens, password, the end of the account."""
    return respond(
        "account.html",
        "Your account",
        status=status,
        note=note,
        who=who,
        clients=clients,
        tokens=tokens,
        form=form,
        made=made,
        scopes=SCOPES,
        least_letters=LEAST_LETTERS,
    )
