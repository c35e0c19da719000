// A chart on lightweight-charts: it keeps panes, scales, gestures and the crosshair; we draw.
import { drawForming, drawPrices } from "./candles.js";
import { faded, ink, over, THEMES } from "./colors.js";
import { Frame } from "./frame.js";
import { Highlights } from "./highlights.js";
import { decimalsOf, formatCompact, formatNumber, formatValue } from "./numbers.js";
import { drawObjects, drawPane } from "./pane.js";
import { barsAhead, labelRoom, panesOf, rangeOf, WEIGHTS } from "./panes.js";
import { columnsOf, DRAW } from "./plots.js";
import { widen } from "./columns.js";
import { shapeRoom } from "./shapes.js";
import { SANS } from "./texts.js";
import { Clock, formatsIn, scaleIn } from "./timescale.js";
import { createChartEx, CrosshairMode, LineSeries, PriceScaleMode, TickMarkType } from "./vendor.js";

/** @type {any} */
const UNKNOWN = null; // before a chart is shown
const TAG = 17; // pixels of a tag's height on the axis
const MOST_TAGS = 8; // of one pane

/** Draws everything of one pane; the series it is attached to carries the scale alone. */
class PanePainter {
  /**
   * @param {ChartView} view
   * @param {Pane} pane
   * @param {number} index
   */
  constructor(view, pane, index) {
    this.view = view;
    this.pane = pane;
    this.index = index;
    /** @type {Tag[]} */
    this.tags = [];
    this.drawMs = 0;
    this.canvas = { zOrder: () => "normal", renderer: () => ({ draw: (/** @type {any} */ on) => this.draw(on) }) };
    this.axis = { zOrder: () => "top", renderer: () => ({ draw: (/** @type {any} */ on) => this.drawTags(on) }) };
  }
  /** @param {any} given */
  attached({ chart, series, requestUpdate }) {
    this.chart = chart;
    this.series = series;
    this.requestUpdate = requestUpdate;
  }
  updateAllViews() {}
  paneViews() {
    return [this.canvas];
  }
  priceAxisPaneViews() {
    return this.view.exact ? [] : [this.axis];
  }

  get isLog() {
    return this.pane.kind === "price" && this.view.look.scale === "log";
  }

  /**
   * Where bars and values lie on the pane now; null before it has a size.
   * @param {CanvasRenderingContext2D} ctx
   * @param {{ width: number, height: number }} given
   * @param {number} dpr
   */
  frame(ctx, { width, height }, dpr) {
    const scale = this.chart.timeScale();
    const start = scale.logicalToCoordinate(0);
    if (start === null || !this.range) return null;
    const step = (scale.logicalToCoordinate(1000) - start) / 1000;
    const [low, high] = this.range;
    const [bottom, top] = [low, high].map((value) => this.series.priceToCoordinate(value));
    if (bottom === null || top === null) return null;
    const y = this.isLog ? logarithm(low, high, bottom, top) : straightness(low, high, bottom, top);
    // The library's coordinates of a bar lie one pixel left of its middle.
    const x = start + (this.view.exact?.shift ?? 1);
    return new Frame(
      ctx,
      width,
      height,
      dpr,
      x,
      step,
      y,
      Math.floor(-start / step - 1),
      Math.ceil((width - start) / step + 1),
      this.view.theme,
      this.view.clock,
    );
  }

  /** @param {any} target */
  draw(target) {
    const began = performance.now();
    target.useBitmapCoordinateSpace(
      (/** @type {any} */ { context: ctx, mediaSize, horizontalPixelRatio, verticalPixelRatio }) => {
        const frame = this.frame(ctx, mediaSize, horizontalPixelRatio);
        if (!frame || this.pane.kind === "error") return;
        ctx.save();
        ctx.scale(horizontalPixelRatio, verticalPixelRatio);
        ctx.beginPath();
        ctx.rect(0, 0, mediaSize.width, mediaSize.height);
        ctx.clip();
        drawPane(frame, this.pane, (/** @type {Frame} */ f) => this.view.drawBars(f, this.pane.kind));
        if (this.index === 0 && !this.view.exact) this.view.drawLastPrice(frame);
        const placed = drawObjects(frame, this.pane, this.view.legendAreas[this.index] ?? []);
        this.view.highlights.draw(frame, this.pane, placed);
        if (this.index === 0) this.view.drawings?.draw(frame);
        ctx.restore();
      },
    );
    this.drawMs = performance.now() - began;
  }

