"""The TradingView chart in a browser tab, read over the DevTools protocol."""

import json
import time
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from chartpact import _version
from chartpact.oneline import as_name
from chartpact.problem import Failure, Problem
from chartpact.snapshot import Snapshot, SnapshotError, parse_json
from chartpact.sources.errors import SourceFailed
from chartpact.sources.tradingview.cdp import (
    MOST_BYTES,
    ConnectionLoss,
    Endpoint,
    ReadDeadline,
    Tab,
    TabSession,
    get_json,
    list_tabs,
)
from chartpact.sources.tradingview.decode import decode

TIMEOUT = 10.0  # seconds for a read, with every attempt to connect and to wait for the page
WAIT = 0.2  # between two looks at a page that is not ready
MOST_LISTED = 10


class NotReady(SourceFailed):
    """The page is there, and its chart is not yet."""


class AmbiguousTab(Failure):
    """Several charts are open, and none was named."""

    option = "tv_tab"


class CdpSource:
    """The active chart of a TradingView tab.

    `tab` is a tab's id, or a part of its title or address; without it the one tab with a chart of
    TradingView is read. The connection is kept between reads, and made anew where it was lost. A
    page that is not ready is waited for as long as the `timeout` allows, or as long as `patience`.
    """

    name = "tradingview-cdp"

    def __init__(
        self,
        url: str,
        tab: str | None = None,
        timeout: float = TIMEOUT,
        remote: bool = False,
        patience: float | None = None,
    ) -> None:
        self._endpoint = Endpoint.parse(url, remote)
        self._tab = tab
        self._timeout = timeout
        self._patience = timeout if patience is None else patience
        self._session: TabSession | None = None

    def read(self) -> Snapshot:
        return decode(self._read_page(ReadDeadline(self._timeout)), self.name)

    def read_raw(self) -> dict[str, Any]:
        """What a verification of the reader needs: the page's own answer, without account data."""
        deadline = ReadDeadline(self._timeout)
        page = self._read_page(deadline, raw=True)
        browser = get_json(self._endpoint, "/json/version", deadline)
        known = browser if isinstance(browser, dict) else {}
        return {
            "recording": 1,
            "chartpact": _version.VERSION,
            "browser": str(known.get("Browser", ""))[:200],
            "page": page,
        }

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _read_page(self, deadline: ReadDeadline, raw: bool = False) -> dict[str, Any]:
        """The page's answer; a page that is still loading is waited for."""
        until = ReadDeadline(self._patience)
        while True:
            try:
                return _answer(self._evaluate(deadline, raw))
            except TimeoutError:
                self.close()
                raise SourceFailed(
                    f"the page at {self._endpoint} was not read within {self._timeout:g} s"
                ) from None
            except NotReady:
                if until.is_over() or deadline.is_over():
                    raise
                time.sleep(WAIT)

    def _evaluate(self, deadline: ReadDeadline, raw: bool) -> Any:
        """The value of the expression; a connection that was lost is made anew once."""
        fresh = self._session is None
        try:
            return self._open(deadline).evaluate(_expression(raw), deadline)
        except ConnectionLoss as lost:
            self.close()
            if fresh:
                raise SourceFailed(f"the connection to the tab was lost: {lost!s:.200}") from None
        return self._evaluate(deadline, raw)

    def _open(self, deadline: ReadDeadline) -> TabSession:
        if self._session is None:
            tab = choose_tab(list_tabs(self._endpoint, deadline), self._tab, str(self._endpoint))
            self._session = TabSession(self._endpoint, tab, deadline)
        return self._session


@cache
def _expression(raw: bool) -> str:
    function = files(__package__).joinpath("page.js").read_text(encoding="utf-8").strip()
    return f"{function}({json.dumps({'raw': raw, 'most': MOST_BYTES // 2})})"


def _answer(value: Any) -> dict[str, Any]:
    """The page's answer as data, or what it says is wrong."""
    if not isinstance(value, str):
        raise SourceFailed("the page's answer is not a text")
    try:
        answer = parse_json(value)
    except SnapshotError as error:
        raise SourceFailed(f"the page's answer cannot be read: {error!s:.200}") from None
    if not isinstance(answer, dict):
        raise SourceFailed("the page's answer is not an object")
    if "loading" in answer:
        raise NotReady(f"the chart is still loading: {answer['loading']!s:.100} are not there")
    if "large" in answer:
        raise SourceFailed("more is drawn on the chart than can be read at once")
    if "failed" in answer:
        raise SourceFailed(f"the page failed while it was read: {answer['failed']!s:.200}")
    if "missing" in answer:
        step = f"{answer['missing']!s:.200}"
        if step == "TradingViewApi":
            raise NotReady(
                "the page is not ready: window.TradingViewApi is not there; "
                "is a chart open, and has it loaded?"
            )
        raise SourceFailed(f"TradingView's page is built differently now: {step} is not there")
    return answer


def is_chart(url: str) -> bool:
    """Whether an address is that of a chart on TradingView."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    site = host == "tradingview.com" or host.endswith(".tradingview.com")
    return site and parts.path.startswith("/chart")


def choose_tab(tabs: list[Tab], wanted: str | None, where: str) -> Tab:
    """The tab that was named, or the only one with a chart."""
    if wanted is None:
        fits = [tab for tab in tabs if is_chart(tab.url)]
    else:
        fits = [tab for tab in tabs if tab.id == wanted]
        fits = fits or [tab for tab in tabs if wanted in tab.title or wanted in tab.url]
    if len(fits) == 1:
        return fits[0]
    listed = "; ".join(_describe(tab) for tab in (fits or tabs)[:MOST_LISTED])
    if fits:
        message = f"{len(fits)} tabs fit: {listed}"
        hint = "choose one by its id, or by a part of its title or address"
        raise AmbiguousTab(Problem("value", message, hint))
    what = "no TradingView chart is open" if wanted is None else f"no tab is called {wanted!r:.100}"
    raise SourceFailed(f"{what} in the browser at {where}; tabs: {listed or 'none'}")


def _describe(tab: Tab) -> str:
    """A tab in a list: its id and title. Its address may hold what is nobody else's business."""
    return f"{tab.id} {as_name(tab.title or 'without a title')}"
