// A pane while it is drawn: a canvas, where bars and values lie on it, and how strokes look.
export const THINNEST = 1.25,
  THICKEST = 64;
/** @param {number} step */
export const barsPerGroup = (step) => (step >= 1.5 ? 1 : Math.ceil(2 / step));
/** @param {number} step */
export function bodyWidth(step) {
  if (step < 3) return Math.max(1, Math.floor(step));
  const room = Math.floor(step * 0.78 + 0.5);
  return Math.min(room - 1 + (room % 2), 41);
}

// A pane while it is drawn: area in CSS pixels, x of a bar, y of a value, first and last bar in view.
export class Frame {
  /**
   * @param {CanvasRenderingContext2D} ctx
   * @param {number} width
   * @param {number} height
   * @param {number} dpr
   * @param {number} x0
   * @param {number} step
   * @param {(value: number) => number} y
   * @param {number} first
   * @param {number} last
   * @param {Theme} theme
   * @param {Clock} clock
   */
  constructor(ctx, width, height, dpr, x0, step, y, first, last, theme, clock) {
    this.ctx = ctx;
    this.width = width;
    this.height = height;
    this.dpr = dpr;
    this.x0 = x0;
    this.step = step;
    this.y = y;
    this.first = first;
    this.last = last;
    this.theme = theme;
    this.clock = clock;
    this.area = { left: 0, top: 0, right: width, bottom: height };
  }
  /** @param {number} bar */
  x(bar) {
    return this.x0 + bar * this.step;
  }
  /** @param {number} v */
  snap(v) {
    return Math.round(v * this.dpr) / this.dpr;
  }
  /**
   * @param {number} left
   * @param {number} top
   * @param {number} width
   * @param {number} height
   */
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

/** @type {Record<string, number[]>} */
export const DASHES = { dashed: [5, 4], dotted: [0.1, 3.5] };
/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} color
 * @param {number} width
 */
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
  ctx.setLineDash((DASHES[style] ?? []).map((/** @type {number} */ d) => Math.max(d * scale ** 0.7, 0.1)));
  ctx.lineCap = style === "dashed" ? "butt" : "round";
}