  /**
   * The range of values in view, with room for legends and labels, for the library to scale by.
   * @param {() => any} original
   */
  autoscale(original) {
    const visible = this.chart.timeScale().getVisibleLogicalRange();
    if (!visible || this.pane.kind === "error") return original();
    const { view, pane } = this;
    const exact = view.exact?.panes[this.index];
    if (exact) {
      this.range = [exact.low, exact.high];
      const top = exact.top + (this.index ? 1 : 0);
      const margins = { above: exact.from - top, below: exact.bottom - exact.to - 1 };
      return { priceRange: { minValue: exact.low, maxValue: exact.high }, margins };
    }
    const [first, last] = [Math.floor(visible.from), Math.ceil(visible.to)];
    const range = rangeOf(pane, view.data, view.clock, first, last);
    if (!range) return original();
    if (pane.kind === "price") view.includeMore(range, first, last);
    if (this.isLog && range[0] <= 0) range[0] = range[1] / 1000;
    this.range = range;
    const height = this.chart.panes()[this.index]?.getHeight() ?? 200;
    const shapes = pane.scenes.flatMap((/** @type {Scene} */ scene) => scene.plots).filter((/** @type {Plot} */ p) => p.kind === "shape");
    const [labelsAbove, labelsBelow] = labelRoom(pane);
    const [shapesAbove, shapesBelow] = shapeRoom(shapes);
    const above = view.legendHeight(this.index) + 6 + Math.max(labelsAbove, shapesAbove);
    const below = pane.kind === "volume" ? 0 : 8 + Math.max(labelsBelow, shapesBelow);
    return {
      priceRange: { minValue: range[0], maxValue: range[1] },
      margins: { above: Math.min(above, height * 0.45), below: Math.min(below, height * 0.25) },
    };
  }

  /**
   * Draws last values on the axis; that of the price stays, the others make room.
   * @param {any} target
   */
  drawTags(target) {
    target.useBitmapCoordinateSpace((/** @type {any} */ scope) => {
      const { context: ctx, mediaSize, horizontalPixelRatio, verticalPixelRatio } = scope;
      const tags = this.placeTags(mediaSize.height);
      ctx.save();
      ctx.scale(horizontalPixelRatio, verticalPixelRatio);
      ctx.font = `11px "${SANS}", sans-serif`;
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      for (const { y, ground, ink, text } of tags) {
        const top = Math.round(y - TAG / 2);
        ctx.fillStyle = ground;
        ctx.beginPath();
        ctx.roundRect(1, top, mediaSize.width - 1, TAG, 2);
        ctx.fill();
        ctx.fillStyle = ink;
        ctx.fillText(text, 8, top + TAG / 2 + 4);
      }
      ctx.restore();
    });
  }

  /** @param {number} height */
  placeTags(height) {
    const most = Math.max(1, Math.floor(height / TAG));
    const tags = this.tags
      .map((tag) => ({ ...tag, y: this.series.priceToCoordinate(tag.value) }))
      .filter(({ y }) => y !== null && y >= 0 && y <= height)
      .slice(0, most)
      .sort((a, b) => a.y - b.y);
    if (!tags.length) return tags;
    const [low, high] = [TAG / 2, height - TAG / 2];
    const pin = Math.max(
      0,
      tags.findIndex((tag) => tag.first),
    );
    tags[pin].y = Math.min(
      Math.max(tags[pin].y, low + pin * TAG),
      high - (tags.length - 1 - pin) * TAG,
    );
    for (let i = pin - 1; i >= 0; i--) tags[i].y = Math.min(tags[i].y, tags[i + 1].y - TAG);
    for (let i = pin + 1; i < tags.length; i++)
      tags[i].y = Math.max(tags[i].y, tags[i - 1].y + TAG);
    const lowest = tags[tags.length - 1];
    lowest.y = Math.min(lowest.y, high);
    for (let i = tags.length - 2; i > pin; i--)
      tags[i].y = Math.min(tags[i].y, tags[i + 1].y - TAG);
    return tags;
  }
}

