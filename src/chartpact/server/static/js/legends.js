// Legends: what each pane shows and its values under the crosshair, as elements over the canvas.
import { colorAt } from "./chartview.js";
import { legible } from "./colors.js";
import { el, icon, iconButton, render } from "./dom.js";
import { formatCompact, formatNumber, formatValue } from "./numbers.js";

const MOST_VALUES = 6;

/** @typedef {{ hide: (drawn: Drawn) => unknown, remove: (drawn: Drawn) => unknown, settings: (drawn: Drawn) => unknown }} Acts */

export class Legends {
  /**
   * @param {HTMLElement} host
   * @param {ChartView} view
   * @param {Acts | null} acts what the buttons of a row do
   */
  constructor(host, view, acts = null) {
    this.host = host;
    this.view = view;
    this.acts = acts;
    /** @type {number[] | null} */
    this.heights = null; // of the legends as they are; to read them makes the browser lay out
    view.legendHeight = (index) => {
      this.heights ??= this.legends.map((legend) => legend.offsetHeight);
      return (this.heights[index] ?? 18) + 6;
    };
    view.onCrosshair = (bar) => this.write(bar);
    view.onLayout = () => this.place();
  }

  /** @returns {HTMLElement[]} */
  get legends() {
    return /** @type {HTMLElement[]} */ ([...this.host.children]);
  }

  /**
   * Writes the values of a bar, or of the last one.
   * @param {number | null} bar
   */
  write(bar) {
    const { view, host } = this;
    const { data, panes } = view;
    if (!data) return;
    const last = data.count - 1;
    const at = bar === null ? last : Math.max(0, Math.min(Math.round(bar), last));
    while (host.children.length > panes.length) host.lastChild?.remove();
    while (host.children.length < panes.length) host.append(el("div", { class: "legend" }));
    panes.forEach((pane, i) => render(host.children[i], ...this.rows(pane, i, at)));
    this.heights = null;
  }

  /**
   * @param {Pane} pane
   * @param {number} index
   * @param {number} bar
   */
  rows(pane, index, bar) {
    const rows = [];
    if (pane.kind === "price") rows.push(this.priceRow(bar), ...this.comparedRows(bar));
    if (pane.kind === "volume") {
      const { volume } = this.view.data.bars;
      const amount = el("span", { class: this.direction(bar) }, formatCompact(volume[bar]));
      rows.push(row("", "Volume", amount));
    }
    if (pane.kind === "error" && pane.failed) rows.push(errorCard(pane.failed, this.acts));
    for (const drawn of pane.indicators) rows.push(this.indicatorRow(drawn, index, bar));
    return rows;
  }

  /** @param {number} bar */
  direction(bar) {
    const { open, close } = this.view.data.bars;
    return close[bar] >= open[bar] ? "up" : "down";
  }

  /** @param {number} bar */
  priceRow(bar) {
    const { data, decimals } = this.view;
    const { bars } = data;
    const way = this.direction(bar);
    const pieces = [el("b", {}, `${data.symbol} · ${data.timeframe}`)];
    if (data.synthetic) pieces.push(el("span", { class: "badge" }, "synthetic"));
    /** @type {[string, Float64Array][]} */
    const columns = [["O", bars.open], ["H", bars.high], ["L", bars.low], ["C", bars.close]];
    for (const [letter, column] of columns)
      pieces.push(
        el("span", { class: letter === "O" ? "letter first" : "letter" }, letter),
        el("span", { class: way }, formatNumber(column[bar], decimals)),
      );
    const before = bar ? bars.close[bar - 1] : bars.open[bar];
    const change = bars.close[bar] - before;
    if (Number.isFinite(change)) {
      const sign = change > 0 ? "+" : "";
      const share = `${sign}${formatNumber((100 * change) / Math.abs(before || 1), 2)}%`;
      const amount = el("span", { class: "wide" }, `${sign}${formatNumber(change, decimals)} `);
      pieces.push(el("span", { class: way }, amount, share));
    }
    return row("price", ...pieces);
  }

