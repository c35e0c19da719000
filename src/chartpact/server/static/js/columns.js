// A chart as typed columns: what `POST /api/v1/charts/series` answers, whole or a range of bars.
import { BY_BAR, PAINTS } from "./facts.js";

const MAGIC = "cpact\0\u0001\n";
const HEADER = 24; // bytes: the magic, then the sizes of the JSON and of the arrays
/** @type {Record<string, any>} */
const ARRAYS = { d: Float64Array, q: BigInt64Array, H: Uint16Array, B: Uint8Array };
/** @type {Record<string, string>} */
const AHEAD = { values: "ahead", a: "a_ahead", b: "b_ahead" };
const PRICES = ["open", "high", "low", "close", "volume"];

/**
 * The head of an answer, with an array in the place of each column.
 * @param {ArrayBuffer} buffer
 */
function unpack(buffer) {
  const decoder = new TextDecoder();
  if (buffer.byteLength < HEADER || decoder.decode(new Uint8Array(buffer, 0, 8)) !== MAGIC)
    throw new Error("the answer is not a chart");
  const size = Number(new DataView(buffer).getBigUint64(8, true));
  const [head, shapes] = JSON.parse(decoder.decode(new Uint8Array(buffer, HEADER, size)));
  let at = HEADER + size;
  const columns = shapes.map((/** @type {[string, number]} */ [type, count]) => {
    const column = new ARRAYS[type](buffer, at, count);
    at += Math.ceil(column.byteLength / 8) * 8;
    return column;
  });
  return place(head, columns);
}

/**
 * A part of the head with the arrays that it names by their numbers.
 * @param {any} value
 * @param {any[]} columns
 * @returns {any}
 */
function place(value, columns) {
  if (value === null || typeof value !== "object") return value;
  if (value.$ !== undefined) return columns[value.$];
  for (const key of Object.keys(value)) value[key] = place(value[key], columns);
  return value;
}

/** Columns for all bars and those ahead, of which some values are known; equal ones are shared. */
class Spreader {
  /** @param {{ first: number, count: number }} given */
  constructor({ first, count }) {
    this.first = first;
    this.count = count;
    this.known = new Map();
  }

  /**
   * @param {Float64Array} values
   * @param {Float64Array} [ahead]
   */
  spread(values, ahead) {
    const key = `${values.byteOffset} ${ahead?.length ? ahead.byteOffset : ""}`;
    let column = this.known.get(key);
    if (column) return column;
    column = new Float64Array(this.count + (ahead?.length ?? 0)).fill(NaN);
    column.set(values, this.first);
    if (ahead) column.set(ahead, this.count);
    this.known.set(key, column);
    return column;
  }
}

/** @param {any} value */
const isPaint = (value) => value && typeof value === "object" && "palette" in value;
// Code 0 is "no colour": that of bars which have not been loaded.
/** @param {any} paint */
const palette = (paint) => [null, ...paint.palette];
/** @param {any} paint */
const texts = (paint) => Array.from(paint.codes, (code) => paint.palette[code]);

/**
 * @param {Uint16Array} codes
 * @param {any} paint
 * @param {number} first
 */
function setCodes(codes, paint, first) {
  for (let i = 0; i < paint.codes.length; i++) codes[first + i] = paint.codes[i] + 1;
}

/**
 * @param {any} paint
 * @param {number} first
 * @param {number} count
 * @param {boolean} perPoint
 */
function readPaint(paint, first, count, perPoint) {
  const codes = new Uint16Array(perPoint ? paint.codes.length : count);
  setCodes(codes, paint, perPoint ? 0 : first);
  return { palette: palette(paint), codes };
}

/**
 * @param {any} raw
 * @param {Spreader} spreader
 */
function readPlot(raw, spreader) {
  const { first, count } = spreader;
  const plot = { ...raw };
  const perPoint = raw.kind === "dot" || raw.kind === "shape";
  for (const name of BY_BAR[raw.kind] ?? [])
    plot[name] = spreader.spread(raw[name], raw[AHEAD[name]]);
  for (const name of PAINTS)
    if (isPaint(raw[name])) plot[name] = readPaint(raw[name], first, count, perPoint);
  if (isPaint(raw.label)) plot.label = texts(raw.label);
  if (isPaint(raw.text)) plot.text = texts(raw.text);
  return plot;
}