/**
 * A pixel for each value between two of them.
 * @param {number} low
 * @param {number} high
 * @param {number} bottom
 * @param {number} top
 * @returns {(value: number) => number}
 */
const straightness = (low, high, bottom, top) => {
  const slope = (top - bottom) / (high - low);
  return (value) => bottom + (value - low) * slope;
};

/**
 * The same on a logarithmic scale; what is not above zero lies far below.
 * @param {number} low
 * @param {number} high
 * @param {number} bottom
 * @param {number} top
 * @returns {(value: number) => number}
 */
const logarithm = (low, high, bottom, top) => {
  const slope = (top - bottom) / Math.log(high / low);
  return (value) => (value > 0 ? bottom + Math.log(value / low) * slope : value === value ? bottom + 1e4 : value);
};

/**
 * The color of a plot at a bar, or null.
 * @param {any} plot
 * @param {number} bar
 * @param {Theme} theme
 */
export function colorAt(plot, bar, theme) {
  const { color } = plot;
  if (color && typeof color === "object")
    return color.palette[color.codes[Math.min(bar, color.codes.length - 1)]];
  if (color !== "auto") return color;
  return plot.values && plot.values[bar] < plot.values[Math.max(bar - 1, 0)]
    ? theme.down
    : theme.up;
}

/** A chart in an element; `exact` forces the geometry of a picture, for comparisons. */
export class ChartView {
  /**
   * @param {HTMLElement} host
   * @param {{ theme: "dark" | "light", zone?: string, exact?: Exact | null, barsShown?: number }} given
   */
  constructor(host, { theme, zone = "UTC", exact = null, barsShown = 150 }) {
    /** @type {ChartData} */
    this.data = UNKNOWN;
    /** @type {Clock} */
    this.clock = UNKNOWN;
    /** @type {Pane[]} */
    this.panes = [];
    /** @type {PanePainter[]} */
    this.painters = [];
    /** @type {ReturnType<typeof createChartEx>} */
    this.chart = UNKNOWN;
    this.shape = "";
    this.decimals = 2;
    this.ahead = 0;
    this.host = host;
    this.theme = THEMES[theme];
    this.zone = zone;
    this.exact = exact;
    this.barsShown = barsShown;
    /** @type {Look} */
    this.look = {};
    /** @type {Compared[]} */
    this.compared = [];
    /** @type {import("./drawings.js").Drawings | null} */
    this.drawings = null;
    /** @type {Forming | null} */
    this.forming = null; // a bar that has not closed
    /** @type {Area[][]} */
    this.legendAreas = [];
    /** @type {(index: number) => number} */
    this.legendHeight = () => 24;
    this.highlights = new Highlights(this);
    /** @type {(bar: number | null) => void} */
    this.onCrosshair = () => {};
    this.onLayout = () => {};
    /** @type {(heights: Record<string, number>) => void} */
    this.onHeights = () => {};
    /** @type {(range: { from: number, to: number }) => void} */
    this.onRange = () => {};
    this.watchHeights();
  }

