// Candles, of the price and of indicators, on whole device pixels.
import { faded } from "./colors.js";
import { barsPerGroup, bodyWidth } from "./frame.js";
import { painter } from "./paint.js";

/**
 * The candles in view in device pixels; where they are too many, several bars share one.
 * @param {Frame} f
 * @param {Prices} prices
 */
function place(f, { open, high, low, close }) {
  const size = barsPerGroup(f.step);
  const last = Math.min(f.last, close.length - 1);
  const candles = [];
  /** @param {number} price */
  const y = (price) => Math.round(f.y(price) * f.dpr);
  for (let i = Math.max(0, Math.floor(f.first / size) * size); i <= last; i += size) {
    const end = Math.min(i + size, close.length) - 1;
    let top = -Infinity;
    let bottom = Infinity;
    for (let bar = i; bar <= end; bar++) {
      if (high[bar] > top) top = high[bar];
      if (low[bar] < bottom) bottom = low[bar];
    }
    const [start, stop] = [open[i], close[end]];
    if (!(top >= bottom) || start !== start || stop !== stop) continue;
    candles.push({
      first: i,
      last: end,
      rising: stop >= start,
      x: Math.floor(f.x((i + end) / 2) * f.dpr),
      high: y(top),
      low: y(bottom),
      top: Math.min(y(start), y(stop)),
      bottom: Math.max(y(start), y(stop)),
    });
  }
  return candles;
}

/**
 * The colour of each candle: of several bars that share one, the last that has a colour.
 * @param {Paint} paint
 * @param {Candle[]} candles
 * @param {Theme} theme
 */
function colorsOf(paint, candles, theme) {
  if (typeof paint === "string" && paint !== "auto") return candles.map(() => paint);
  if (paint === "auto") return candles.map((/** @type {Candle} */ { rising }) => (rising ? theme.up : theme.down));
  const { palette, code } = painter(paint, theme, () => true);
  return candles.map((/** @type {Candle} */ { first, last }) => {
    for (let bar = last; bar >= first; bar--) {
      const color = palette[code(bar)];
      if (color) return color;
    }
    return null;
  });
}

/**
 * @param {Candle[]} candles
 * @param {(string | null)[]} colors
 * @param {(color: string, group: Candle[]) => void} draw
 */
function byColor(candles, colors, draw) {
  /** @type {Map<string, Candle[]>} */
  const groups = new Map();
  candles.forEach((candle, i) => {
    const color = colors[i];
    if (!color) return;
    const group = groups.get(color);
    if (group) group.push(candle);
    else groups.set(color, [candle]);
  });
  for (const [color, group] of groups) draw(color, group);
}

/**
 * The chart's own candles; the last indicator that colours a bar decides.
 * @param {Frame} f
 * @param {Prices} prices
 * @param {BarColorPlot[]} tints
 */
export function drawPrices(f, prices, tints) {
  const candles = place(f, prices);
  const colors = colorsOf("auto", candles, f.theme);
  for (const tint of tints)
    colorsOf(tint.color, candles, f.theme).forEach((/** @type {string | null} */ color, /** @type {number} */ i) => {
      if (color) colors[i] = color;
    });
  drawPlain(f, candles, colors);
}

/**
 * @param {Frame} f
 * @param {Candle[]} candles
 * @param {(string | null)[]} colors
 */
function drawPlain(f, candles, colors) {
  const { ctx, dpr } = f;
  const width = bodyWidth(f.step * barsPerGroup(f.step) * dpr);
  const wick = Math.max(1, Math.floor(dpr));
  byColor(candles, colors, (color, group) => {
    // A wick as wide as its body is drawn fainter.
    ctx.fillStyle = width > 1 ? color : faded(color, 0.6);
    for (const { x, high, low } of group)
      rect(f, x - (wick >> 1), high, wick, Math.max(1, low - high));
    ctx.fillStyle = color;
    for (const { x, top, bottom } of group)
      rect(f, x - (width >> 1), top, width, Math.max(1, bottom - top));
  });
}

/**
 * @param {Frame} frame
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @param {number} height
 */
function rect({ ctx, dpr }, left, top, width, height) {
  if (height > 0) ctx.fillRect(left / dpr, top / dpr, width / dpr, height / dpr);
}

/**
 * The candles of an indicator, whose wicks and borders may have colours of their own.
 * @param {Frame} f
 * @param {CandlesPlot} plot
 */
export function drawCandles(f, plot) {
  const candles = place(f, plot);
  const bodies = colorsOf(plot.color, candles, f.theme);
  if (!plot.wick_color && !plot.border_color) return drawPlain(f, candles, bodies);
  const { ctx, dpr } = f;
  const width = bodyWidth(f.step * barsPerGroup(f.step) * dpr);
  const thin = Math.max(1, Math.floor(dpr));
  const wicks = plot.wick_color ? colorsOf(plot.wick_color, candles, f.theme) : bodies;
  byColor(candles, wicks, (color, group) => {
    ctx.fillStyle = color;
    for (const { x, high, low, top, bottom } of group) {
      const end = Math.max(bottom, top + 1);
      rect(f, x - (thin >> 1), high, thin, top - high);
      rect(f, x - (thin >> 1), end, thin, low - end);
    }
  });
  byColor(candles, bodies, (color, group) => {
    ctx.fillStyle = color;
    for (const { x, top, bottom } of group)
      rect(f, x - (width >> 1), top, width, Math.max(1, bottom - top));
  });
  if (!plot.border_color) return;
  byColor(candles, colorsOf(plot.border_color, candles, f.theme), (color, group) => {
    ctx.fillStyle = color;
    for (const { x, top, bottom } of group) {
      const left = x - (width >> 1);
      const height = Math.max(1, bottom - top);
      rect(f, left, top, width, thin);
      if (height > thin) rect(f, left, top + height - thin, width, thin);
      if (height > 2 * thin) {
        rect(f, left, top + thin, thin, height - 2 * thin);
        rect(f, left + width - thin, top + thin, thin, height - 2 * thin);
      }
    }
  });
}
