// Text on a canvas: measured, wrapped, cut and written; and the places that are taken by it.
export const SANS = "Chartpact Sans",
  MONO = "Chartpact Mono";
export const FACE = `"${SANS}", "Chartpact Symbols", system-ui, sans-serif`,
  FIXED = `"${MONO}", "Chartpact Symbols", ui-monospace, monospace`;
export const LINE_HEIGHT = 1.3,
  CAP = 0.727;
/** @param {number} size */
export const fontOf = (size, formatting = "none", family = "default") =>
  `${formatting.includes("italic") ? "italic " : ""}${formatting.includes("bold") ? "bold " : ""}${size}px ${family === "monospace" ? FIXED : FACE}`;
export const widths = new Map();
/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {string} font
 */
export function widthOf(ctx, text, font) {
  const key = font + text;
  let w = widths.get(key);
  if (w === undefined) {
    if (widths.size > 20000) widths.clear();
    ctx.font = font;
    widths.set(key, (w = ctx.measureText(text).width));
  }
  return w;
}
export const FORBIDDEN =
  /[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
/** @param {string} text */
export const clean = (text) =>
  text
    .slice(0, 4096)
    .replace(/\r\n|[\r\u2028\u2029]/g, "\n")
    .replace(FORBIDDEN, "");
/** @param {number} size */
export const textSize = (size) => Math.min(Math.max(size, 5), 200); // smaller is not readable
/**
 * @param {Frame} f
 * @param {string} text
 * @param {number} size
 * @param {string} [formatting]
 * @param {string} [family]
 * @param {number} [room]
 * @returns {Words}
 */
export function block(f, text, size, formatting, family, room) {
  size = textSize(size);
  const font = fontOf(size, formatting, family);
  let lines = text
    ? clean(text)
        .split("\n")
        .slice(0, 200)
        .map((/** @type {string} */ l) => l.slice(0, 400))
    : [];
  if (room) lines = lines.map((/** @type {string} */ l) => fit(f.ctx, l, font, room));
  return {
    lines,
    size,
    font,
    width: Math.max(0, ...lines.map((/** @type {string} */ l) => widthOf(f.ctx, l, font))),
    height: lines.length * size * LINE_HEIGHT,
  };
}
/**
 * The block without lines that lie wholly below that height; the first one stays.
 * @param {Words} words
 * @param {number} height
 */
export function cut(words, height) {
  const lines = words.lines.slice(
    0,
    1 + Math.floor(Math.max(height, 0) / (words.size * LINE_HEIGHT)),
  );
  return { ...words, lines, height: lines.length * words.size * LINE_HEIGHT };
}
/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {string} font
 * @param {number} room
 */
export function fit(ctx, text, font, room) {
  if (widthOf(ctx, text, font) <= room) return text;
  let kept = text;
  while (kept && widthOf(ctx, kept + "…", font) > room) kept = kept.slice(0, -1);
  return kept ? kept.trimEnd() + "…" : "";
}
/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {string} font
 * @param {number} room
 */
export function wrap(ctx, text, font, room) {
  const lines = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      const longer = line ? line + " " + word : word;
      if (widthOf(ctx, longer, font) <= room) {
        line = longer;
        continue;
      }
      if (line) lines.push(line);
      line = word;
      while (widthOf(ctx, line, font) > room && line.length > 1) {
        let k = line.length;
        while (k > 1 && widthOf(ctx, line.slice(0, k), font) > room) k--;
        lines.push(line.slice(0, k));
        line = line.slice(k);
      }
    }
    lines.push(line);
  }
  return lines;
}
/**
 * @param {Frame} f
 * @param {string} text
 * @param {number} x
 * @param {number} base
 * @param {number} size
 * @param {string} color
 * @param {CanvasTextAlign} align
 * @param {string} font
 * @param {string} [halo]
 */
export function write(f, text, x, base, size, color, align, font, halo) {
  const { ctx } = f;
  ctx.font = font;
  ctx.textAlign = align;
  ctx.textBaseline = "alphabetic";
  if (halo) {
    ctx.strokeStyle = halo;
    ctx.lineWidth = size / 4;
    ctx.lineJoin = "round";
    ctx.setLineDash([]);
    ctx.strokeText(text, x, base);
  }
  ctx.fillStyle = color;
  ctx.fillText(text, x, base);
}
/**
 * @param {Frame} f
 * @param {Words} words
 * @param {{ left: number, right: number, top: number }} area
 * @param {string} align
 * @param {string} color
 * @param {string} [halo]
 */
export function writeBlock(f, words, area, align, color, halo) {
  const x =
    align === "left" ? area.left : align === "right" ? area.right : (area.left + area.right) / 2;
  const pitch = words.size * LINE_HEIGHT;
  let base = area.top + pitch / 2 + (words.size * CAP) / 2;
  for (const line of words.lines) {
    const seen = base > f.area.top - words.size && base - words.size < f.area.bottom;
    if (seen && line.trim()) write(f, line, x, base, words.size, color, /** @type {CanvasTextAlign} */ (align), words.font, halo);
    base += pitch;
  }
}
/**
 * @param {Area} a
 * @param {Area} b
 */
export const meets = (a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
/**
 * @param {Area} a
 * @param {Area} b
 */
export const holds = (a, b) =>
  a.left <= b.left && a.right >= b.right && a.top <= b.top && a.bottom >= b.bottom;
// A table may be many times as large as its pane: only squares near the pane are looked at.
const NEAR = 256;
export class Taken {
  /** @param {Area} pane */
  constructor(pane) {
    this.pane = pane;
    this.cells = new Map();
    this.count = 0;
    this.asked = 0;
  }
  get full() {
    return this.count >= 1500 || this.asked >= 30000;
  }
  /** @param {Area} a */
  *keys(a) {
    const left = Math.max(a.left, this.pane.left - NEAR),
      right = Math.min(a.right, this.pane.right + NEAR),
      top = Math.max(a.top, this.pane.top - NEAR),
      bottom = Math.min(a.bottom, this.pane.bottom + NEAR);
    for (let c = Math.floor(left / 64); c <= Math.floor(right / 64); c++)
      for (let r = Math.floor(top / 64); r <= Math.floor(bottom / 64); r++) yield c * 4096 + r;
  }
  /** @param {Area} a */
  add(a) {
    this.count++;
    for (const k of this.keys(a)) {
      const l = this.cells.get(k);
      if (l) l.push(a);
      else this.cells.set(k, [a]);
    }
  }
  /** @param {Area} a */
  free(a) {
    this.asked++;
    for (const k of this.keys(a))
      for (const b of this.cells.get(k) ?? []) if (meets(a, b)) return false;
    return true;
  }
}