  /** @returns {any} what the library draws and how; its types are wider than what it takes */
  options() {
    const { theme } = this;
    const label = theme === THEMES.dark ? "#363a45" : "#131722";
    const cross = { color: theme.muted, style: 3, width: 1, labelBackgroundColor: label };
    const formats = formatsIn(this.zone);
    /** @type {Record<number, (ms: number) => string>} */
    const ticks = {
      [TickMarkType.Year]: formats.year,
      [TickMarkType.Month]: formats.month,
      [TickMarkType.DayOfMonth]: formats.day,
      [TickMarkType.Time]: formats.minute,
      [TickMarkType.TimeWithSeconds]: formats.second,
    };
    return {
      layout: {
        background: { color: theme.background },
        textColor: theme.muted,
        fontFamily: `"${SANS}", system-ui, sans-serif`,
        fontSize: 11,
        attributionLogo: false, // it would add inline styles; the page has a link of its own
        panes: {
          separatorColor: theme.frame,
          separatorHoverColor: faded(theme.line, 0.25),
          enableResize: true,
        },
      },
      grid: {
        vertLines: { color: theme.grid, visible: !this.exact },
        horzLines: { color: theme.grid, visible: !this.exact },
      },
      crosshair: { mode: CrosshairMode.Normal, vertLine: cross, horzLine: cross },
      rightPriceScale: {
        borderColor: theme.frame,
        scaleMargins: { top: 0, bottom: 0 },
        minimumWidth: 60,
        entireTextOnly: true,
      },
      timeScale: {
        borderColor: theme.frame,
        timeVisible: true,
        secondsVisible: false,
        minBarSpacing: 0.01,
        rightOffset: 6,
        lockVisibleTimeRangeOnResize: true,
        minimumHeight: 27,
        tickMarkFormatter: (/** @type {any} */ time, /** @type {number} */ type) => ticks[type](time * 1000),
      },
      localization: { timeFormatter: (/** @type {any} */ time) => formats.full(time * 1000) },
      autoSize: true,
    };
  }

  /**
   * How the prices are drawn; it is seen with the next chart that is shown.
   * @param {Look} look
   */
  setLook(look) {
    this.look = look;
  }

  /**
   * Shows a chart; panes are made anew only where their list has changed.
   * @param {ChartData} data
   */
  show(data) {
    const place = this.data && this.chart ? this.placeInView(data) : null;
    if (this.forming && this.forming.time <= data.bars.time[data.count - 1]) this.forming = null;
    this.data = data;
    this.clock = new Clock(data.bars);
    this.panes = panesOf(data, !this.look.noVolume);
    this.decimals = data.tick_size ? decimalsOf(data.tick_size) : 2;
    this.ahead = barsAhead(this.panes, data, this.clock);
    const shape = [
      this.zone,
      data.symbol,
      data.timeframe,
      data.count,
      data.bars.time[0],
      this.ahead,
      this.look.scale,
      ...this.panes.map((pane) => pane.kind + pane.indicators.map((drawn) => drawn.id)),
    ].join(" ");
    if (shape === this.shape) {
      this.painters.forEach((painter, i) => (painter.pane = this.panes[i]));
      this.stretch();
      this.tagValues();
      this.redraw();
      return;
    }
    this.shape = shape;
    this.build();
    if (!place) this.showLast();
    else if ("time" in place) this.showTime(place.time, place.width);
    else this.chart.timeScale().setVisibleLogicalRange(place);
  }

  /**
   * What of another chart is to be in view: the same bars, the bars after them where those were the
   * last, the same time in another timeframe; null for another symbol.
   * @param {ChartData} data
   * @returns {{ from: number, to: number } | { time: number, width: number } | null}
   */
  placeInView(data) {
    const { data: before, clock, range } = this;
    if (before.symbol !== data.symbol) return null;
    const isAtEnd = range.to > before.count - 2;
    const width = range.to - range.from;
    if (before.timeframe !== data.timeframe)
      return isAtEnd ? null : { time: clock.timeOf(Math.round((range.from + range.to) / 2)), width };
    const moved = isAtEnd && before.count > 1 ? data.count - before.count : 0;
    if (before.bars.time[0] === data.bars.time[0] || isAtEnd)
      return { from: range.from + moved, to: range.to + moved };
    return { time: clock.timeOf(Math.round((range.from + range.to) / 2)), width };
  }

  /**
   * Moves the view so that a time is in its middle.
   * @param {number} time UTC ms
   */
  showTime(time, width = this.range.to - this.range.from) {
    const bar = this.clock.bar({ time }) ?? 0;
    this.chart.timeScale().setVisibleLogicalRange({ from: bar - width / 2, to: bar + width / 2 });
  }

  /**
   * Shows the bars between two times.
   * @param {[number, number]} times UTC ms
   */
  showTimes([from, to]) {
    const [first, last] = [this.clock.bar({ time: from }) ?? 0, this.clock.bar({ time: to }) ?? 0];
    if (last > first) this.chart.timeScale().setVisibleLogicalRange({ from: first, to: last });
  }

