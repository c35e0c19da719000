"""The pages of identity: sign in, consent, account. Plain HTML, no script, nothing external."""

import time
from collections.abc import Sequence
from html import escape
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse

from chartpact.server.auth.accounts import Account
from chartpact.server.auth.clients import Client, is_loopback
from chartpact.server.auth.grants import SCOPES, Connected, PersonalToken
from chartpact.server.auth.passwords import LEAST_LETTERS
from chartpact.server.web import read_style

_STYLE, _STYLE_SOURCE = read_style("home.css", "forms.css")


def respond(
    title: str, body: str, *, status: int = 200, form_targets: Sequence[str] = ()
) -> HTMLResponse:
    """A page. `form_targets` are origins to which a form's answer may redirect."""
    html = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} · chartpact</title>\n"
        '<link rel="icon" href="/static/favicon.svg" type="image/svg+xml">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        '<header class="narrow"><a class="home" href="/"><img src="/static/favicon.svg" alt="">'
        f"chartpact</a><h1>{escape(title)}</h1></header>\n"
        f'<main class="narrow">\n{body}\n</main>\n'
        '<footer class="narrow"><a href="/">chartpact</a></footer>\n</body>\n</html>\n'
    )
    policy = (
        f"default-src 'none'; style-src {_STYLE_SOURCE}; img-src 'self'; font-src 'self'; "
        "base-uri 'none'; "
        f"form-action {' '.join((chr(39) + 'self' + chr(39), *form_targets))}; "
        "frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    return HTMLResponse(html, status, headers)


def _hidden(**fields: str) -> str:
    return "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}">'
        for name, value in fields.items()
    )


def _note(text: str) -> str:
    return f'<p class="note" role="status">{escape(text)}</p>' if text else ""


def problem(message: str, status: int = 400) -> HTMLResponse:
    """A page that says what is wrong, and leads nowhere."""
    return respond("This does not work", f"<p>{escape(message)}</p>", status=status)


def sign_in(
    *, then: str, form: str, note: str = "", sign_up: bool, status: int = 200
) -> HTMLResponse:
    further = '<p>No account yet? <a href="/sign-up">Sign up</a>.</p>' if sign_up else ""
    body = (
        f'{_note(note)}<form method="post" action="/sign-in">{_hidden(next=then, form=form)}'
        '<label for="name">Name</label>'
        '<input id="name" name="name" type="text" autocomplete="username" required autofocus>'
        '<label for="password">Password</label>'
        '<input id="password" name="password" type="password" autocomplete="current-password"'
        " required><button>Sign in</button></form>" + further
    )
    return respond("Sign in", body, status=status)


def sign_up(*, form: str, note: str = "", status: int = 200) -> HTMLResponse:
    body = (
        f'{_note(note)}<form method="post" action="/sign-up">{_hidden(form=form)}'
        '<label for="name">Name</label>'
        '<input id="name" name="name" type="text" autocomplete="username" required autofocus>'
        f'<label for="password">Password, {LEAST_LETTERS} letters or more</label>'
        '<input id="password" name="password" type="password" autocomplete="new-password"'
        " required><button>Sign up</button></form>"
        '<p>You have an account? <a href="/sign-in">Sign in</a>.</p>'
    )
    return respond("Sign up", body, status=status)


def link(key: str) -> HTMLResponse:
    """A sign-in link is used by a button: programs that look at links do not press it."""
    body = (
        "<p>This link signs this browser in as the local user, once.</p>"
        f'<form method="post" action="/sign-in/link">{_hidden(key=key)}'
        "<button>Sign in</button></form>"
    )
    return respond("Sign in", body)


