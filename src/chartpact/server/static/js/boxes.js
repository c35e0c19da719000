// Boxes and the text in them.
import { readable, visible } from "./colors.js";
import { stroke } from "./frame.js";
import { block, cut, LINE_HEIGHT, widthOf, wrap, writeBlock } from "./texts.js";
/** @type {Record<string, number>} */
export const TEXT_SIZES = { auto: 0, tiny: 8, small: 10, normal: 14, large: 20, huge: 36 };
/**
 * @param {Frame} f
 * @param {DrawnBox} box
 */
export function placeBox(f, box) {
  const left = f.clock.bar(box.left),
    right = f.clock.bar(box.right);
  if (left === null || right === null || box.top === null || box.bottom === null) return null;
  let [x1, x2] = [f.x(left), f.x(right)].sort((a, b) => a - b);
  const [y1, y2] = [f.y(box.top), f.y(box.bottom)].sort((a, b) => a - b);
  if (![x1, x2, y1, y2].every(Number.isFinite)) return null;
  if (box.extend === "left" || box.extend === "both") x1 = Math.min(x1, -100);
  if (box.extend === "right" || box.extend === "both") x2 = Math.max(x2, f.width + 100);
  return { left: x1, top: y1, right: x2, bottom: y2 };
}
/**
 * A rectangle of this size in the area, at an edge less its margin or in the middle.
 * @param {Area} area
 * @param {{ width: number, height: number }} given
 * @param {string} across
 * @param {string} down
 * @param {number} x
 * @param {number} y
 */
export function align(area, { width, height }, across, down, x, y) {
  let left = (area.left + area.right - width) / 2,
    top = (area.top + area.bottom - height) / 2;
  if (across === "left") left = area.left + x;
  if (across === "right") left = area.right - x - width;
  if (down === "top") top = area.top + y;
  if (down === "bottom") top = area.bottom - y - height;
  return { left, top, right: left + width, bottom: top + height };
}
/**
 * @param {Area} a
 * @param {Area} b
 */
export const common = (a, b) => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
/**
 * @param {Frame} f
 * @param {Area | null} a
 * @returns {a is Area}
 */
export const inView = (f, a) =>
  a !== null && a.left - 1 < f.width && a.right + 1 > 0 && a.top - 1 < f.height && a.bottom + 1 > 0;
/**
 * @param {Frame} f
 * @param {DrawnBox} box
 */
export function drawBox(f, box) {
  const at = placeBox(f, box);
  if (!inView(f, at)) return;
  const { ctx } = f,
    seen = common(at, f.area);
  if (visible(box.bgcolor)) {
    ctx.fillStyle = box.bgcolor;
    ctx.fillRect(seen.left, seen.top, seen.right - seen.left, seen.bottom - seen.top);
  }
  if (visible(box.border_color) && box.border_width) {
    stroke(ctx, box.border_color, Math.min(box.border_width, 64), box.border_style);
    ctx.strokeRect(at.left, at.top, at.right - at.left, at.bottom - at.top);
  }
}
/**
 * @param {Frame} f
 * @param {DrawnBox} box
 * @param {Taken} taken
 */
export function writeBox(f, box, taken) {
  if (!box.text.trim() || !visible(box.text_color) || taken.full) return;
  const at = placeBox(f, box);
  if (!inView(f, at)) return;
  const seen = common(at, f.area),
    w = seen.right - seen.left,
    h = seen.bottom - seen.top,
    wrapped = box.text_wrap === "auto";
  const points = typeof box.text_size === "number" ? box.text_size : TEXT_SIZES[box.text_size];
  /** @type {Words} */
  let words = block(f, "", 1);
  for (const asked of points ? [points] : [14, 12, 11, 10, 9, 8, 7, 6]) {
    words = block(f, box.text, asked, box.text_formatting, box.text_font_family);
    const { size } = words;
    if (wrapped) {
      words.lines = wrap(
        f.ctx,
        words.lines.join("\n").slice(0, (h * w) / size + 20),
        words.font,
        Math.max(w - 8, size),
      );
      words.width = Math.max(...words.lines.map((/** @type {string} */ l) => widthOf(f.ctx, l, words.font)));
      words.height = words.lines.length * size * LINE_HEIGHT;
    }
    if (words.width <= w - 4 && words.height <= h - 2) break;
  }
  if (words.height > h - 2)
    words = cut(words, wrapped ? h - 2 - words.size * LINE_HEIGHT : f.height);
  const color = readable(box.text_color, f.theme.background, box.bgcolor);
  /**
   * @param {string} own
   * @param {string[]} all
   */
  const order = (own, all) => [own, ...all.filter((/** @type {string} */ v) => v !== own)];
  for (const across of order(box.text_halign, ["left", "center", "right"]))
    for (const down of order(box.text_valign, ["top", "center", "bottom"])) {
      const spot = align(seen, words, across, down, 4, 2);
      if (taken.free(spot)) {
        taken.add(spot);
        return writeBlock(f, words, spot, across, color);
      }
    }
}