  /** @param {Compared[]} compared */
  setCompared(compared) {
    this.compared = compared;
    this.rescale();
  }

  /** @param {Forming | null} forming */
  setForming(forming) {
    this.forming = forming;
    this.tagValues();
    this.redraw();
  }

  /** Lets the library ask for the ranges of values again. */
  rescale() {
    for (const { series } of this.painters) series.priceScale().applyOptions({ autoScale: true });
    this.tagValues();
    this.redraw();
  }

  build() {
    this.destroy();
    const Scale = scaleIn(this.zone);
    this.chart = createChartEx(this.host, /** @type {any} */ (new Scale()), this.options());
    this.addPanes();
    this.stretch();
    this.tagValues();
    const scale = this.chart.timeScale();
    this.chart.subscribeCrosshairMove(({ logical }) => this.onCrosshair(logical ?? null));
    scale.subscribeVisibleLogicalRangeChange((range) => range && this.onRange(range));
    this.observer = new ResizeObserver(() => this.onLayout());
    for (const pane of this.chart.panes()) {
      const element = pane.getHTMLElement();
      if (element) this.observer.observe(element);
    }
    this.observer.observe(this.host);
  }

  /** Tells the heights of panes when somebody has dragged the line between two. */
  watchHeights() {
    const measure = () => (this.chart ? this.chart.panes().map((pane) => pane.getHeight()) : []);
    /** @type {number[]} */
    let before = [];
    this.host.addEventListener("pointerdown", () => (before = measure()), true);
    addEventListener("pointerup", () => {
      const now = measure();
      const isDragged = before.length === now.length && now.some((height, i) => Math.abs(height - before[i]) > 2);
      before = [];
      if (!isDragged) return;
      const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
      const unit = sum(this.panes.map(({ kind }) => WEIGHTS[kind])) / sum(now);
      const heights = { ...this.look.heights };
      this.panes.forEach((pane, i) => (heights[nameOf(pane, this.panes)] = +(now[i] * unit).toFixed(3)));
      this.onHeights(heights);
    });
  }

  // Apart from the listeners above, whose scope would keep every point.
  addPanes() {
    const { data } = this;
    const count = data.count + this.ahead;
    const points = Array.from({ length: count }, (_, i) => ({ time: this.clock.timeOf(i) / 1000 }));
    this.painters = this.panes.map((pane, index) => {
      const painter = new PanePainter(this, pane, index);
      const place = index ? this.chart.addPane(true) : this.chart.panes()[0];
      const mode = !index && this.look.scale === "log" ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal;
      const series = place.addSeries(LineSeries, this.carrier(painter));
      const value = pane.kind === "price" ? data.bars.close[data.count - 1] : 0;
      const ends = [points[0], points[count - 1]].map((point) => ({ ...point, value }));
      // The first pane's series has every time point; a scale needs a value at either end.
      series.setData(
        index ? ends : [ends[0], ...points.slice(1, -1), ...(count > 1 ? [ends[1]] : [])],
      );
      place.priceScale("right").applyOptions({ mode });
      series.attachPrimitive(/** @type {any} */ (painter));
      return painter;
    });
  }

  destroy() {
    this.observer?.disconnect();
    this.chart?.remove();
    this.chart = UNKNOWN;
  }

