"""JSON over HTTP: with a deadline, a size limit and one more try."""

import json
import re
import time
from concurrent.futures import Future
from http.client import HTTPException
from threading import Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

LARGEST = 16 * 2**20  # bytes of an answer
PAUSE_S = 0.2  # before the second try
CHUNK = 2**16
BUSY = 429


class HttpError(Exception):
    """No usable answer; the message says what came instead."""


class Unavailable(HttpError):
    """The server did not answer, or could not: it may the next time."""


class _Passing(Exception):
    """A failure that may be over the next time."""


def get_json(base: str, path: str, query: dict[str, str], timeout_s: float) -> Any:
    """The JSON document at a path of a server, tried twice where that may help."""
    if not _is_address(base):
        raise HttpError(f"{base!r} is not the http or https address of a server")
    parts = urlsplit(base)
    url = f"{base.rstrip('/')}{path}?{urlencode(query)}"
    try:
        body = _get(url, timeout_s)
    except _Passing:
        time.sleep(PAUSE_S)
        try:
            body = _get(url, timeout_s)
        except _Passing as failure:
            raise Unavailable(f"{parts.netloc} {failure}") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # of brackets without end
        raise HttpError(f"{parts.netloc} did not answer with JSON") from None


def _is_address(base: str) -> bool:
    try:
        parts = urlsplit(base)
        named = bool(parts.hostname and parts.hostname.encode("idna")) and parts.port != 0
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and named and not re.search(r"[\s\x00-\x1f]", base)


def _get(url: str, timeout_s: float) -> bytes:
    """The body at a URL, waited for no longer than that.

    The library's time-outs count the silence between two bytes, and do not hold while a name is
    looked up; so the request runs on a thread of its own.
    """
    found: Future[bytes] = Future()
    Thread(target=_fetch, args=(found, url, timeout_s), daemon=True).start()
    try:
        return found.result(timeout_s)
    except TimeoutError:
        raise _Passing(f"did not answer within {timeout_s:g} s") from None


def _fetch(found: "Future[bytes]", url: str, timeout_s: float) -> None:
    try:
        found.set_result(_read(url, timeout_s))
    except Exception as failure:  # noqa: BLE001  (handed to the one who waits)
        found.set_exception(failure)


def _read(url: str, timeout_s: float) -> bytes:
    deadline = time.monotonic() + timeout_s
    request = Request(url, headers={"Accept": "application/json", "User-Agent": "chartpact"})
    try:
        with urlopen(request, timeout=timeout_s) as answer:
            body = b""
            while chunk := answer.read1(CHUNK):
                body += chunk
                if len(body) > LARGEST:
                    raise HttpError(f"the answer is larger than {LARGEST >> 20} MB")
                if time.monotonic() > deadline:
                    raise TimeoutError
            if answer.length:
                raise _Passing(f"broke off {answer.length} bytes before the end")
            return body
    except HTTPError as refusal:
        with refusal:
            told = _told(refusal)
        if refusal.code >= 500 or refusal.code == BUSY:
            raise _Passing(told) from None
        raise HttpError(f"{urlsplit(url).netloc} {told}") from None
    except URLError as failure:
        if isinstance(failure.reason, TimeoutError):
            raise failure.reason from None
        raise _Passing(f"cannot be reached ({failure.reason})") from None
    except TimeoutError:
        raise
    except (OSError, HTTPException) as failure:
        raise _Passing(f"broke off ({type(failure).__name__})") from None


def _told(refusal: HTTPError) -> str:
    """What a refusal says, with the server's own words where it has some."""
    text = f"answered {refusal.code}"
    try:
        said = json.loads(refusal.read(2048))
    except (ValueError, RecursionError, OSError, HTTPException):
        return text
    words = said.get("msg") or said.get("message") if isinstance(said, dict) else None
    return f"{text}: {words:.200}" if isinstance(words, str) else text
