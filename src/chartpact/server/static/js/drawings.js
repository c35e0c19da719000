// What the user draws by hand: lines, trend lines, rectangles, and a measure that is not kept. They are
// anchored by time and price, and kept for each symbol.
import { Teller } from "./dom.js";
import { formatNumber } from "./numbers.js";

export const TOOLS = { hline: "Horizontal line", trend: "Trend line", rectangle: "Rectangle", measure: "Measure" };
/** @typedef {keyof typeof TOOLS} Tool */
/** @typedef {{ tool: Tool, ends: [number, number][] }} Drawing each end a time and a price */

const NEAR = 6; // pixels
const MOST = 50; // of one symbol

export class Drawings extends Teller {
  /** @param {ChartView} view */
  constructor(view) {
    super();
    this.view = view;
    /** @type {Record<string, Drawing[]>} */
    this.bySymbol = {};
    this.symbol = "";
    /** @type {Tool | null} */
    this.tool = null;
    /** @type {Drawing | null} */
    this.drawn = null; // while the pointer is down
    /** @type {Drawing | null} */
    this.chosen = null;
    /** @type {{ end: number, at: [number, number] } | null} */
    this.held = null;
    view.drawings = this;
    const { host } = view;
    host.addEventListener("pointerdown", (event) => this.begin(event), true);
    host.addEventListener("pointermove", (event) => this.drag(event), true);
    addEventListener("pointerup", () => this.finish(), true);
  }

  /** @returns {Drawing[]} */
  get all() {
    return this.bySymbol[this.symbol] ?? [];
  }

  /** @param {Tool | null} tool */
  take(tool) {
    this.tool = tool;
    this.chosen = null;
    this.view.host.classList.toggle("draws", tool !== null);
    this.view.redraw();
    this.tell("tool", tool);
  }

  /** Takes the chosen drawing away; whether there was one. */
  removeChosen() {
    if (!this.chosen) return false;
    this.bySymbol = { ...this.bySymbol, [this.symbol]: this.all.filter((one) => one !== this.chosen) };
    this.chosen = null;
    this.view.redraw();
    this.tell("change");
    return true;
  }

  clear() {
    this.bySymbol = { ...this.bySymbol, [this.symbol]: [] };
    this.view.redraw();
    this.tell("change");
  }

  /**
   * The time and price under the pointer, on the pane of prices.
   * @param {PointerEvent} event
   * @returns {[number, number] | null}
   */
  placeOf(event) {
    const { view } = this;
    const pane = view.chart?.panes()[0]?.getHTMLElement()?.getBoundingClientRect();
    const painter = view.painters[0];
    if (!pane || !painter || event.clientY > pane.bottom || event.clientY < pane.top) return null;
    const x = event.clientX - pane.left;
    if (x > view.chart.timeScale().width()) return null;
    const bar = view.chart.timeScale().coordinateToLogical(x);
    const price = painter.series.coordinateToPrice(event.clientY - pane.top);
    return bar === null || price === null ? null : [view.clock.timeOf(Math.round(bar)), price];
  }

  /** @param {PointerEvent} event */
  begin(event) {
    if (event.button) return;
    const place = this.placeOf(event);
    if (!place) return;
    const tool = /** @type {Tool | null} */ (this.tool ?? (event.shiftKey ? "measure" : null));
    if (tool) {
      this.drawn = { tool, ends: tool === "hline" ? [place] : [place, place] };
      this.held = { end: this.drawn.ends.length - 1, at: place };
    } else {
      const hit = this.find(event);
      const had = this.chosen;
      this.chosen = hit?.drawing ?? null;
      this.drawn = null; // a measure
      if (had !== this.chosen) this.view.redraw();
      if (!hit) return;
      this.held = { end: hit.end, at: place };
    }
    event.stopPropagation();
    event.preventDefault();
    this.view.redraw();
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const { held } = this;
    const subject = this.drawn ?? this.chosen;
    if (!held || !subject) return;
    event.stopPropagation();
    const place = this.placeOf(event);
    if (!place) return;
    if (held.end >= 0) subject.ends[held.end] = place;
    else
      subject.ends = subject.ends.map(([time, price]) => [
        time + place[0] - held.at[0],
        price + place[1] - held.at[1],
      ]);
    held.at = place;
    this.view.redraw();
  }

  finish() {
    if (!this.held) return;
    this.held = null;
    const { drawn } = this;
    const isKept = drawn !== null && drawn.tool !== "measure";
    if (isKept) {
      this.bySymbol = { ...this.bySymbol, [this.symbol]: [...this.all, drawn].slice(-MOST) };
      this.drawn = null;
    }
    if (this.tool) this.take(null);
    if (isKept) this.chosen = drawn;
    this.view.redraw();
    this.tell("change");
  }

  /**
   * The drawing under the pointer, and its end that is; -1: none of them.
   * @param {PointerEvent} event
   */
  find(event) {
    const { frame } = this;
    if (!frame) return null;
    const box = this.view.host.getBoundingClientRect();
    const pane = this.view.chart.panes()[0].getHTMLElement()?.getBoundingClientRect() ?? box;
    const [x, y] = [event.clientX - pane.left, event.clientY - pane.top];
    for (const drawing of [...this.all].reverse()) {
      const points = this.pointsOf(frame, drawing);
      const end = points.findIndex(([px, py]) => Math.hypot(px - x, py - y) < NEAR + 3);
      if (end >= 0 && drawing.tool !== "hline") return { drawing, end };
      if (isNear(drawing.tool, points, x, y)) return { drawing, end: drawing.tool === "hline" ? 0 : -1 };
    }
    return null;
  }

