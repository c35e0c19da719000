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
 * The chart's own prices; the last indicator that colours a bar decides.
 * @param {Frame} f
 * @param {Bars} bars
 * @param {BarColorPlot[]} tints
 * @param {Look["candles"]} kind
 */
export function drawPrices(f, bars, tints, kind = "candles") {
  const candles = place(f, kind === "heikin" ? heikin(bars) : bars);
  const colors = colorsOf("auto", candles, f.theme);
  for (const tint of tints)
    colorsOf(tint.color, candles, f.theme).forEach((color, i) => {
      if (color) colors[i] = color;
    });
  if (kind === "bars") drawTicks(f, candles, colors, bars);
  else if (kind === "hollow") drawHollow(f, candles, colors);
  else drawPlain(f, candles, colors);
}

/** @type {WeakMap<Float64Array, Prices>} */
const averaged = new WeakMap();

/**
 * Heikin-Ashi: candles of averages. They are drawn alone; what is computed has the bars.
 * @param {Bars} bars
 * @returns {Prices}
 */
export function heikin(bars) {
  const known = averaged.get(bars.close);
  // Earlier bars are loaded later: the averages are made again then.
  if (known && known.open.length === bars.length && (known.close[0] === known.close[0]) === (bars.close[0] === bars.close[0]))
    return known;
  const make = () => new Float64Array(bars.length);
  const made = { open: make(), high: make(), low: make(), close: make() };
  for (let i = 0; i < bars.length; i++) {
    const close = (bars.open[i] + bars.high[i] + bars.low[i] + bars.close[i]) / 4;
    const before = i ? (made.open[i - 1] + made.close[i - 1]) / 2 : NaN;
    const open = before === before ? before : (bars.open[i] + bars.close[i]) / 2;
    made.open[i] = open;
    made.close[i] = close;
    made.high[i] = Math.max(bars.high[i], open, close);
    made.low[i] = Math.min(bars.low[i], open, close);
  }
  averaged.set(bars.close, made);
  return made;
}

/**
 * The bar that is still forming, paler than those that are closed.
 * @param {Frame} f
 * @param {Forming} forming
 * @param {number} bar its number
 */
export function drawForming(f, { open, high, low, close }, bar) {
  const width = bodyWidth(f.step);
  const x = f.snap(f.x(bar));
  f.ctx.fillStyle = faded(close >= open ? f.theme.up : f.theme.down, 0.55);
  f.rect(x - 0.5 / f.dpr, f.y(high), 1 / f.dpr, f.y(low) - f.y(high));
  f.rect(x - width / 2, f.y(Math.max(open, close)), width, Math.abs(f.y(open) - f.y(close)));
}

/**
 * Rising candles as outlines.
 * @param {Frame} f
 * @param {Candle[]} candles
 * @param {(string | null)[]} colors
 */
function drawHollow(f, candles, colors) {
  const wide = bodyWidth(f.step * barsPerGroup(f.step) * f.dpr);
  drawPlain(f, candles, colors);
  const thin = Math.max(1, Math.floor(f.dpr));
  if (wide < 3 * thin) return;
  f.ctx.fillStyle = f.theme.background;
  for (const { rising, x, top, bottom } of candles)
    if (rising) rect(f, x - (wide >> 1) + thin, top + thin, wide - 2 * thin, bottom - top - 2 * thin);
}

/**
 * Bars of four prices: a stroke from the lowest to the highest, the first at its left, the last at its right.
 * @param {Frame} f
 * @param {Candle[]} candles
 * @param {(string | null)[]} colors
 * @param {Prices} prices
 */
function drawTicks(f, candles, colors, { open, close }) {
  const { ctx, dpr } = f;
  const wide = bodyWidth(f.step * barsPerGroup(f.step) * dpr);
  const thin = Math.max(1, Math.floor(dpr));
  byColor(candles, colors, (color, group) => {
    ctx.fillStyle = color;
    for (const { first, last, x, high, low } of group) {
      rect(f, x - (thin >> 1), high, thin, Math.max(1, low - high));
      rect(f, x - (wide >> 1), Math.round(f.y(open[first]) * dpr), wide >> 1, thin);
      rect(f, x, Math.round(f.y(close[last]) * dpr), (wide >> 1) + thin, thin);
    }
  });
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
