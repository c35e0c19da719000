"""One read over CDP against the calls of the stock protocol, of a chart with four studies.

    make bench BENCH=tradingview

Both sides answer from prepared data on this machine: a page in headless Chromium, and a stdio MCP
server that replays the replies of the same chart. Neither is a live TradingView, and the stock
server's own evaluations in the page are not part of it. The numbers compare protocols and decoding,
not products.
"""

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.sources.tradingview import models, stock_server
from tests.sources.tradingview.browser import ABSENT, PROGRAM, Browser

from chartpact.snapshot import Snapshot
from chartpact.sources.tradingview import CdpSource
from chartpact.sources.tradingview.mcp_client import McpSource
from chartpact.sources.tradingview.stock import TOOLS, write_reply

OBJECTS = 100  # of each kind in each study
ROUNDS = 30


def chart() -> models.Model:
    """Four studies, each with so many labels, lines, boxes and cells."""
    many = range(OBJECTS)
    graphics = {
        "indexes": list(range(120)),
        "dwglabels": [models.label(i, i, 100 + i / 4, f"label {i}") for i in many],
        "dwglines": [models.line(i, i, 100 + i / 4, 110, 100 + i / 4) for i in many],
        "dwgboxes": [models.box(i, i, 110 + i / 4, 110, 100 + i / 4) for i in many],
        "dwgtables": [models.table(1, "top_right", 50, 2)],
        "dwgtablecells": [models.cell(i, 1, i // 2, i % 2, f"cell {i}", models.RED) for i in many],
    }
    return models.chart(*(models.study(f"s{n}", f"Study {n}", graphics) for n in range(4)))


def measure(read: Callable[[], Snapshot]) -> list[float]:
    """The sorted times of the reads in ms; the first, which connects, is left out."""
    read()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        read()
        times.append(1000 * (time.perf_counter() - began))
    return sorted(times)


def main() -> None:
    if PROGRAM is None:
        sys.exit(ABSENT)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder))
        try:
            browser.open(chart())
            with closing(CdpSource(browser.url, timeout=60)) as page:
                over_cdp = measure(page.read)
                drawn = page.read()
        finally:
            browser.stop()
        state = {"symbol": drawn.chart["symbol"], "resolution": "5"}
        replies = {TOOLS[channel]: [write_reply(drawn, channel, verbose=True, max_labels=9999)]
                   for channel in TOOLS}  # fmt: skip
        path = Path(folder, "replies.json")
        path.write_text(json.dumps({"chart_get_state": [state], **replies}))
        command = f"{sys.executable} {stock_server.__file__} {path}"
        with closing(McpSource(command)) as stock:
            over_mcp = measure(stock.read)
    print(f"four studies with {4 * OBJECTS} objects each; {ROUNDS} reads; ms")
    print(f"{'':34}{'median':>8}{'p90':>8}{'calls':>7}")
    rows = (("one read over CDP", over_cdp, 1), ("the stock protocol, replayed", over_mcp, 6))
    for name, times, calls in rows:
        late = times[int(0.9 * len(times))]
        print(f"{name:34}{statistics.median(times):8.1f}{late:8.1f}{calls:7}")


if __name__ == "__main__":
    main()