  /**
   * @param {Frame} frame
   * @param {Drawing} drawing
   * @returns {Point[]}
   */
  pointsOf(frame, { ends }) {
    return ends.map(([time, price]) => [frame.x(frame.clock.bar({ time }) ?? 0), frame.y(price)]);
  }

  /** @param {Frame} frame */
  draw(frame) {
    this.frame = frame;
    for (const drawing of [...this.all, ...(this.drawn ? [this.drawn] : [])]) this.drawOne(frame, drawing);
  }

  /**
   * @param {Frame} frame
   * @param {Drawing} drawing
   */
  drawOne(frame, drawing) {
    const { ctx, theme } = frame;
    const points = this.pointsOf(frame, drawing);
    const [[x1, y1]] = points;
    const [x2, y2] = points[points.length - 1];
    const isUp = y2 <= y1;
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineWidth = drawing === this.chosen ? 2.5 : 1.5;
    ctx.strokeStyle = drawing.tool === "measure" ? (isUp ? theme.up : theme.down) : theme.line;
    ctx.fillStyle = `${ctx.strokeStyle}26`;
    ctx.beginPath();
    if (drawing.tool === "hline") {
      ctx.moveTo(0, Math.round(y1) + 0.5);
      ctx.lineTo(frame.width, Math.round(y1) + 0.5);
    } else if (drawing.tool === "trend") {
      ctx.moveTo(x1, y1);
      ctx.lineTo(x2, y2);
    } else {
      ctx.rect(Math.min(x1, x2), Math.min(y1, y2), Math.abs(x2 - x1), Math.abs(y2 - y1));
      ctx.fill();
    }
    ctx.stroke();
    if (drawing === this.chosen && drawing.tool !== "hline")
      for (const [x, y] of points) {
        ctx.beginPath();
        ctx.arc(x, y, 4, 0, 7);
        ctx.fillStyle = theme.background;
        ctx.fill();
        ctx.stroke();
      }
    if (drawing.tool === "measure") this.writeMeasure(frame, drawing, x1, x2, y2, isUp);
    ctx.restore();
  }

  /**
   * @param {Frame} frame
   * @param {Drawing} drawing
   * @param {number} x1
   * @param {number} x2
   * @param {number} y
   * @param {boolean} isUp
   */
  writeMeasure(frame, { ends }, x1, x2, y, isUp) {
    const { ctx, theme } = frame;
    const text = describeMeasure(ends, this.view.clock, this.view.decimals);
    ctx.font = '12px "Chartpact Sans", sans-serif';
    const wide = ctx.measureText(text).width + 16;
    const left = Math.min(Math.max((x1 + x2) / 2 - wide / 2, 4), frame.width - wide - 4);
    const top = Math.min(Math.max(isUp ? y - 28 : y + 6, 4), frame.height - 26);
    ctx.fillStyle = isUp ? theme.up : theme.down;
    ctx.beginPath();
    ctx.roundRect(left, top, wide, 22, 4);
    ctx.fill();
    ctx.fillStyle = "#ffffff";
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillText(text, left + 8, top + 15);
  }
}

/**
 * What lies between two places: the price, its share, the bars and the time.
 * @param {[number, number][]} ends
 * @param {Clock} clock
 * @param {number} decimals
 */
export function describeMeasure([[from, first], [to, last]], clock, decimals) {
  const bars = Math.round((clock.bar({ time: to }) ?? 0) - (clock.bar({ time: from }) ?? 0));
  const change = last - first;
  const sign = change > 0 ? "+" : "";
  const share = formatNumber((100 * change) / Math.abs(first || 1), 2);
  const minutes = Math.round(Math.abs(to - from) / 60_000);
  const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), minutes % 60];
  const time = [days && `${days} d`, hours && `${hours} h`, rest && `${rest} min`].filter(Boolean).join(" ");
  return `${sign}${formatNumber(change, decimals)} (${sign}${share}%) · ${bars} bars${time ? ` · ${time}` : ""}`;
}

/**
 * @param {Tool} tool
 * @param {Point[]} points
 * @param {number} x
 * @param {number} y
 */
function isNear(tool, points, x, y) {
  const [[x1, y1]] = points;
  const [x2, y2] = points[points.length - 1];
  if (tool === "hline") return Math.abs(y - y1) < NEAR;
  if (tool === "trend") {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length ** 2;
    if (along < 0 || along > 1) return false;
    return Math.abs((x - x1) * (y2 - y1) - (y - y1) * (x2 - x1)) / length < NEAR;
  }
  const [left, right, top, bottom] = [Math.min(x1, x2), Math.max(x1, x2), Math.min(y1, y2), Math.max(y1, y2)];
  const inside = x > left - NEAR && x < right + NEAR && y > top - NEAR && y < bottom + NEAR;
  const deep = x > left + NEAR && x < right - NEAR && y > top + NEAR && y < bottom - NEAR;
  return inside && !deep;
}