  /**
   * The options of the invisible series that gives a pane its scale.
   * @param {PanePainter} painter
   * @returns {any}
   */
  carrier(painter) {
    const { pane } = painter;
    const steps = { price: this.data.tick_size ?? 0.01, volume: 1, panel: 0.01, error: 1 };
    const fixed = () => pane.scenes.find((/** @type {Scene} */ scene) => scene.y_range)?.y_range;
    const formats = {
      price: (/** @type {number} */ value) => this.formatPrice(value),
      volume: formatCompact,
      error: () => "",
      panel: (/** @type {number} */ value) => {
        const range = fixed();
        if (range && (value > range[1] || value < range[0])) return "";
        return range && range[1] - range[0] >= 50 ? formatNumber(value, 0) : formatValue(value);
      },
    };
    const format = formats[pane.kind];
    /** @param {number} value */
    const isUnderTag = (value) => {
      const y = painter.series?.priceToCoordinate(value);
      return painter.tags.some(
        (/** @type {any} */ tag) => Math.abs(painter.series.priceToCoordinate(tag.value) - y) < 14,
      );
    };
    return {
      color: "transparent",
      lineVisible: false,
      pointMarkersVisible: false,
      lastValueVisible: false,
      priceLineVisible: false,
      crosshairMarkerVisible: false,
      autoscaleInfoProvider: (/** @type {() => any} */ original) =>
        painter.chart ? painter.autoscale(original) : original(),
      priceFormat: {
        type: "custom",
        minMove: steps[pane.kind],
        formatter: format,
        tickmarksFormatter: (/** @type {number[]} */ values) =>
          values.map((/** @type {number} */ value) => (isUnderTag(value) ? "" : format(value))),
      },
    };
  }

  stretch() {
    this.chart.panes().forEach((place, i) => {
      const { pane } = this.painters[i];
      const exact = this.exact?.panes[i];
      const height = this.look.heights?.[nameOf(pane, this.panes)] ?? WEIGHTS[pane.kind];
      place.setStretchFactor(exact ? exact.bottom - exact.top - (i ? 1 : 0) : height * 100);
    });
  }

  showLast(count = this.barsShown) {
    const last = this.data.count;
    const shown = Math.min(count, last);
    const room = Math.min(this.ahead, Math.max(40, shown / 2)) + Math.max(2, shown * 0.04);
    this.chart
      .timeScale()
      .setVisibleLogicalRange({ from: last - shown - 0.5, to: last - 0.5 + room });
  }

  /** The bars at the edges of the view. */
  get range() {
    return this.chart.timeScale().getVisibleLogicalRange() ?? { from: 0, to: 1 };
  }

  /**
   * Moves the view by a share of its width, or zooms it at its right edge.
   * @param {number} share
   */
  move(share) {
    const scale = this.chart.timeScale();
    const { from, to } = this.range;
    const by = share * (to - from);
    scale.setVisibleLogicalRange({ from: from + by, to: to + by });
  }
  /** @param {number} share */
  zoom(share) {
    const scale = this.chart.timeScale();
    const { from, to } = this.range;
    scale.setVisibleLogicalRange({ from: to - (to - from) * share, to });
  }

  /**
   * What keys do while the chart has the focus.
   * @param {KeyboardEvent} event
   */
  press(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.move(-0.1),
      ArrowRight: () => this.move(0.1),
      "+": () => this.zoom(0.85),
      "=": () => this.zoom(0.85),
      "-": () => this.zoom(1.15),
      End: () => this.showLast(),
      Home: () => this.showTime(this.data.bars.time[0]),
      PageUp: () => this.move(-0.9),
      PageDown: () => this.move(0.9),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    keys[event.key]();
    event.preventDefault();
  }

  /** @param {"dark" | "light"} name */
  setTheme(name) {
    this.theme = THEMES[name];
    if (!this.chart) return;
    this.chart.applyOptions(this.options());
    this.tagValues();
    this.redraw();
  }

  redraw() {
    for (const painter of this.painters) painter.requestUpdate?.();
  }

  /**
   * @param {Frame} frame
   * @param {Pane["kind"]} kind
   */
  drawBars(frame, kind) {
    const { bars } = this.data;
    if (kind === "volume") {
      const { volumeUp, volumeDown } = this.theme;
      const paint = {
        palette: [null, volumeUp, volumeDown],
        code: (/** @type {number} */ i) => (bars.close[i] >= bars.open[i] ? 1 : 2),
      };
      columnsOf(frame, bars.volume, 0, paint);
    }
    if (kind !== "price") return;
    const plots = this.panes.flatMap((pane) => pane.scenes).flatMap((scene) => scene.plots);
    const tints = plots.filter((plot) => plot.kind === "bar_color");
    const { candles } = this.look;
    const stroke = { kind: "line", values: bars.close, color: this.theme.line, width: 2, style: candles };
    if (candles === "line" || candles === "area") DRAW.line(frame, stroke);
    else drawPrices(frame, bars, tints, candles);
    if (this.forming) drawForming(frame, this.forming, this.data.count);
    const base = this.baseBar;
    for (const { color, close } of this.compared) {
      const share = bars.close[base] / close[base];
      const values = close.map((value) => value * share);
      DRAW.line(frame, { kind: "line", values, color, width: 2, style: "line", title: "" });
    }
  }

