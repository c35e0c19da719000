"""The page: how soon it shows its first chart; and on 50 000 bars frames while zooming, and memory.

Software rendering in headless Chromium, and `chartpact serve` in a process of its own. The first
chart is timed by the mark that the page sets when the frame with the chart is painted, in a browser
context without a cache. One wheel event a frame; only frames in which the view changed are counted,
since idle ones would flatter the median.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from chartpact.work.lanes import QUIET_S

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.server.conftest import serving
from tests.server.web.conftest import ARGUMENTS, DESKTOP

OPENINGS = 7
BARS = 50_000
INDICATORS = ("cipher_b", "bbands", "rsi")
BINS = ((0, 700), (700, 2_500), (2_500, 10_000), (10_000, 10**9))
ZOOM = """async () => {
  const scale = workbench.view.chart.timeScale();
  const target = document.elementFromPoint(600, 200);
  const frame = () => new Promise(requestAnimationFrame);
  const width = () => { const { from, to } = scale.getVisibleLogicalRange(); return to - from; };
  const rows = [];
  let last = await frame();
  let direction = 1;
  let turns = 0;
  for (let i = 0; i < 400 && turns < 3; i++) {
    const before = width();
    target.dispatchEvent(new WheelEvent("wheel", {
      deltaY: 120 * direction, clientX: 600, clientY: 200, bubbles: true, cancelable: true }));
    const now = await frame();
    const after = width();
    if (Math.abs(after - before) > 1e-6 * before) rows.push([after, now - last]);
    last = now;
    if (direction > 0 && after > 48000) { direction = -1; turns++; }
    else if (direction < 0 && after < 300) { direction = 1; turns++; }
  }
  return rows;
}"""


def make_csv() -> bytes:
    """A random walk of futures prices in steps of a quarter."""
    rng = np.random.default_rng(7)
    close = np.round((5000 + np.cumsum(rng.standard_normal(BARS) * 1.6)) * 4) / 4
    start = np.concatenate(([5000.0], close[:-1]))
    reach = np.round(np.abs(rng.standard_normal((2, BARS))) * 4) / 4
    high, low = np.maximum(start, close) + reach[0], np.minimum(start, close) - reach[1]
    volume = np.round(np.abs(rng.standard_normal(BARS)) * 800 + 100)
    time = 1_600_000_000 + 300 * np.arange(BARS)
    rows = zip(
        *(column.tolist() for column in (time, start, high, low, close, volume)), strict=True
    )
    lines = (",".join(map(str, row)) for row in rows)
    return "\n".join(["time,open,high,low,close,volume", *lines]).encode()


def open_page(browser: Any, address: str) -> tuple[Any, float]:
    """The page of an address, complete, and the milliseconds until its chart was painted."""
    page = browser.new_context(viewport=DESKTOP).new_page()
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    mark = "() => performance.getEntriesByName('first chart')[0].startTime"
    return page, page.evaluate(mark)


def time_openings(browser: Any, address: str) -> str:
    """How long the first chart of an address takes: the first opening, then the others."""
    times = []
    for _ in range(OPENINGS):
        page, ms = open_page(browser, address)
        page.context.close()
        times.append(ms)
    return f"{times[0]:.0f} ms at first, then {np.median(times[1:]):.0f} ms (median)"


def main() -> None:
    options = [*ARGUMENTS, "--enable-precise-memory-info", "--js-flags=--expose-gc"]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), "--no-auth", forked=False, CHARTPACT_WARM="on") as server,
        sync_playwright() as running,
    ):
        time.sleep(QUIET_S + 1)  # until the last worker has started
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        print(f"first chart of {server.url}/: {time_openings(browser, server.url)}")
        with server.client() as client:
            client.put("/api/v1/my/bars/big", content=make_csv()).raise_for_status()
        asked = "&".join(f"i={name}" for name in INDICATORS)
        large = f"{server.url}/?symbol=big@mine&{asked}"
        print(f"first chart of {BARS:,} bars: {time_openings(browser, large)}")
        page, _ = open_page(browser, large)
        page.evaluate(f"() => workbench.view.showLast({BARS})")
        page.wait_for_function("() => workbench.data.from === 0")
        page.evaluate("() => workbench.view.showLast(300)")
        rows = np.array(page.evaluate(ZOOM))
        heap = page.evaluate("() => { gc(); return performance.memory.usedJSHeapSize }") / 1e6
        browser.close()
    print(f"{BARS:,} bars, {', '.join(INDICATORS)}, 1440x900, software rendering")
    print(f"JS heap with all bars loaded: {heap:.1f} MB")
    print("bars in view        frames   median ms   p95 ms")
    for low, high in BINS:
        ms = rows[(rows[:, 0] >= low) & (rows[:, 0] < high), 1]
        if len(ms):
            name = f"{low:,} and more" if high == 10**9 else f"{low:,}-{high:,}"
            print(f"{name:18} {len(ms):7} {np.median(ms):11.1f} {np.percentile(ms, 95):8.1f}")


if __name__ == "__main__":
    main()
