// @ts-nocheck
// Legends: what each pane shows and its values under the crosshair, as elements over the canvas.
import { colorAt } from "./chartview.js";
import { legible } from "./colors.js";
import { el, icon } from "./dom.js";
import { formatCompact, formatNumber, formatValue } from "./numbers.js";

const MOST_VALUES = 6;

export class Legends {
  /**
   * @param {HTMLElement} host
   * @param {ChartView} view
   */
  constructor(host, view) {
    this.host = host;
    this.view = view;
    this.heights = null; // of the legends as they are; to read them makes the browser lay out
    view.legendHeight = (/** @type {number} */ index) => {
      this.heights ??= [...host.children].map((legend) => legend.offsetHeight);
      return (this.heights[index] ?? 18) + 6;
    };
    view.onCrosshair = (/** @type {number | null} */ bar) => this.write(bar);
    view.onLayout = () => this.place();
  }

  /**
   * Writes the values of a bar, or of the last one.
   * @param {number | null} bar
   */
  write(bar) {
    const { view, host } = this;
    const { data, panes } = view;
    const last = data.count - 1;
    const at = bar === null ? last : Math.max(0, Math.min(Math.round(bar), last));
    while (host.children.length > panes.length) host.lastChild.remove();
    while (host.children.length < panes.length) host.append(el("div", { class: "legend" }));
    panes.forEach((/** @type {Pane} */ pane, /** @type {number} */ i) => host.children[i].replaceChildren(...this.rows(pane, i, at)));
    this.heights = null;
  }

  /**
   * @param {Pane} pane
   * @param {number} index
   * @param {number | null} bar
   */
  rows(pane, index, bar) {
    const rows = [];
    if (pane.kind === "price") rows.push(this.priceRow(bar));
    if (pane.kind === "volume") {
      const { volume } = this.view.data.bars;
      const amount = el("span", { class: this.direction(bar) }, formatCompact(volume[bar]));
      rows.push(row("Volume", amount));
    }
    if (pane.kind === "error") rows.push(errorCard(pane.failed));
    for (const drawn of pane.indicators) rows.push(this.indicatorRow(drawn, index, bar));
    return rows;
  }

  /** @param {number | null} bar */
  direction(bar) {
    const { open, close } = this.view.data.bars;
    return close[bar] >= open[bar] ? "up" : "down";
  }

  /** @param {number | null} bar */
  priceRow(bar) {
    const { data, decimals } = this.view;
    const { bars } = data;
    const way = this.direction(bar);
    const pieces = [el("b", {}, `${data.symbol} · ${data.timeframe}`)];
    if (data.synthetic) pieces.push(el("span", { class: "badge" }, "synthetic"));
    for (const [letter, column] of Object.entries({ O: "open", H: "high", L: "low", C: "close" })) {
      const wide = letter === "C" ? "" : " wide";
      pieces.push(
        el("span", { class: `letter${wide}` }, letter),
        el("span", { class: way + wide }, formatNumber(bars[column][bar], decimals)),
      );
    }
    const before = bar ? bars.close[bar - 1] : bars.open[bar];
    const change = bars.close[bar] - before;
    if (Number.isFinite(change)) {
      const sign = change > 0 ? "+" : "";
      const share = `${sign}${formatNumber((100 * change) / Math.abs(before || 1), 2)}%`;
      const amount = el("span", { class: "wide" }, `${sign}${formatNumber(change, decimals)} `);
      pieces.push(el("span", { class: way }, amount, share));
    }
    return row(...pieces);
  }

  /**
   * @param {Drawn} drawn
   * @param {number} index
   * @param {number | null} bar
   */
  indicatorRow(drawn, index, bar) {
    const { view } = this;
    const values = [];
    for (const plot of drawn.scene.plots) {
      if ((plot.kind !== "line" && plot.kind !== "bars") || !plot.title) continue;
      const value = plot.values[bar];
      const color = colorAt(plot, bar, view.theme);
      if (value !== value || !color || values.length >= MOST_VALUES) continue;
      const text = index ? formatValue(value) : formatNumber(value, view.decimals);
      const span = el("span", { title: plot.title }, text);
      span.style.color = legible(color, view.theme.background, 4.5);
      values.push(span);
    }
    return row(drawn.legend, ...values);
  }

  /** Puts each legend at the top of its pane, and tells the chart what they cover. */
  place() {
    const { view, host } = this;
    this.heights = null;
    if (!view.chart) return;
    const top = view.host.getBoundingClientRect().top;
    view.chart.panes().forEach((/** @type {Pane} */ pane, /** @type {number} */ i) => {
      const box = pane.getHTMLElement()?.getBoundingClientRect();
      const legend = host.children[i];
      if (legend && box) legend.style.top = `${box.top - top + 6}px`;
    });
    view.legendAreas = [...host.children].map((legend) =>
      [...legend.children].map((line) => ({
        left: line.offsetLeft + 4,
        top: line.offsetTop + 6,
        right: line.offsetLeft + line.offsetWidth + 8,
        bottom: line.offsetTop + line.offsetHeight + 6,
      })),
    );
  }
}

/** @param {...any} pieces */
const row = (...pieces) => el("div", { class: "legend-row" }, ...pieces);

/** @param {Drawn} failed */
function errorCard(failed) {
  const { message, hint, line } = failed.error ?? { message: "it drew nothing" };
  const place = line ? `line ${line}: ` : "";
  return el(
    "div",
    { class: "error-card", role: "alert" },
    icon("error"),
    el("p", {}, `${failed.name}: ${place}${message}`, hint ? el("small", {}, hint) : null),
  );
}