/**
 * A whole chart; `from` is the first bar whose values are known.
 * @param {ArrayBuffer} buffer
 * @returns {ChartData}
 */
export function readChart(buffer) {
  const head = unpack(buffer);
  const { first, count } = head;
  const spreader = new Spreader(head);
  // A copy: the column of the answer would keep the whole answer.
  /** @type {any} */
  const bars = { time: head.bars.time.slice(), length: count };
  for (const name of PRICES) bars[name] = spreader.spread(head.bars[name]);
  const indicators = head.indicators.map((/** @type {any} */ drawn) =>
    drawn.scene
      ? {
          ...drawn,
          scene: {
            ...drawn.scene,
            plots: drawn.scene.plots.map((/** @type {any} */ plot) => readPlot(plot, spreader)),
          },
        }
      : drawn,
  );
  return { ...head, bars, indicators, from: first };
}

/**
 * Puts the values of earlier bars into a chart; false where they are of other bars.
 * @param {ChartData} chart
 * @param {ArrayBuffer} buffer
 */
export function addPart(chart, buffer) {
  const part = unpack(buffer);
  if (part.count !== chart.count) return false;
  const { first } = part;
  const filled = new Map(); // where the values of each column came from
  /**
   * @param {any} owner
   * @param {string} name
   * @param {Float64Array} values
   */
  const fill = (owner, name, values) => {
    let column = owner[name];
    const source = filled.get(column);
    if (source === values.byteOffset) return;
    // Two columns that were equal so far part here.
    if (source !== undefined) column = owner[name] = column.slice();
    column.set(values, first);
    filled.set(column, values.byteOffset);
    extremes.delete(column);
  };
  for (const name of PRICES) fill(chart.bars, name, part.bars[name]);
  part.indicators.forEach((/** @type {any} */ drawn, /** @type {number} */ at) => {
    /** @type {any[]} */
    const plots = chart.indicators[at].scene?.plots ?? [];
    drawn.plots?.forEach((/** @type {any} */ raw, /** @type {number} */ number) => {
      const plot = plots[number];
      for (const name of BY_BAR[plot.kind] ?? []) fill(plot, name, raw[name]);
      for (const name of PAINTS)
        if (isPaint(raw[name])) setCodes(plot[name].codes, raw[name], first);
    });
  });
  chart.from = first;
  return true;
}

// Lowest and highest value of each block of bars, so that the range of a far view is cheap.
const BLOCK = 256;
const extremes = new WeakMap();

/** @param {Float64Array} column */
function blocksOf(column) {
  let known = extremes.get(column);
  if (known) return known;
  const count = Math.ceil(column.length / BLOCK);
  known = {
    low: new Float64Array(count).fill(Infinity),
    high: new Float64Array(count).fill(-Infinity),
  };
  for (let i = 0; i < column.length; i++) {
    const value = column[i];
    const block = Math.floor(i / BLOCK);
    if (value < known.low[block]) known.low[block] = value;
    if (value > known.high[block]) known.high[block] = value;
  }
  extremes.set(column, known);
  return known;
}

/**
 * Widens `range`, a pair, by the values of a column between two bars.
 * @param {Span | number[]} range
 * @param {Float64Array} column
 * @param {number} first
 * @param {number} last
 */
export function widen(range, column, first, last) {
  const { low, high } = blocksOf(column);
  last = Math.min(last, column.length - 1);
  for (let i = Math.max(0, first); i <= last;) {
    const whole = i % BLOCK === 0 && i + BLOCK - 1 <= last;
    const block = i / BLOCK;
    const bottom = whole ? low[block] : column[i];
    const top = whole ? high[block] : column[i];
    if (bottom < range[0]) range[0] = bottom;
    if (top > range[1]) range[1] = top;
    i += whole ? BLOCK : 1;
  }
}
