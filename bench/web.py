"""The page on 50 000 bars: frames while zooming through all of them, memory, the first chart.

Software rendering in headless Chromium. One wheel event a frame; only frames in which the view
changed are counted, since idle ones would flatter the median.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import httpx2
import numpy as np
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.server.web.conftest import ARGUMENTS, serving_here

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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, serving_here(Path(folder)) as (url, _):
        httpx2.put(f"{url}/api/v1/my/bars/big", content=make_csv(), timeout=600).raise_for_status()
        asked = "&".join(f"i={name}" for name in INDICATORS)
        with sync_playwright() as running:
            program = shutil.which("chromium")
            options = [*ARGUMENTS, "--enable-precise-memory-info", "--js-flags=--expose-gc"]
            browser = running.chromium.launch(executable_path=program, args=options)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(120_000)
            page.goto(f"{url}/?symbol=big@mine&{asked}")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.reload()  # workers and caches are warm now
            page.wait_for_selector("html[data-chart]", state="attached")
            first = page.evaluate("() => performance.now()")
            page.wait_for_selector("html[data-ready]", state="attached")
            page.evaluate(f"() => workbench.view.showLast({BARS})")
            page.wait_for_function("() => workbench.data.from === 0")
            page.evaluate("() => workbench.view.showLast(300)")
            rows = np.array(page.evaluate(ZOOM))
            heap = page.evaluate("() => { gc(); return performance.memory.usedJSHeapSize }") / 1e6
            browser.close()
    print(f"{BARS:,} bars, {', '.join(INDICATORS)}, 1440x900, software rendering")
    print(f"first chart after a reload: {first:.0f} ms")
    print(f"JS heap with all bars loaded: {heap:.1f} MB")
    print("bars in view        frames   median ms   p95 ms")
    for low, high in BINS:
        ms = rows[(rows[:, 0] >= low) & (rows[:, 0] < high), 1]
        if len(ms):
            name = f"{low:,} and more" if high == 10**9 else f"{low:,}-{high:,}"
            print(f"{name:18} {len(ms):7} {np.median(ms):11.1f} {np.percentile(ms, 95):8.1f}")


if __name__ == "__main__":
    main()
