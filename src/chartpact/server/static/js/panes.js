// The panes of a chart: what each shows, and which values are in view.
import { widen } from "./columns.js";

export const WEIGHTS = { price: 4.6, volume: 0.95, panel: 1.2, error: 0.7 };
const OVERREACH = 0.4; // how far overlays may stretch the range of prices
const LEAST_SHARE = 0.5; // of a panel that levels leave to what is drawn
/** @type {(keyof Objects)[]} */
const CHANNELS = ["labels", "lines", "boxes", "tables", "polylines"];

/** @param {Pane["kind"]} kind */
function makePane(kind) {
  /** @type {Objects} */
  const objects = { labels: [], lines: [], boxes: [], tables: [], polylines: [] };
  /** @type {Pane} */
  const pane = { kind, scenes: [], indicators: [], linefills: [], ...objects };
  return pane;
}

/**
 * Adds the objects of a scene: all, or those that are forced over the price, or the others.
 * @param {Pane} pane
 * @param {Scene} scene
 * @param {boolean} [forced]
 */
function addObjects(pane, scene, forced) {
  /** @param {any} drawn */
  const fits = (drawn) => forced === undefined || !!drawn.force_overlay === forced;
  for (const channel of CHANNELS) {
    /** @type {any[]} */
    const drawn = scene[channel] ?? [];
    /** @type {any[]} */ (pane[channel]).push(...drawn.filter(fits));
  }
  const lines = new Map((scene.lines ?? []).map((/** @type {DrawnLine} */ line) => [line.id, line]));
  for (const fill of scene.linefills ?? []) {
    const one = lines.get(fill.line1);
    const other = lines.get(fill.line2);
    if (one && other && fits(one)) pane.linefills.push({ one, other, color: fill.color });
  }
}

/**
 * The panes from top to bottom: price, volume, then every panel and every failure in order.
 * @param {ChartData} chart
 */
export function panesOf(chart, volume = true) {
  const price = makePane("price");
  const panes = [price];
  if (volume && chart.bars.volume.some(Number.isFinite)) panes.push(makePane("volume"));
  for (const drawn of chart.indicators) {
    if (drawn.hidden) continue;
    if (!drawn.scene) {
      const pane = makePane("error");
      pane.failed = drawn;
      panes.push(pane);
    } else if (drawn.overlay) {
      price.scenes.push(drawn.scene);
      price.indicators.push(drawn);
      addObjects(price, drawn.scene);
    } else {
      const pane = makePane("panel");
      pane.scenes.push(drawn.scene);
      pane.indicators.push(drawn);
      addObjects(pane, drawn.scene, false);
      addObjects(price, drawn.scene, true);
      panes.push(pane);
    }
  }
  return panes;
}

/** @type {Record<string, (plot: any, first: number, last: number, range: Span) => void>} */
const SEEN = {
  line: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => {
    widen(range, plot.values, first, last);
    if (plot.style === "histogram" || plot.style === "columns") include(range, 0);
  },
  bars: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => {
    widen(range, plot.values, first, last);
    include(range, plot.base);
  },
  fill: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => {
    widen(range, plot.a, first, last);
    widen(range, plot.b, first, last);
  },
  candles: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => {
    widen(range, plot.high, first, last);
    widen(range, plot.low, first, last);
  },
  dot: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => includePoints(plot, first, last, range),
  shape: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => {
    if (plot.location === "absolute") includePoints(plot, first, last, range);
  },
  divline: (/** @type {any} */ plot, /** @type {number} */ first, /** @type {number} */ last, /** @type {Span} */ range) => {
    if (Math.max(plot.x1, plot.x2) < first || Math.min(plot.x1, plot.x2) > last) return;
    include(range, plot.y1);
    include(range, plot.y2);
  },
};

/**
 * @param {Span} range
 * @param {number | null} value
 */
function include(range, value) {
  if (value === null || !Number.isFinite(value)) return;
  if (value < range[0]) range[0] = value;
  if (value > range[1]) range[1] = value;
}

/**
 * @param {any} plot
 * @param {number} first
 * @param {number} last
 * @param {Span} range
 */
function includePoints(plot, first, last, range) {
  for (let i = 0; i < plot.x.length; i++)
    if (plot.x[i] >= first && plot.x[i] <= last) include(range, plot.y[i]);
}

/**
 * @param {Pane} pane
 * @param {number} first
 * @param {number} last
 * @param {Clock} clock
 * @param {Span} range
 */
function includeObjects(pane, first, last, clock, range) {
  /** @param {...Anchor} anchors */
  const isSeen = (...anchors) => {
    const bars = anchors.map((anchor) => clock.bar(anchor)).filter((bar) => bar !== null);
    return bars.length && Math.max(...bars) >= first && Math.min(...bars) <= last;
  };
  /** @param {...(number | null)} values */
  const add = (...values) => values.forEach((value) => include(range, value));
  for (const label of pane.labels) if (label.yloc === "price" && isSeen(label.x)) add(label.y);
  for (const line of pane.lines)
    if (line.extend === "none" && isSeen(line.x1, line.x2)) add(line.y1, line.y2);
  for (const box of pane.boxes) if (isSeen(box.left, box.right)) add(box.top, box.bottom);
  for (const { points } of pane.polylines)
    for (const point of points)
      if (point.bar >= first && point.bar <= last) include(range, point.y);
}

