// Labels and shapes: bubbles, signs and bare words, moved apart where they would overlap.
import { faded, readable, visible } from "./colors.js";
import { stroke } from "./frame.js";
import { block, cut, holds, LINE_HEIGHT, textSize, writeBlock } from "./texts.js";
/** @type {Words} */
const NO_WORDS = { lines: [], size: 0, font: "", width: 0, height: 0 };
/** @type {Record<string, number>} */
export const LABEL_SIZES = { auto: 0, tiny: 7, small: 10, normal: 12, large: 18, huge: 24 };
/** @type {Record<string, number[]>} */
export const BUBBLES = {
  label_up: [0, 1],
  label_down: [0, -1],
  label_left: [1, 0],
  label_right: [-1, 0],
  label_lower_left: [1, -1],
  label_lower_right: [-1, -1],
  label_upper_left: [1, 1],
  label_upper_right: [-1, 1],
  label_center: [0, 0],
};
export const BARE = new Set(["none", "text_outline"]);
export const T = 0.3,
  Q = Math.SQRT1_2;
export const CROSS = [
  [-T, -1],
  [T, -1],
  [T, -T],
  [1, -T],
  [1, T],
  [T, T],
  [T, 1],
  [-T, 1],
  [-T, T],
  [-1, T],
  [-1, -T],
  [-T, -T],
];
export const ARROW = [
  [0, -1],
  [0.8, -0.1],
  [0.32, -0.1],
  [0.32, 1],
  [-0.32, 1],
  [-0.32, -0.1],
  [-0.8, -0.1],
];
/** @type {Record<string, number[][]>} */
export const SIGNS = {
  arrowup: ARROW,
  arrowdown: ARROW.map(([x, y]) => [x, -y]),
  triangleup: [
    [0, -0.85],
    [0.95, 0.8],
    [-0.95, 0.8],
  ],
  triangledown: [
    [0, 0.85],
    [0.95, -0.8],
    [-0.95, -0.8],
  ],
  square: [
    [-0.85, -0.85],
    [0.85, -0.85],
    [0.85, 0.85],
    [-0.85, 0.85],
  ],
  diamond: [
    [0, -1.1],
    [1.1, 0],
    [0, 1.1],
    [-1.1, 0],
  ],
  cross: CROSS,
  xcross: CROSS.map(([x, y]) => [Q * (x - y), Q * (x + y)]),
  flag: [
    [-0.8, -1],
    [0.9, -1],
    [0.45, -0.45],
    [0.9, 0.1],
    [-0.5, 0.1],
    [-0.5, 1],
    [-0.8, 1],
  ],
};
/**
 * @param {DrawnLabel} label
 * @param {number} step
 */
export const sizeOf = (label, step) =>
  typeof label.size === "number"
    ? textSize(label.size)
    : LABEL_SIZES[label.size] || (step >= 6 ? 12 : 10);

/**
 * @param {Frame} f
 * @param {DrawnLabel} label
 */
export function pointOf(f, label) {
  const bar = f.clock.bar(label.x);
  if (bar === null) return null;
  const x = f.x(bar);
  let y;
  if (label.yloc === "price") {
    if (label.y === null) return null;
    y = f.y(label.y);
  } else {
    const b = f.clock.bars;
    if (!(bar >= 0 && bar < b.length)) return null;
    y =
      label.yloc === "abovebar"
        ? f.y(b.high[Math.floor(bar)]) - 4
        : f.y(b.low[Math.floor(bar)]) + 4;
  }
  return x >= 0 && x <= f.width && y >= 0 && y <= f.height ? [x, y] : null;
}
/**
 * @param {DrawnLabel} label
 * @param {Words} words
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @returns {[Area, number]}
 */
export function boxOf(label, words, x, y, size) {
  const scale = size / 12;
  let left, top, width, height, way;
  if (label.style in BUBBLES) {
    const [across, down] = BUBBLES[label.style];
    width = Math.max(words.width + 12 * scale, size);
    height = Math.max(words.height, size * 1.1) + 5 * scale;
    const tail = label.style !== "label_center" ? 6 * scale : 0;
    left = x - width / 2 + across * (width / 2 + (across && down ? 0 : tail));
    top = y - height / 2 + down * (height / 2 + tail);
    way = down;
  } else if (BARE.has(label.style)) {
    ({ width, height } = words);
    left = x - width / 2;
    top = y - height / 2;
    way = 0;
  } else {
    const r = size * 0.6,
      below = label.yloc === "belowbar" || (label.yloc === "price" && label.style.endsWith("up"));
    width = Math.max(words.width, 2 * r);
    height = words.height + 2 * r;
    left = x - width / 2;
    top = y - r - (below ? 0 : words.height);
    way = below ? 1 : -1;
  }
  if (label.yloc === "abovebar" && top + height > y) {
    top = y - height;
    way = -1;
  } else if (label.yloc === "belowbar" && top < y) {
    top = y;
    way = 1;
  }
  return [{ left, top, right: left + width, bottom: top + height }, way];
}
/**
 * @param {Area} a
 * @param {number} dx
 * @param {number} dy
 */
