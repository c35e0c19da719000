"""JSON over HTTP: with a deadline, a size limit and one retry."""

import json
import re
import time
from collections.abc import Mapping
from concurrent.futures import Future
from http.client import HTTPException
from threading import Thread
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

LARGEST = 16 * 2**20  # bytes of an answer
PAUSE_S = 0.2  # before the second try
CHUNK = 2**16
BUSY = 429
ANONYMOUS: Mapping[str, str] = MappingProxyType({})


class HttpError(Exception):
    """There is no usable answer; the message says what the server did.

    `passing`: the server did not answer, or could not, and may the next time.
    """

    def __init__(self, message: str, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class _StayHere(HTTPRedirectHandler):
    """Follows no redirect: the headers that say who asks are for this server alone."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def get_json(
    base: str,
    path: str,
    query: dict[str, str],
    timeout_s: float,
    headers: Mapping[str, str] = ANONYMOUS,
) -> Any:
    """The JSON document at a path of a server; a failure is tried once more, in the same time.

    `headers` are those that say who asks; they are sent to no other server.
    """
    if not _is_address(base):
        raise HttpError(f"cannot be asked: {base!r} is not the http or https address of a server")
    url = f"{base.rstrip('/')}{path}?{urlencode(query)}"
    deadline = time.monotonic() + timeout_s
    try:
        try:
            body = _get(url, deadline, headers)
        except HttpError as error:
            if not error.passing:
                raise
            time.sleep(PAUSE_S)
            body = _get(url, deadline, headers)
    except TimeoutError:
        raise HttpError(f"did not answer within {timeout_s:g} s", passing=True) from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # of brackets without end
        raise HttpError("did not answer with JSON") from None


def _is_address(base: str) -> bool:
    try:
        parts = urlsplit(base)
        named = bool(parts.hostname and parts.hostname.encode("idna")) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and named and not re.search(r"[\s\x00-\x1f]", base)


def _get(url: str, deadline: float, headers: Mapping[str, str]) -> bytes:
    """The body at a URL; raises TimeoutError when the deadline passes.

    The library's time-outs count the silence between two bytes, and do not cover the lookup of a
    name. So the request runs on a thread of its own.
    """
    body: Future[bytes] = Future()

    def fetch() -> None:
        try:
            body.set_result(_read(url, deadline, headers))
        except Exception as failure:  # noqa: BLE001  (raised again in the thread that waits)
            body.set_exception(failure)

    Thread(target=fetch, daemon=True).start()
    return body.result(deadline - time.monotonic())


def _read(url: str, deadline: float, headers: Mapping[str, str]) -> bytes:
    own = {"Accept": "application/json", "User-Agent": "chartpact"}
    request = Request(url, headers={**own, **headers})
    send = build_opener(_StayHere()).open if headers else urlopen
    try:
        with send(request, timeout=max(deadline - time.monotonic(), 0.001)) as answer:
            body = b""
            while chunk := answer.read1(CHUNK):
                body += chunk
                if len(body) > LARGEST:
                    raise HttpError(f"answered with more than {LARGEST >> 20} MB")
                if time.monotonic() > deadline:
                    raise TimeoutError
            if answer.length:
                raise HttpError(f"broke off {answer.length} bytes before the end", passing=True)
            return body
    except HTTPError as refusal:
        with refusal:
            reason = _explain(refusal)
        failed = refusal.code >= 500 or refusal.code == BUSY
        raise HttpError(reason, passing=failed) from None
    except URLError as failure:
        if isinstance(failure.reason, TimeoutError):
            raise failure.reason from None
        raise HttpError(f"cannot be reached ({failure.reason})", passing=True) from None
    except TimeoutError:
        raise
    except (OSError, HTTPException) as failure:
        raise HttpError(f"broke off ({type(failure).__name__})", passing=True) from None


def _explain(refusal: HTTPError) -> str:
    """The status of a refusal, with the server's own message where it has one."""
    text = f"answered {refusal.code}"
    try:
        body = json.loads(refusal.read(2048))
    except (ValueError, RecursionError, OSError, HTTPException):
        return text
    message = (
        body.get("msg") or body.get("message") or body.get("errorMessage")
        if isinstance(body, dict)
        else None
    )
    return f"{text}: {message:.200}" if isinstance(message, str) else text