def consent(
    client: Client, account: Account, redirect_uri: str, scope: str, request: str, form: str
) -> HTMLResponse:
    """Asks whether a client may have access. It is asked every time."""
    target = urlsplit(redirect_uri)
    where = escape(target.netloc)
    may = "".join(f"<li>{escape(SCOPES[name])}</li>" for name in scope.split())
    known_by = (
        f"<p>Its identity is <code>{escape(client.client_id)}</code>.</p>"
        if client.client_id.startswith("https://")
        else "<p>It registered itself: nobody has checked that its name is true.</p>"
    )
    warning = (
        _note(
            "Any program on your computer can pass for this client. Go on only if you have just "
            "started the connection yourself."
        )
        if is_loopback(redirect_uri)
        else ""
    )
    body = (
        f"<p><b>{escape(client.name)}</b> asks for access to chartpact as "
        f"<b>{escape(account.name)}</b>. It could</p><ul>{may}</ul>{known_by}"
        f"<p>You will be sent to <b>{where}</b>.</p>{warning}"
        f'<form method="post" action="/authorize">{_hidden(request=request, form=form)}'
        '<button name="decision" value="allow">Allow</button>'
        '<button name="decision" value="deny" class="quiet">Deny</button></form>'
        "<p>You can take the access back at any time on "
        '<a href="/account">your account’s page</a>.</p>'
    )
    origin = f"{target.scheme}://{target.netloc}"
    return respond("Allow access?", body, form_targets=(origin,))


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
    shown = (
        f'<p class="note">Your new token, shown only now:<br><code>{escape(made)}</code></p>'
        if made
        else ""
    )
    body = (
        f"<p>You are signed in as <b>{escape(who.name)}</b>. "
        f'<a href="/connect">Connect a client</a></p>{_note(note)}{shown}'
        f'<form class="inline" method="post" action="/sign-out">{_hidden(form=form)}'
        '<button class="quiet">Sign out</button></form>'
        f"<h2>Connected clients</h2>{_list_clients(clients, form)}"
        f"<h2>Personal tokens</h2>{_list_tokens(tokens, form)}{_new_token(form)}"
        f"<h2>Password</h2>{_password(who, form)}<h2>Delete the account</h2>{_delete(who, form)}"
    )
    return respond("Your account", body, status=status)


def _day(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(at_ms / 1000))


def _list_clients(clients: Sequence[Connected], form: str) -> str:
    if not clients:
        return "<p>None has access.</p>"
    rows = "".join(
        f'<tr><th scope="row">{escape(client.client_name)}</th>'
        f"<td>{escape(client.scope)}<small>since {_day(client.created_at)}, last used "
        f"{_day(client.used_at)}</small></td><td>"
        f'<form class="inline" method="post" action="/account/disconnect">'
        f'{_hidden(form=form, grant=client.grant_id)}<button class="quiet">Revoke</button></form>'
        "</td></tr>"
        for client in clients
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _list_tokens(tokens: Sequence[PersonalToken], form: str) -> str:
    if not tokens:
        return "<p>For programs that cannot ask you: a token of their own.</p>"
    rows = "".join(
        f'<tr><th scope="row">{escape(token.name)}</th>'
        f"<td>{escape(token.scope)}<small>until {_day(token.expires_at)}</small></td><td>"
        f'<form class="inline" method="post" action="/account/tokens/revoke">'
        f'{_hidden(form=form, token=token.token_id)}<button class="quiet">Revoke</button></form>'
        "</td></tr>"
        for token in tokens
    )
    return f"<table><tbody>{rows}</tbody></table>"


def _new_token(form: str) -> str:
    choices = "".join(
        f'<label class="choice"><input type="checkbox" name="{name}" value="1"'
        f"{' checked' if name == 'read' else ''}> {name}: {escape(sentence)}</label>"
        for name, sentence in SCOPES.items()
    )
    return (
        f'<form method="post" action="/account/tokens">{_hidden(form=form)}'
        '<label for="token-name">What it is for</label>'
        '<input id="token-name" name="name" type="text" maxlength="80" required>'
        f'{choices}<label for="days">Days it lasts</label>'
        '<input id="days" name="days" type="number" min="1" max="366" value="90" required>'
        "<button>Make a token</button></form>"
    )


def _current_password(id_: str, label: str) -> str:
    return (
        f'<label for="{id_}">{label}</label><input id="{id_}" name="current" '
        'type="password" autocomplete="current-password" required>'
    )


def _password(who: Account, form: str) -> str:
    none = "<p>You have none yet: set one to sign in again later.</p>"
    current = _current_password("current", "Present password") if who.has_password else none
    return (
        f'<form method="post" action="/account/password">{_hidden(form=form)}{current}'
        f'<label for="new">New password, {LEAST_LETTERS} letters or more</label>'
        '<input id="new" name="new" type="password" autocomplete="new-password" required>'
        "<button>Change the password</button></form>"
        "<p>Every other browser is signed out. Clients and tokens stay until you revoke them.</p>"
    )


def _delete(who: Account, form: str) -> str:
    current = _current_password("current-too", "Password") if who.has_password else ""
    return (
        "<p>Deletes every script, version, upload, token and session of yours, for good.</p>"
        f'<form method="post" action="/account/delete">{_hidden(form=form)}'
        '<label for="sure">Your name, to be sure</label>'
        f'<input id="sure" name="name" type="text" autocomplete="off" required>{current}'
        "<button>Delete everything</button></form>"
    )
