"""A headless Chromium with a debugging port, and tabs that show charts made from models."""

import base64
import http.client
import json
import os
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from tests.chromium import find_chromium
from websockets.sync.client import ClientConnection, connect

PROGRAM = find_chromium()
ABSENT = "Chromium is not installed: apt-get install chromium"
PAGE = Path(__file__).with_name("chart_page.js").read_text()
PATIENCE = 120  # seconds; a loaded machine is slow, and only a broken one waits so long
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-extensions --remote-debugging-port=0"
).split()


@dataclass
class Tab:
    """An open tab and the connection of the tests to it."""

    id: str
    socket: ClientConnection
    ids: Any
    held: ExitStack

    def call(self, method: str, **params: Any) -> Any:
        id_ = self.post(method, **params)
        while True:
            message = self.next_message()
            if message.get("id") == id_:
                assert "error" not in message, message
                return message["result"]

    def post(self, method: str, **params: Any) -> int:
        id_ = next(self.ids)
        self.socket.send(json.dumps({"id": id_, "method": method, "params": params}))
        return id_

    def next_message(self) -> Any:
        return json.loads(self.socket.recv(timeout=PATIENCE))

    def evaluate(self, expression: str, **options: Any) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, **options)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def show(self, url: str, html: str) -> None:
        """Loads the text as if it came from that address; nothing goes over the network."""
        self.call("Fetch.enable", patterns=[{"urlPattern": "*"}])
        self.call("Page.enable")
        self.post("Page.navigate", url=url)
        while True:
            message = self.next_message()
            if message.get("method") == "Fetch.requestPaused":
                request = message["params"]["requestId"]
                own = message["params"]["request"]["url"] == url
                body = base64.b64encode(html.encode()).decode() if own else ""
                kind = [{"name": "Content-Type", "value": "text/html; charset=utf-8"}]
                self.post("Fetch.fulfillRequest", requestId=request, body=body,
                          responseCode=200 if own else 404, responseHeaders=kind)  # fmt: skip
            if message.get("method") == "Page.loadEventFired":
                break
        self.call("Fetch.disable")

    def set_chart(self, model: dict[str, Any] | None) -> None:
        made = "undefined" if model is None else f"makeChart({json.dumps(model)})"
        self.evaluate(f"window.TradingViewApi = {made}; 0")


class Browser:
    """Chromium while it runs."""

    def __init__(self, folder: Path) -> None:
        assert PROGRAM is not None
        folder.mkdir(exist_ok=True)
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, "HOME": str(folder)}, start_new_session=True,
            )  # fmt: skip
        self.port = self._await_port(folder)
        self.url = f"http://127.0.0.1:{self.port}"

    def _await_port(self, folder: Path) -> int:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            assert self._process.poll() is None, (folder / "log").read_text()[-2000:]
            try:
                first, *_ = (folder / "DevToolsActivePort").read_text().split()
                return int(first)
            except (FileNotFoundError, ValueError):
                time.sleep(0.05)
        raise AssertionError((folder / "log").read_text()[-2000:])

    def ask(self, method: str, path: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path)
            body = connection.getresponse().read()
            return json.loads(body) if body.startswith((b"{", b"[")) else body.decode()
        finally:
            connection.close()

    def open(self, model: dict[str, Any] | None = None, title: str = "chart",
             url: str = "https://www.tradingview.com/chart/AbCd1234/") -> Tab:  # fmt: skip
        """A tab with the chart of a model; without one, a page where the chart is not there yet."""
        id_ = self.ask("PUT", "/json/new?about:blank")["id"]
        address = f"ws://127.0.0.1:{self.port}/devtools/page/{id_}"
        held = ExitStack()
        options = {"max_size": None, "open_timeout": PATIENCE, "ping_interval": None}
        dialled = connect(address, proxy=None, **options)
        tab = Tab(id_, held.enter_context(dialled), count(1), held)
        tab.show(url, f"<title>{title}</title><script>{PAGE}</script>")
        tab.set_chart(model)
        return tab

    def close(self, tab: Tab) -> None:
        tab.held.close()
        self.ask("GET", f"/json/close/{tab.id}")
        until = time.monotonic() + PATIENCE
        while any(page["id"] == tab.id for page in self.ask("GET", "/json/list")):
            assert time.monotonic() < until, "the tab does not close"
            time.sleep(0.02)

    def stop(self) -> None:
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self._process.wait()

    def _signal(self, number: int) -> None:
        """Signals the program and what it started: Debian's is a script around the browser."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