export const moved = (a, dx, dy) => ({
  left: a.left + dx,
  right: a.right + dx,
  top: a.top + dy,
  bottom: a.bottom + dy,
});
/**
 * @param {Area} box
 * @param {Area} area
 */
export function inside(box, area) {
  const w = box.right - box.left,
    h = box.bottom - box.top;
  const x = Math.max(area.left + 2 - box.left, 0) || Math.min(area.right - 2 - box.right, 0),
    y = Math.max(area.top + 2 - box.top, 0) || Math.min(area.bottom - 2 - box.bottom, 0);
  return moved(box, w < area.right - area.left ? x : 0, h < area.bottom - area.top ? y : 0);
}
/**
 * @param {Frame} f
 * @param {DrawnLabel[]} labels
 * @param {Taken} taken
 */
export function arrange(f, labels, taken) {
  /** @type {PlacedLabel[]} */
  const placed = [];
  for (let n = labels.length - 1; n >= 0; n--) {
    const label = labels[n],
      point = pointOf(f, label);
    if (!point) continue;
    const [x, y] = point,
      size = sizeOf(label, f.step);
    if (taken.full) {
      placed.push({ label, x, y, box: { left: x, top: y, right: x, bottom: y }, words: NO_WORDS, mute: true });
      continue;
    }
    const shown = visible(label.text_color) ? label.text : "";
    /** @type {PlacedLabel | null} */
    let found = null;
    for (const room of [f.width - (24 * size) / 12, f.width / 4]) {
      if (found && !(found.mute && found.words.width > room)) continue;
      const words = cut(
          block(f, shown, size, label.text_formatting, label.text_font_family, room),
          f.height - 3 * size * LINE_HEIGHT,
        ),
        [at, way] = boxOf(label, words, x, y, size);
      found = settle(f, label, words, x, y, at, way, taken);
    }
    if (found) placed.push(found);
  }
  return placed.reverse();
}
/**
 * @param {Frame} f
 * @param {DrawnLabel} label
 * @param {Words} words
 * @param {number} x
 * @param {number} y
 * @param {Area} at
 * @param {number} way
 * @param {Taken} taken
 * @returns {PlacedLabel}
 */
export function settle(f, label, words, x, y, at, way, taken) {
  const box = inside(at, f.area);
  if (!words.lines.length) return { label, x, y, box, words };
  const pitch = box.bottom - box.top + 2,
    shifts = [0];
  for (let turn = 1; turn < 10; turn++)
    for (const w of way ? [way] : [-1, 1]) shifts.push(w * turn * pitch);
  if (way) for (let turn = 2; turn < 5; turn++) shifts.push(-way * turn * pitch);
  for (const shift of shifts) {
    const spot = moved(box, 0, shift);
    if ((shift === 0 || holds(f.area, spot)) && taken.free(spot)) {
      taken.add({
        left: spot.left - 0.5,
        top: spot.top - 0.5,
        right: spot.right + 0.5,
        bottom: spot.bottom + 0.5,
      });
      return { label, x, y, box: spot, words, moved: shift !== 0 };
    }
  }
  return { label, x, y, box, words, mute: true };
}
/**
 * @param {Frame} f
 * @param {PlacedLabel} p
 */
export function thread(f, p) {
  if (!p.moved || p.mute) return;
  const { label, box } = p,
    { ctx } = f;
  const color =
    !BARE.has(label.style) && visible(label.color)
      ? label.color
      : (label.text_color ?? f.theme.text);
  stroke(ctx, faded(color, 0.8), 1);
  ctx.beginPath();
  ctx.moveTo(p.x, p.y);
  ctx.lineTo(Math.min(Math.max(p.x, box.left), box.right), box.bottom < p.y ? box.bottom : box.top);
  ctx.stroke();
}
/**
 * @param {Frame} f
 * @param {PlacedLabel} p
 */
