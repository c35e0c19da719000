"""A real Chromium before real servers: one browser for these files, a server for each of them."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.chromium import find_chromium
from tests.effort import EXHAUSTIVE

from chartpact.server import app
from chartpact.server.settings import Settings, UserLimits
from chartpact.server.uvicorn_server import BoundedHttp
from chartpact.sources.tradingview import GrantedChart

POLL_MS = 50
PATIENCE_MS = 60_000  # on a loaded machine; nothing waits longer than it must
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
)
# Without motion, as each frame of an animation is painted by the processor.
DESK = {
    "viewport": {"width": 1440, "height": 900},
    "color_scheme": "dark",
    "reduced_motion": "reduce",
}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SCREENS = Path(__file__).parents[3] / "build" / "screens"


@contextmanager
def serving_here(
    folder: Path,
    tradingview: tuple[GrantedChart, ...] = (),
    listener: socket.socket | None = None,
    **options: Any,
) -> Iterator[tuple[str, app.Server]]:
    """A server in this process, on a port of the system's choice unless it is given a listener."""
    plenty = UserLimits(
        calls_per_minute=10**6, script_seconds_per_minute=10**6, checks_per_minute=10**6
    )
    database = f"sqlite:///{folder}/library.db"
    settings = Settings(database, limits=plenty, tradingview=tradingview, warm=False)
    served = app.create(settings, **options)
    listener = listener or socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config = uvicorn.Config(served.app, http=BoundedHttp, log_config=None, server_header=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}", served
    finally:
        server.should_exit = True
        thread.join()
        served.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server whose visitors are the local user."""
    with serving_here(tmp_path_factory.mktemp("web")) as (url, _):
        yield url


# Not of the session: Playwright leaves an event loop running, and tests elsewhere run their own.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    program = find_chromium()
    if program is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


class Tab:
    """A page, and everything it complained about."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        # Otherwise a page that is waited for is painted again for every frame of the display.
        page.wait_for_function = partial(page.wait_for_function, polling=POLL_MS)
        page.on("pageerror", lambda error: self.complaints.append(f"{error}"))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        # The browser reports every refusal of the server as an error of its own.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def open(self, address: str) -> Any:
        self.page.goto(address)
        self.ready()
        return self.page

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-ready]", state="attached")


Open = Callable[..., Tab]


@contextmanager
def opening(chromium: Any) -> Iterator[Open]:
    """Opens tabs, each in a context of its own; none of them may complain."""
    contexts, tabs = [], []

    def make(*, context: Any = None, **options: Any) -> Tab:
        if context is None:
            context = chromium.new_context(**DESK | options)
            contexts.append(context)
        tabs.append(Tab(context.new_page()))
        return tabs[-1]

    yield make
    complaints = [complaint for one in tabs for complaint in one.complaints]
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def tab(chromium: Any) -> Iterator[Open]:
    with opening(chromium) as make:
        yield make


def keep_screen(page: Any, name: str) -> None:
    """Writes a picture of the page for people to look at, with `make exhaustive`."""
    if not EXHAUSTIVE:
        return
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=os.fspath(SCREENS / f"{name}.png"))
