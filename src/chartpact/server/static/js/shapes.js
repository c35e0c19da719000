// Shapes: signs on bars, and their texts where there is room. Shapes of one bar are stacked.
import { faded, ink, readable, visible } from "./colors.js";
import { LABEL_SIZES, SIGNS } from "./labels.js";
import { block, holds, LINE_HEIGHT, writeBlock } from "./texts.js";

const MOST_TEXTS = 400; // of one plot; the last ones
const APART = 2; // pixels between stacked shapes
const CLEAR = 4; // pixels between a bar and what stands above or below it
const PAD = 4; // pixels beside the text of a bubble
const TAIL = 5; // pixels of a bubble's tail
/** @type {Record<string, number>} */
const BUBBLES = { labelup: -1, labeldown: 1 }; // which way the tail points

/**
 * @param {ShapePlot} plot
 * @param {number} step
 */
const sizeOf = (plot, step) => LABEL_SIZES[plot.size] || Math.min(Math.max(step, 7), 12);
/**
 * @param {ShapePlot} plot
 * @param {number} step
 */
const textSize = (plot, step) => Math.max(sizeOf(plot, step), 9);

/**
 * The pixels of the highest shape with its text.
 * @param {ShapePlot} plot
 * @param {number} step
 */
function heightOf(plot, step) {
  let lines = plot.lines ?? 0;
  if (plot.lines === undefined)
    for (const text of plot.text) lines = Math.max(lines, text ? lineCount(text) : 0);
  plot.lines = lines;
  const height = lines * textSize(plot, step) * LINE_HEIGHT;
  return lines && plot.shape in BUBBLES ? height + PAD + TAIL : height + sizeOf(plot, step);
}

/** @param {string} text */
const lineCount = (text) => text.split("\n").length;

/**
 * The pixels that shapes need above and below the values of a pane.
 * @param {ShapePlot[]} plots
 */
export function shapeRoom(plots) {
  const room = { abovebar: 0, top: 0, belowbar: 0, bottom: 0, absolute: 0 };
  for (const plot of plots)
    room[plot.location] = Math.min(90, room[plot.location] + heightOf(plot, 7) + APART);
  return [room.abovebar + room.top, room.belowbar + room.bottom];
}

/**
 * Draws the shapes of a pane; newer plots have the first texts.
 * @param {Frame} f
 * @param {ShapePlot[]} plots
 * @param {number} top
 * @param {boolean} hasPrice
 * @param {Taken} taken
 */
export function drawShapes(f, plots, top, hasPrice, taken) {
  if (!plots.length) return;
  const { high, low } = f.clock.bars;
  /** @type {Record<string, Map<number, number>>} */
  const stacks = {};
  /**
   * @param {string} location
   * @param {number} bar
   */
  const start = (location, bar) => {
    const stack = (stacks[location] ??= new Map());
    const stacked = stack.get(bar);
    if (stacked !== undefined) return stacked;
    if (location === "top") return top;
    if (location === "bottom") return f.height - CLEAR;
    return location === "abovebar" ? f.y(high[bar]) - CLEAR : f.y(low[bar]) + CLEAR;
  };
  const placed = plots.map((/** @type {ShapePlot} */ plot) => placeShapes(f, plot, start, stacks, hasPrice));
  // The newest comes first to a place for its text.
  const written = [...placed].reverse().map((shapes) => writeShapes(f, shapes, taken)).reverse();
  placed.forEach((/** @type {Shapes} */ shapes, /** @type {number} */ i) => {
    drawSigns(f, shapes, written[i]);
    for (const text of written[i].values()) text();
  });
}

/**
 * @param {Frame} f
 * @param {ShapePlot} plot
 * @param {(location: string, bar: number) => number} start
 * @param {Record<string, Map<number, number>>} stacks
 * @param {boolean} hasPrice
 */