export function sign(f, p) {
  const { label } = p,
    { ctx } = f;
  if (!visible(label.color)) return;
  const r = sizeOf(label, f.step) * 0.6;
  let { x, y } = p;
  if (label.yloc === "abovebar") y -= r;
  else if (label.yloc === "belowbar") y += r;
  ctx.fillStyle = label.color;
  ctx.beginPath();
  if (label.style === "circle") ctx.arc(x, y, r, 0, 7);
  else for (const [px, py] of SIGNS[label.style]) ctx.lineTo(x + px * r, y + py * r);
  ctx.fill();
}
/**
 * @param {CanvasRenderingContext2D} ctx
 * @param {Area} a
 * @param {number} r
 */
export function roundRect(ctx, a, r) {
  ctx.beginPath();
  ctx.roundRect(a.left, a.top, a.right - a.left, a.bottom - a.top, r);
  ctx.fill();
}
/**
 * @param {Frame} f
 * @param {PlacedLabel} p
 */
export function label(f, p) {
  const { label, words, box } = p,
    { ctx, theme } = f,
    fill = visible(label.color) ? label.color : null;
  if (p.mute) {
    if (label.style in BUBBLES || BARE.has(label.style)) {
      const c = label.style in BUBBLES ? label.color : label.text_color;
      if (visible(c)) {
        ctx.fillStyle = c;
        ctx.beginPath();
        ctx.arc(p.x, p.y, 2.5, 0, 7);
        ctx.fill();
      }
    } else sign(f, p);
    return;
  }
  let color = label.text_color ?? theme.text;
  const shade = faded(theme.background, 0.75);
  if (label.style in BUBBLES) {
    if (fill) {
      const radius = Math.min((4 * words.size) / 12, (box.bottom - box.top) / 3);
      ctx.fillStyle = fill;
      if (label.style !== "label_center" && !p.moved) tail(f, BUBBLES[label.style], p, radius);
      roundRect(ctx, box, radius);
    }
    color = readable(color, theme.background, fill);
    const pad = (6 * words.size) / 12,
      top = (box.top + box.bottom - words.height) / 2;
    return writeBlock(
      f,
      words,
      { left: box.left + pad, right: box.right - pad, top },
      label.text_align,
      color,
    );
  }
  if (BARE.has(label.style)) {
    const own = label.style === "text_outline" ? fill : null;
    return writeBlock(
      f,
      words,
      box,
      label.text_align,
      own ? color : readable(color, theme.background),
      own ?? shade,
    );
  }
  sign(f, p);
  const top = (box.top + box.bottom) / 2 < p.y ? box.top : box.bottom - words.height;
  writeBlock(
    f,
    words,
    { left: box.left, right: box.right, top },
    label.text_align,
    readable(color, theme.background),
    shade,
  );
}
/**
 * @param {Frame} f
 * @param {number[]} way
 * @param {PlacedLabel} p
 * @param {number} radius
 */
export function tail(f, [across, down], p, radius) {
  const { box, x, y } = p,
    { ctx } = f,
    half = (5 * p.words.size) / 12,
    clamp = (/** @type {number} */ v, /** @type {number} */ a, /** @type {number} */ b) => Math.min(Math.max(v, a), b);
  let points;
  if (down) {
    if (box.top <= y && y <= box.bottom) return;
    const edge = y < box.top ? box.top : box.bottom,
      low = box.left + (across ? 0 : radius),
      high = box.right - (across ? 0 : radius);
    if (across) {
      const inner = edge + Math.sign(edge - y) * Math.min((box.bottom - box.top) / 2, 2 * half);
      points = [
        [x, y],
        [x, inner],
        [x + across * 2 * half, edge],
      ];
    } else
      points = [
        [x, y],
        [clamp(x - half, low, high), edge],
        [clamp(x + half, low, high), edge],
      ];
  } else {
    if (box.left <= x && x <= box.right) return;
    const edge = x < box.left ? box.left : box.right;
    points = [
      [x, y],
      [edge, clamp(y - half, box.top + radius, box.bottom - radius)],
      [edge, clamp(y + half, box.top + radius, box.bottom - radius)],
    ];
  }
  ctx.beginPath();
  for (const [px, py] of points) ctx.lineTo(px, py);
  ctx.fill();
}
