// A pane while it is drawn: a canvas, where bars and values lie on it, and how strokes look.
import { faded } from "./colors.js";
export const THINNEST = 1.25,
  THICKEST = 64;
export const barsPerGroup = (step) => (step >= 1.5 ? 1 : Math.ceil(2 / step));
export function bodyWidth(step) {
  if (step < 3) return Math.max(1, Math.floor(step));
  const room = Math.floor(step * 0.78 + 0.5);
  return Math.min(room - 1 + (room % 2), 41);
}

// A pane while it is drawn: area in CSS pixels, x of a bar, y of a value, first and last bar in view.
export class Frame {
  constructor(ctx, width, height, dpr, x0, step, y, first, last, theme, clock) {
    Object.assign(this, { ctx, width, height, dpr, x0, step, y, first, last, theme, clock });
    this.area = { left: 0, top: 0, right: width, bottom: height };
  }
  x(bar) {
    return this.x0 + bar * this.step;
  }
  snap(v) {
    return Math.round(v * this.dpr) / this.dpr;
  }
  rect(left, top, width, height) {
    // on whole device pixels
    const d = this.dpr,
      l = Math.round(left * d),
      t = Math.round(top * d);
    this.ctx.fillRect(
      l / d,
      t / d,
      Math.max(1, Math.round(width * d)) / d,
      Math.max(1, Math.round(height * d)) / d,
    );
  }
}

export const DASHES = { dashed: [5, 4], dotted: [0.1, 3.5] };
export function stroke(ctx, color, width, style = "solid") {
  const scale = Math.max(width, 1);
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  ctx.lineJoin = "round";
  if (style === "dotted" && width < 2) {
    ctx.setLineDash([1.5, 2.5]);
    ctx.lineCap = "butt";
    return;
  }
  ctx.setLineDash((DASHES[style] ?? []).map((d) => Math.max(d * scale ** 0.7, 0.1)));
  ctx.lineCap = style === "dashed" ? "butt" : "round";
}