/**
 * @param {Pane} pane
 * @param {number} first
 * @param {number} last
 * @param {Clock} clock
 */
function drawnRange(pane, first, last, clock) {
  /** @type {Span} */
  const range = [Infinity, -Infinity];
  for (const scene of pane.scenes)
    for (const plot of scene.plots) SEEN[plot.kind]?.(plot, first, last, range);
  includeObjects(pane, first, last, clock, range);
  return range;
}

/** @param {Pane} pane */
function levelsOf(pane) {
  const plots = pane.scenes.flatMap((/** @type {Scene} */ scene) => scene.plots);
  return plots.flatMap((/** @type {any} */ plot) =>
    plot.kind === "hline"
      ? [plot.y]
      : plot.kind === "hbar"
        ? [plot.y - plot.height / 2, plot.y + plot.height / 2]
        : [],
  );
}

/**
 * A panel's range with its levels, the nearest first, while the drawing stays large.
 * @param {Span} range
 * @param {number[]} levels
 * @returns {Span | null}
 */
function reachLevels([low, high], levels) {
  if (!(low <= high)) return levels.length ? [Math.min(...levels), Math.max(...levels)] : null;
  const size = high - low;
  /** @param {number} level */
  const distance = (level) => Math.max(low - level, level - high);
  for (const level of [...levels].sort((a, b) => distance(a) - distance(b))) {
    const wider = [Math.min(low, level), Math.max(high, level)];
    if (size && wider[1] - wider[0] > size / LEAST_SHARE) break;
    [low, high] = wider;
  }
  return [low, high];
}

/**
 * The lowest and the highest value of a pane between two bars; null where it has none.
 * @param {Pane} pane
 * @param {ChartData} chart
 * @param {Clock} clock
 * @param {number} first
 * @param {number} last
 * @returns {Span | null}
 */
export function rangeOf(pane, chart, clock, first, last) {
  const { bars } = chart;
  /** @type {Span | null} */
  let range;
  if (pane.kind === "volume") {
    range = [0, 1];
    widen(range, bars.volume, first, last);
  } else if (pane.kind === "price") {
    /** @type {Span} */
    const prices = [Infinity, -Infinity];
    widen(prices, bars.low, first, last);
    widen(prices, bars.high, first, last);
    if (!(prices[0] <= prices[1])) return null;
    const drawn = drawnRange(pane, first, last, clock);
    const reach = OVERREACH * (prices[1] - prices[0]);
    range = [...prices];
    if (drawn[0] <= drawn[1]) {
      range[0] = Math.min(prices[0], Math.max(drawn[0], prices[0] - reach));
      range[1] = Math.max(prices[1], Math.min(drawn[1], prices[1] + reach));
    }
  } else {
    const fixed = pane.scenes.find((/** @type {Scene} */ scene) => scene.y_range)?.y_range;
    range = fixed ? [...fixed] : reachLevels(drawnRange(pane, first, last, clock), levelsOf(pane));
    if (!range) return null;
  }
  const [low, high] = range;
  if (high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high))) return range;
  const room = high ? Math.abs(high) * 0.01 : 1;
  return [low - room, high + room];
}

const POINTS_DOWN = ["label_down", "label_lower_left", "label_lower_right"];
const POINTS_UP = ["label_up", "label_upper_left", "label_upper_right"];
/** @type {Record<string, number>} */
const SIZES = { auto: 12, tiny: 7, small: 10, normal: 12, large: 18, huge: 24 };

/**
 * The pixels that labels need above and below the values of a pane.
 * @param {Pane} pane
 */
export function labelRoom(pane) {
  let above = 0;
  let below = 0;
  for (const label of pane.labels) {
    const size = typeof label.size === "number" ? label.size : SIZES[label.size];
    const lines = label.text ? label.text.split("\n").length : 0;
    const tall = Math.min(size * 1.3 * lines + size, 90);
    const price = label.yloc === "price";
    if (label.yloc === "abovebar" || (price && POINTS_DOWN.includes(label.style)))
      above = Math.max(above, tall);
    else if (label.yloc === "belowbar" || POINTS_UP.includes(label.style))
      below = Math.max(below, tall);
  }
  return [above, below];
}

/**
 * How many bars right of the last one something is drawn on.
 * @param {Pane[]} panes
 * @param {ChartData} chart
 * @param {Clock} clock
 */
export function barsAhead(panes, chart, clock) {
  const last = chart.count - 1;
  let furthest = 0;
  /** @param {number | null} bar */
  const reach = (bar) => {
    if (bar !== null && Number.isFinite(bar)) furthest = Math.max(furthest, bar - last);
  };
  for (const pane of panes) {
    for (const scene of pane.scenes)
      for (const plot of scene.plots)
        if ("values" in plot) reach(plot.values.length - 1);
        else if (plot.kind === "fill") reach(plot.a.length - 1);
    for (const label of pane.labels) reach(clock.bar(label.x));
    for (const line of pane.lines) [line.x1, line.x2].forEach((x) => reach(clock.bar(x)));
    for (const box of pane.boxes) [box.left, box.right].forEach((x) => reach(clock.bar(x)));
    for (const { points } of pane.polylines) points.forEach((/** @type {{ bar: number, y: number }} */ point) => reach(point.bar));
  }
  return Math.min(Math.ceil(furthest), Math.max(40, chart.count >> 1));
}
