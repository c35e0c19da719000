// Everything that stands on one pane, from the background to the tables.
import { drawBox, writeBox } from "./boxes.js";
import { arrange, label, thread } from "./labels.js";
import { linefill, polyline, straight } from "./lines.js";
import { DRAW, endTitle, LAYERS, levelTitle } from "./plots.js";
import { arrangeTables, drawTable } from "./tables.js";
import { drawShapes } from "./shapes.js";
import { Taken } from "./texts.js";

/**
 * @param {Frame} f
 * @param {Pane} content
 * @param {((f: Frame) => void) | undefined} price
 */
export function drawPane(f, content, price) {
  for (const layer of LAYERS) {
    if (layer === "price") {
      price?.(f);
      continue;
    }
    for (const scene of content.scenes)
      for (const p of scene.plots) if (p.kind === layer) DRAW[layer](f, /** @type {any} */ (p));
  }
}

/**
 * @param {Frame} f
 * @param {Pane} content
 * @param {Area[]} [kept]
 */
export function drawObjects(f, content, kept = []) {
  const taken = new Taken(f.area);
  for (const a of kept) taken.add(a);
  const tables = arrangeTables(f, content.tables, kept);
  for (const t of tables) taken.add(t.spot);
  const labels = arrange(f, content.labels, taken);
  const shapes = content.scenes.flatMap((/** @type {Scene} */ scene) => scene.plots).filter((/** @type {Plot} */ p) => p.kind === "shape");
  for (const box of content.boxes) drawBox(f, box);
  for (const fill of content.linefills) linefill(f, fill);
  for (const l of content.lines) {
    const a = f.clock.bar(l.x1),
      b = f.clock.bar(l.x2);
    if (a !== null && b !== null && l.y1 !== null && l.y2 !== null)
      straight(f, f.x(a), f.y(l.y1), f.x(b), f.y(l.y2), l.color, l.width, l.style, l.extend);
  }
  for (const p of content.polylines) polyline(f, p);
  for (const p of labels) thread(f, p);
  const every = content.scenes.flatMap((/** @type {Scene} */ s) => s.plots),
    side = every.some((/** @type {Plot} */ p) => p.kind === "hbar" && p.side === "right") ? "left" : "right";
  for (const p of every) {
    if (p.kind === "hline") levelTitle(f, p, taken, side, content.kind === "price");
    if (p.kind === "line" || p.kind === "divline") endTitle(f, p, taken);
  }
  const top = Math.max(0, ...kept.map((area) => area.bottom)) + 4;
  drawShapes(f, shapes, top, content.kind === "price", taken);
  for (const box of [...content.boxes].reverse()) writeBox(f, box, taken);
  for (const p of labels) label(f, p);
  for (const t of tables) drawTable(f, t);
  return { labels, tables };
}
