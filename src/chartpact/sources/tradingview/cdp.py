"""The Chrome DevTools Protocol, as far as reading needs it: list tabs, evaluate one expression.

Whoever listens on the debugging port is not trusted: addresses that it names are not followed,
answers are bounded in size and time, and what it says is only ever data.
"""

import http.client
import ipaddress
import json
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from chartpact.problem import Failure, Problem
from chartpact.sources.errors import SourceFailed

MOST_BYTES = 32 * 1024 * 1024  # of one answer
MOST_TABS = 500
PORT = 9222
_TAB_ID = re.compile(r"[A-Za-z0-9-]{1,128}")


def _refusal(message: str, hint: str) -> Failure:
    """The error of an endpoint that cannot be used as it was named."""
    return Failure(Problem("value", message, hint))


@dataclass(frozen=True)
class Endpoint:
    """The address of a browser's debugging port.

    >>> str(Endpoint.parse("127.0.0.1:9222"))
    'http://127.0.0.1:9222'
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, remote: bool = False) -> "Endpoint":
        """The endpoint of a URL. It is on this machine, unless `remote` allows others."""
        url = text if "://" in text else f"http://{text}"
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or PORT
        except ValueError:
            parts, host, port = urlsplit(""), None, PORT
        if parts.scheme != "http" or not host or parts.path not in ("", "/") or parts.username:
            raise _refusal(
                f"{text!r:.200} is not the address of a debugging port",
                f"it is like http://127.0.0.1:{PORT}",
            )
        if not remote and not _is_loopback(host):
            raise _refusal(
                f"{host!r:.100} is not this machine",
                "a debugging port gives full control of a browser and belongs on 127.0.0.1; "
                "over a tunnel it is there too",
            )
        return cls(host, port)

    @property
    def _netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"http://{self._netloc}"

    def tab_address(self, tab: str) -> str:
        """The WebSocket address of a tab; the one that the browser names is not followed."""
        return f"ws://{self._netloc}/devtools/page/{tab}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Tab:
    """A page of the browser."""

    id: str
    title: str
    url: str


class ReadDeadline:
    """The moment when a read must be over."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def is_over(self) -> bool:
        return time.monotonic() >= self._at

    def left(self) -> float:
        """The seconds that are left, or `TimeoutError`."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def get_json(endpoint: Endpoint, path: str, deadline: ReadDeadline) -> Any:
    """What the debugging port answers to a GET request."""
    connection = http.client.HTTPConnection(
        endpoint.host, endpoint.port, timeout=min(deadline.left(), 5)
    )
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read(MOST_BYTES + 1)
        if answer.status != 200 or len(body) > MOST_BYTES:
            raise _no_browser(endpoint)
        return json.loads(body)
    except ConnectionRefusedError:
        raise SourceFailed(
            f"nothing listens at {endpoint}: start TradingView with its remote debugging port at "
            f"{endpoint.port}"
        ) from None
    except TimeoutError:
        raise SourceFailed(f"{endpoint} does not answer in time") from None
    except OSError as error:
        raise SourceFailed(f"{endpoint} cannot be reached: {error.strerror or error}") from None
    except (http.client.HTTPException, ValueError, RecursionError):
        raise _no_browser(endpoint) from None
    finally:
        connection.close()


def list_tabs(endpoint: Endpoint, deadline: ReadDeadline) -> list[Tab]:
    """The pages that are open, in the browser's order."""
    answer = get_json(endpoint, "/json/list", deadline)
    if not isinstance(answer, list):
        raise _no_browser(endpoint)
    tabs = []
    for item in answer[:MOST_TABS]:
        if not isinstance(item, dict):
            raise _no_browser(endpoint)
        id_, title, url = (item.get(key, "") for key in ("id", "title", "url"))
        texts = isinstance(id_, str) and isinstance(title, str) and isinstance(url, str)
        if item.get("type") == "page" and texts and _TAB_ID.fullmatch(id_):
            tabs.append(Tab(id_, title[:200], url[:2000]))
    return tabs


def _no_browser(endpoint: Endpoint) -> SourceFailed:
    return SourceFailed(f"what listens at {endpoint} is not a browser's debugging port")


class ConnectionLoss(Exception):
    """The connection to a tab is gone."""


class TabSession:
    """A connection to one tab."""

    def __init__(self, endpoint: Endpoint, tab: Tab, deadline: ReadDeadline) -> None:
        self.tab = tab
        self._ids = count(1)
        self._open = ExitStack()
        try:
            # Without an Origin header, which browsers refuse. A proxy has no business here.
            self._socket: ClientConnection = self._open.enter_context(
                connect(
                    endpoint.tab_address(tab.id),
                    open_timeout=deadline.left(),
                    close_timeout=1,
                    max_size=MOST_BYTES,
                    compression=None,
                    proxy=None,
                    user_agent_header=None,
                )
            )
        except (OSError, WebSocketException) as error:
            raise ConnectionLoss(str(error)) from None

    def evaluate(self, expression: str, deadline: ReadDeadline, **options: Any) -> Any:
        """The value of an expression in the page: JSON data, or `SourceFailed`."""
        id_ = next(self._ids)
        params = {
            "expression": expression,
            "returnByValue": True,
            "timeout": deadline.left() * 1000,
            **options,
        }
        try:
            self._socket.send(
                json.dumps({"id": id_, "method": "Runtime.evaluate", "params": params})
            )
            while True:  # answers to earlier questions, and events, may come in between
                message = json.loads(self._socket.recv(timeout=deadline.left()))
                if isinstance(message, dict) and message.get("id") == id_:
                    break
        except WebSocketException as error:
            raise ConnectionLoss(str(error)) from None
        except (ValueError, RecursionError):
            raise SourceFailed("the browser's answer is not JSON") from None
        refusal = message.get("error")
        if isinstance(refusal, dict) and "closed" in str(refusal.get("message")):
            raise ConnectionLoss(f"{refusal['message']!s:.200}")  # the tab closed, or loaded anew
        return _value(message)

    def close(self) -> None:
        self._open.close()


def _value(message: dict[str, Any]) -> Any:
    result = message.get("result")
    if not isinstance(result, dict):
        error = message.get("error")
        reason = error.get("message") if isinstance(error, dict) else None
        raise SourceFailed(f"the browser refuses to read the page: {reason!s:.200}")
    thrown = result.get("exceptionDetails")
    if thrown is not None:
        details = thrown.get("exception") if isinstance(thrown, dict) else None
        reason = details.get("description") if isinstance(details, dict) else thrown
        raise SourceFailed(f"the page failed while it was read: {reason!s:.200}")
    value = result.get("result")
    return value.get("value") if isinstance(value, dict) else None