  /** @param {number} bar */
  comparedRows(bar) {
    const { compared, theme } = this.view;
    return compared.map(({ symbol, color, close }) => {
      const value = el("span", {}, formatValue(close[bar]));
      value.style.color = legible(color, theme.background, 4.5);
      return row(symbol, symbol, value);
    });
  }

  /**
   * @param {Drawn} drawn
   * @param {number} index
   * @param {number} bar
   */
  indicatorRow(drawn, index, bar) {
    const { view } = this;
    const values = [];
    for (const plot of drawn.scene?.plots ?? []) {
      if ((plot.kind !== "line" && plot.kind !== "bars") || !plot.title) continue;
      const value = plot.values[bar];
      const color = colorAt(plot, bar, view.theme);
      if (value !== value || !color || values.length >= MOST_VALUES) continue;
      const text = index ? formatValue(value) : formatNumber(value, view.decimals);
      const span = el("span", { title: plot.title }, text);
      span.style.color = legible(color, view.theme.background, 4.5);
      values.push(span);
    }
    return row(drawn.id, el("bdi", {}, drawn.legend), ...values, this.acts && buttons(drawn, this.acts));
  }

  /**
   * Writes the legends on a picture of the chart.
   * @param {CanvasRenderingContext2D} ctx
   * @param {number} scale pixels of the picture to one of the page
   */
  paint(ctx, scale) {
    const origin = this.view.host.getBoundingClientRect();
    ctx.save();
    ctx.scale(scale, scale);
    ctx.textBaseline = "middle";
    for (const piece of this.host.querySelectorAll("b, bdi, .legend-row > span:not(.legend-acts)")) {
      const box = piece.getBoundingClientRect();
      if (!box.width || !(piece instanceof HTMLElement)) continue;
      const { color, fontWeight, fontSize, fontFamily } = getComputedStyle(piece);
      ctx.fillStyle = color;
      ctx.font = `${fontWeight} ${fontSize} ${fontFamily}`;
      ctx.fillText(piece.textContent ?? "", box.left - origin.left, box.top - origin.top + box.height / 2);
    }
    ctx.restore();
  }

  /** Puts each legend at the top of its pane, and tells the chart what they cover. */
  place() {
    const { view } = this;
    this.heights = null;
    if (!view.chart) return;
    const top = view.host.getBoundingClientRect().top;
    view.chart.panes().forEach((pane, i) => {
      const box = pane.getHTMLElement()?.getBoundingClientRect();
      const legend = this.legends[i];
      if (legend && box) legend.style.top = `${box.top - top + 6}px`;
    });
    view.legendAreas = this.legends.map((legend) =>
      [...legend.children].map((line) => {
        const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = /** @type {HTMLElement} */ (line);
        return {
          left: offsetLeft + 4,
          top: offsetTop + 6,
          right: offsetLeft + offsetWidth + 8,
          bottom: offsetTop + offsetHeight + 6,
        };
      }),
    );
  }
}

/**
 * @param {string} key
 * @param {(Node | string | null | undefined | false)[]} pieces
 */
const row = (key, ...pieces) => el("div", { class: "legend-row", "data-key": key }, ...pieces);

/**
 * @param {Drawn} drawn
 * @param {Acts} acts
 */
const buttons = (drawn, acts) =>
  el(
    "span",
    { class: "legend-acts" },
    iconButton("eye", `Hide ${drawn.legend}`, () => acts.hide(drawn)),
    iconButton("gear", `Settings of ${drawn.legend}`, () => acts.settings(drawn)),
    iconButton("x", `Take ${drawn.legend} off the chart`, () => acts.remove(drawn)),
  );

/**
 * @param {Drawn} failed
 * @param {Acts | null} acts
 */
function errorCard(failed, acts) {
  const { message, hint, line } = failed.error ?? { message: "it drew nothing", hint: "", line: null };
  const place = line ? `line ${line}: ` : "";
  return el(
    "div",
    { class: "error-card", role: "alert" },
    icon("error"),
    el("p", {}, `${failed.name}: ${place}${message}`, hint ? el("small", {}, hint) : null),
    acts && iconButton("x", `Take ${failed.name} off the chart`, () => acts.remove(failed)),
  );
}
