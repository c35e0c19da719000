"""The page draws what the pictures of the server show: the gallery's scenes, pixel by pixel.

The geometry of the picture is forced on the page: heights of panes, ranges of values, spacing of
bars. Axes, grids, tags and legends are left out. What differs then is the edge of letters.
"""

import base64
import io
import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.effort import EXHAUSTIVE

from chartpact.render import axes
from chartpact.render.look import read_look
from chartpact.render.picture import _Composer
from chartpact.server import series

pytestmark = pytest.mark.slow
Image = pytest.importorskip("PIL.Image")
ImageChops = pytest.importorskip("PIL.ImageChops")
SCENES = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "gallery" / "scenes.py"))["SCENES"]
LOOK = {"width": 1200, "height": 800}
DIFFERENT = 48  # of 255, in any channel
MOST = 0.01  # of the pixels of a picture
# A page at the server's address on which nothing but a scene is drawn.
SHEET = "<!doctype html><title>A scene</title><body>" + "".join(
    f'<link rel="stylesheet" href="/static/{name}.css">' for name in ("fonts", "design", "chart")
)

DRAW = """async ({ data, geometry, theme }) => {
  const { ChartView } = await import("/static/js/chartview.js");
  const { readChart } = await import("/static/js/columns.js");
  const faces = ["12px 'Chartpact Sans'", "bold 12px 'Chartpact Sans'",
    "italic 12px 'Chartpact Sans'", "italic bold 12px 'Chartpact Sans'",
    "12px 'Chartpact Mono'", "bold 12px 'Chartpact Mono'", "12px 'Chartpact Symbols'"];
  await Promise.all(faces.map((face) => document.fonts.load(face, "Aa→")));
  const frame = () => new Promise(requestAnimationFrame);  // after what the chart does in it
  document.getElementById("parity")?.remove();
  const host = document.createElement("div");
  host.id = "parity";
  host.style.cssText = "position:fixed;left:0;top:0;z-index:99;width:1200px;height:800px";
  document.body.append(host);
  window.parityView?.destroy();
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const exact = { ...geometry, shift: 0 };
  const view = (window.parityView = new ChartView(host, { theme, exact }));
  view.legendAreas = geometry.panes.map((pane) => pane.legend);
  view.show(readChart(bytes.buffer));
  await frame();
  // The library rounds sizes down to even numbers.
  let width = Math.round(geometry.right + view.chart.priceScale("right").width());
  let height = geometry.bottom + view.chart.timeScale().height();
  width += width % 2;
  if (height % 2) { height++; geometry.panes.at(-1).bottom++; }
  host.style.width = `${width}px`;
  host.style.height = `${height}px`;
  view.exact = { ...geometry, shift: 0 };
  view.chart.resize(width, height);
  await frame();
  view.stretch();
  const scale = view.chart.timeScale();
  scale.setVisibleLogicalRange({ from: 0, to: scale.width() / geometry.step - 1 });
  await frame();
  view.exact.shift = 0.5 * geometry.step - scale.logicalToCoordinate(0);
  view.redraw();
  await frame();
  return view.chart.panes().map((pane) => pane.getHeight());
}"""


def geometry_of(chart, theme):
    composer = _Composer(chart, read_look({**LOOK, "theme": theme}))
    panes = []
    for pane in composer.panes:
        rows = [row[-1][0] + row[-1][1].width for row in pane.rows]
        legend = [
            {"left": 6, "top": 6 + 18 * i, "right": 14 + end, "bottom": 24 + 18 * i}
            for i, end in enumerate(rows)
        ]
        scale, area = pane.scale, pane.area
        panes.append(
            {
                "top": area.top,
                "bottom": area.bottom,
                "low": scale.low,
                "high": scale.high,
                "from": scale.top,
                "to": scale.bottom,
                "legend": legend,
            }
        )
    return {
        "right": composer.right,
        "bottom": composer.bottom,
        "step": composer.bars.step,
        "panes": panes,
    }


def difference(page, chart, theme):
    """The share of pixels that differ, and the picture of where."""
    geometry = geometry_of(chart, theme)
    data = base64.b64encode(series.encode(chart, 0, len(chart.bars))).decode()
    page.evaluate(DRAW, {"data": data, "geometry": geometry, "theme": theme})
    width, height = int(geometry["right"]) - 1, int(geometry["bottom"]) - 1
    area = {"x": 0, "y": 0, "width": width, "height": height}
    shot = Image.open(io.BytesIO(page.screenshot(clip=area))).convert("RGB")
    drawn = Image.open(io.BytesIO(chart.png(**LOOK, theme=theme))).convert("RGB")
    drawn = drawn.crop((0, 0, width, height))
    gap = np.asarray(ImageChops.difference(shot, drawn)).max(axis=2)
    for pane in geometry["panes"]:
        for row in pane["legend"]:
            top = int(pane["top"] + row["top"])
            gap[max(0, top - 1) : top + 20, : int(row["right"]) + 8] = 0
    return (gap > DIFFERENT).mean(), (shot, drawn, gap)


@pytest.fixture(scope="module")
def sheet(site, chromium):
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.route(f"{site}/sheet", lambda route: route.fulfill(body=SHEET, content_type="text/html"))
    page.goto(f"{site}/sheet")
    page.mouse.move(1290, 890)  # off the scene, which would show a crosshair
    yield page
    context.close()


NAMES = [name for name in SCENES if name != "error-card"]


THEMES = ("dark", "light")


@pytest.mark.parametrize("name", NAMES)
def test_a_scene_looks_as_on_its_picture(sheet, name, monkeypatch):
    """In both themes with `make exhaustive`, else in them by turns."""
    monkeypatch.setattr(axes, "grid", lambda *_: [])
    chart = SCENES[name]()
    themes = THEMES if EXHAUSTIVE else (THEMES[NAMES.index(name) % 2],)
    shares = {theme: difference(sheet, chart, theme)[0] for theme in themes}
    assert max(shares.values()) <= MOST, json.dumps({name: shares})