  /** The forming bar, or the last closed one. */
  get lastBar() {
    const { open, close } = this.data.bars;
    const last = this.data.count - 1;
    return this.forming ?? { open: open[last], close: close[last] };
  }

  /** The bar that shares of a percent scale and compared symbols are counted from: the first in view. */
  get baseBar() {
    return Math.min(Math.max(0, Math.ceil(this.range.from)), this.data.count - 1);
  }

  /** @param {number} value */
  formatPrice(value) {
    if (this.look.scale !== "percent") return formatNumber(value, this.decimals);
    const share = 100 * (value / this.data.bars.close[this.baseBar] - 1);
    return `${share > 0 ? "+" : ""}${formatNumber(share, 2)}%`;
  }

  /**
   * Widens a range of prices by the forming bar and the compared symbols in view.
   * @param {Span} range
   * @param {number} first
   * @param {number} last
   */
  includeMore(range, first, last) {
    if (this.forming && last >= this.data.count) {
      range[0] = Math.min(range[0], this.forming.low);
      range[1] = Math.max(range[1], this.forming.high);
    }
    const base = this.baseBar;
    for (const { close } of this.compared) {
      const own = [Infinity, -Infinity];
      widen(own, close, first, last);
      const share = this.data.bars.close[base] / close[base];
      if (!(own[0] <= own[1]) || !Number.isFinite(share)) continue;
      range[0] = Math.min(range[0], own[0] * share);
      range[1] = Math.max(range[1], own[1] * share);
    }
  }

  /** @param {Frame} frame */
  drawLastPrice(frame) {
    const { open, close } = this.lastBar;
    const y = Math.round(frame.y(close)) + 0.5;
    if (!(y >= 0 && y <= frame.height)) return;
    const { ctx, theme } = frame;
    ctx.strokeStyle = faded(close >= open ? theme.up : theme.down, 0.75);
    ctx.lineWidth = 1;
    ctx.lineCap = "butt";
    ctx.setLineDash([1, 2.5]);
    ctx.beginPath();
    ctx.moveTo(0, y);
    ctx.lineTo(frame.width, y);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** The last values that stand on the axes. */
  tagValues() {
    const { open, close } = this.lastBar;
    const last = this.data.count - 1;
    for (const painter of this.painters) {
      /** @type {Tag[]} */
      const tags = [];
      /**
       * @param {number} value
       * @param {string} color
       * @param {string} text
       */
      const add = (value, color, text, first = false) => {
        const ground = over(color, this.theme.background);
        tags.push({ value, text, ground, ink: ink(ground), first });
      };
      if (painter.index === 0) {
        add(close, close >= open ? this.theme.up : this.theme.down, this.formatPrice(close), true);
      }
      for (const plot of painter.pane.scenes.flatMap((/** @type {Scene} */ scene) => scene.plots)) {
        if ((plot.kind !== "line" && plot.kind !== "bars") || !plot.title) continue;
        const value = plot.values[last];
        const color = colorAt(plot, last, this.theme);
        if (value !== value || !color || tags.length >= MOST_TAGS) continue;
        add(value, color, painter.index ? formatValue(value) : this.formatPrice(value));
      }
      painter.tags = tags;
    }
  }
}

/**
 * The name that a pane keeps while its indicators' parameters change.
 * @param {Pane} pane
 * @param {Pane[]} panes
 */
function nameOf(pane, panes) {
  const name = (/** @type {Pane} */ one) => one.kind === "panel" ? `panel ${one.indicators[0].name}` : one.kind;
  const before = panes.slice(0, panes.indexOf(pane)).filter((one) => name(one) === name(pane)).length;
  return before ? `${name(pane)} ${before}` : name(pane);
}
