// The panes of a chart: what each shows, and which values are in view.
import { widen } from "./columns.js";

export const WEIGHTS = { price: 4.6, volume: 0.95, panel: 1.2, error: 0.7 };
const OVERREACH = 0.4; // how far overlays may stretch the range of prices
const LEAST_SHARE = 0.5; // of a panel that levels leave to what is drawn
const CHANNELS = ["labels", "lines", "boxes", "tables", "polylines"];

function makePane(kind) {
  const pane = { kind, scenes: [], indicators: [], linefills: [] };
  for (const channel of CHANNELS) pane[channel] = [];
  return pane;
}

/** Adds the objects of a scene: all, or those that are forced over the price, or the others. */
function addObjects(pane, scene, forced) {
  const fits = (drawn) => forced === undefined || !!drawn.force_overlay === forced;
  for (const channel of CHANNELS) pane[channel].push(...(scene[channel] ?? []).filter(fits));
  const lines = new Map((scene.lines ?? []).map((line) => [line.id, line]));
  for (const fill of scene.linefills ?? []) {
    const one = lines.get(fill.line1);
    const other = lines.get(fill.line2);
    if (one && other && fits(one)) pane.linefills.push({ one, other, color: fill.color });
  }
}

/** The panes from top to bottom: price, volume, then every panel and every failure in order. */
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

const SEEN = {
  line: (plot, first, last, range) => {
    widen(range, plot.values, first, last);
    if (plot.style === "histogram" || plot.style === "columns") include(range, 0);
  },
  bars: (plot, first, last, range) => {
    widen(range, plot.values, first, last);
    include(range, plot.base);
  },
  fill: (plot, first, last, range) => {
    widen(range, plot.a, first, last);
    widen(range, plot.b, first, last);
  },
  candles: (plot, first, last, range) => {
    widen(range, plot.high, first, last);
    widen(range, plot.low, first, last);
  },
  dot: (plot, first, last, range) => includePoints(plot, first, last, range),
  shape: (plot, first, last, range) => {
    if (plot.location === "absolute") includePoints(plot, first, last, range);
  },
  divline: (plot, first, last, range) => {
    if (Math.max(plot.x1, plot.x2) < first || Math.min(plot.x1, plot.x2) > last) return;
    include(range, plot.y1);
    include(range, plot.y2);
  },
};

function include(range, value) {
  if (value === null || !Number.isFinite(value)) return;
  if (value < range[0]) range[0] = value;
  if (value > range[1]) range[1] = value;
}

function includePoints(plot, first, last, range) {
  for (let i = 0; i < plot.x.length; i++)
    if (plot.x[i] >= first && plot.x[i] <= last) include(range, plot.y[i]);
}

function includeObjects(pane, first, last, clock, range) {
  const isSeen = (...anchors) => {
    const bars = anchors.map((anchor) => clock.bar(anchor)).filter((bar) => bar !== null);
    return bars.length && Math.max(...bars) >= first && Math.min(...bars) <= last;
  };
  const add = (...values) => values.forEach((value) => include(range, value));
  for (const label of pane.labels) if (label.yloc === "price" && isSeen(label.x)) add(label.y);
  for (const line of pane.lines)
    if (line.extend === "none" && isSeen(line.x1, line.x2)) add(line.y1, line.y2);
  for (const box of pane.boxes) if (isSeen(box.left, box.right)) add(box.top, box.bottom);
  for (const { points } of pane.polylines)
    for (const point of points)
      if (point.bar >= first && point.bar <= last) include(range, point.y);
}

function drawnRange(pane, first, last, clock) {
  const range = [Infinity, -Infinity];
  for (const scene of pane.scenes)
    for (const plot of scene.plots) SEEN[plot.kind]?.(plot, first, last, range);
  includeObjects(pane, first, last, clock, range);
  return range;
}

function levelsOf(pane) {
  const plots = pane.scenes.flatMap((scene) => scene.plots);
  return plots.flatMap((plot) =>
    plot.kind === "hline"
      ? [plot.y]
      : plot.kind === "hbar"
        ? [plot.y - plot.height / 2, plot.y + plot.height / 2]
        : [],
  );
}

/** A panel's range with its levels, the nearest first, while the drawing stays large. */
function reachLevels([low, high], levels) {
  if (!(low <= high)) return levels.length ? [Math.min(...levels), Math.max(...levels)] : null;
  const size = high - low;
  const distance = (level) => Math.max(low - level, level - high);
  for (const level of [...levels].sort((a, b) => distance(a) - distance(b))) {
    const wider = [Math.min(low, level), Math.max(high, level)];
    if (size && wider[1] - wider[0] > size / LEAST_SHARE) break;
    [low, high] = wider;
  }
  return [low, high];
}

/** The lowest and the highest value of a pane between two bars; null where it has none. */
export function rangeOf(pane, chart, clock, first, last) {
  const { bars } = chart;
  let range;
  if (pane.kind === "volume") {
    range = [0, 1];
    widen(range, bars.volume, first, last);
  } else if (pane.kind === "price") {
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
    const fixed = pane.scenes.find((scene) => scene.y_range)?.y_range;
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
const SIZES = { auto: 12, tiny: 7, small: 10, normal: 12, large: 18, huge: 24 };

/** The pixels that labels need above and below the values of a pane. */
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

/** How many bars right of the last one something is drawn on. */
export function barsAhead(panes, chart, clock) {
  const last = chart.count - 1;
  let furthest = 0;
  const reach = (bar) => {
    if (bar !== null && Number.isFinite(bar)) furthest = Math.max(furthest, bar - last);
  };
  for (const pane of panes) {
    for (const scene of pane.scenes)
      for (const plot of scene.plots)
        for (const column of [plot.values, plot.a]) if (column) reach(column.length - 1);
    for (const label of pane.labels) reach(clock.bar(label.x));
    for (const line of pane.lines) [line.x1, line.x2].forEach((x) => reach(clock.bar(x)));
    for (const box of pane.boxes) [box.left, box.right].forEach((x) => reach(clock.bar(x)));
    for (const { points } of pane.polylines) points.forEach((point) => reach(point.bar));
  }
  return Math.min(Math.ceil(furthest), Math.max(40, chart.count >> 1));
}