function placeShapes(f, plot, start, stacks, hasPrice) {
  /** @type {Record<string, ShapePlot["location"]>} */
  const inPanel = { abovebar: "top", belowbar: "bottom" };
  const location = hasPrice ? plot.location : (inPanel[plot.location] ?? plot.location);
  const tall = heightOf(plot, f.step) + APART;
  const count = f.clock.bars.length;
  const isBelow =
    location === "absolute" ? plot.shape.endsWith("up") : location === "top" || location === "belowbar";
  const way = isBelow ? 1 : -1;
  const paint = plot.color;
  /** @type {Shapes} */
  const shapes = { plot, way, absolute: location === "absolute", marks: [] };
  for (let i = 0; i < plot.x.length; i++) {
    const bar = plot.x[i];
    if (bar < f.first - 2 || bar > f.last + 2 || bar < 0 || bar >= count) continue;
    const y = shapes.absolute ? f.y(plot.y[i]) : start(location, bar);
    if (!shapes.absolute) stacks[location].set(bar, y + way * tall);
    if (!(y > -50 && y < f.height + 50)) continue;
    const own = typeof paint === "object" ? paint.palette[paint.codes[i]] : paint;
    const color = own === "auto" ? f.theme.up : own;
    if (color) shapes.marks.push({ x: f.x(bar), y, color, text: plot.text[i] });
  }
  return shapes;
}

/**
 * What writes the text of each shape that has room for one, by the shape.
 * @param {Frame} f
 * @param {Shapes} shapes
 * @param {Taken} taken
 */
function writeShapes(f, { plot, way, absolute, marks }, taken) {
  const written = new Map();
  const said = marks.filter(({ text }) => text).slice(-MOST_TEXTS);
  const bubble = BUBBLES[plot.shape] ?? 0;
  const radius = sizeOf(plot, f.step) / 2;
  for (const mark of said.reverse()) {
    if (taken.full) break;
    const { x, y, color } = mark;
    const own = plot.text_color ?? (bubble ? ink(color) : color);
    if (!visible(own)) continue;
    const size = textSize(plot, f.step);
    const words = block(f, mark.text ?? "", size, "none", "default", f.width / 4);
    const wide = words.width / 2 + (bubble ? PAD : 0);
    const high = words.height + (bubble ? PAD : 0);
    let grows = way;
    let near = y + way * (absolute ? radius : 2 * radius);
    if (bubble && absolute) {
      grows = -bubble;
      near = y - bubble * TAIL;
    } else if (bubble) near = y + way * (bubble === -way ? TAIL : 0);
    const far = near + grows * high;
    const box = {
      left: x - wide,
      right: x + wide,
      top: Math.min(near, far),
      bottom: Math.max(near, far),
    };
    if (!holds(f.area, box) || !taken.free(box)) continue;
    taken.add(box);
    const { background } = f.theme;
    written.set(mark, () => {
      if (!bubble)
        return writeBlock(
          f,
          words,
          box,
          "center",
          readable(own, background),
          faded(background, 0.75),
        );
      drawBubble(f, box, x, bubble, color);
      const inner = { ...box, top: box.top + PAD / 2 };
      writeBlock(f, words, inner, "center", readable(own, background, color));
    });
  }
  return written;
}

/**
 * @param {Frame} frame
 * @param {Area} box
 * @param {number} x
 * @param {number} bubble
 * @param {string} color
 */
function drawBubble({ ctx }, box, x, bubble, color) {
  const edge = bubble < 0 ? box.top : box.bottom;
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.moveTo(x - TAIL, edge);
  ctx.lineTo(x, edge + bubble * TAIL);
  ctx.lineTo(x + TAIL, edge);
  ctx.fill();
  ctx.beginPath();
  ctx.roundRect(box.left, box.top, box.right - box.left, box.bottom - box.top, 3);
  ctx.fill();
}

/**
 * @param {Frame} frame
 * @param {Shapes} shapes
 * @param {Map<ShapeMark, () => void>} written
 */
function drawSigns({ ctx, step }, { plot, way, absolute, marks }, written) {
  const radius = sizeOf(plot, step) / 2;
  const polygon = SIGNS[plot.shape];
  for (const mark of marks) {
    if (plot.shape in BUBBLES && written.has(mark)) continue;
    const { x, color } = mark;
    const y = absolute ? mark.y : mark.y + way * radius;
    if (!visible(color)) continue;
    ctx.fillStyle = color;
    ctx.beginPath();
    if (plot.shape === "circle") ctx.arc(x, y, radius, 0, 7);
    else
      for (const [px, py] of polygon ?? SIGNS.square) ctx.lineTo(x + px * radius, y + py * radius);
    ctx.fill();
  }
}
