// The watchlist: symbols with their last price and change, kept for each user by the server.
import { get, getSeries, put, Refusal, say } from "./api.js";
import { readChart } from "./columns.js";
import { el, iconButton } from "./dom.js";
import { decimalsOf, formatNumber } from "./numbers.js";

const NAME = "watchlist"; // of the list that the page shows
const LOOK_MS = 30_000; // between two looks at the prices

export class Watchlist {
  /**
   * @param {Workbench} workbench
   * @param {() => void} onChange
   */
  constructor(workbench, onChange) {
    this.workbench = workbench;
    this.onChange = onChange;
    /** @type {string[] | null} null: it has not been asked for */
    this.symbols = null;
    /** @type {Map<string, { close: string, share: number | null } | null>} null: they could not be read */
    this.prices = new Map();
    this.lookedAt = -Infinity;
    this.isLooking = false;
  }

  /** The rows of the list, which is asked for when it is shown for the first time. */
  rows() {
    void this.look().catch(say);
    const { symbol } = this.workbench.state;
    const shown = (this.symbols ?? []).map((one) => this.row(one));
    if (this.symbols && !this.symbols.includes(symbol))
      shown.push(
        el(
          "li",
          { class: "quiet empty", "data-key": "add" },
          this.symbols.length ? "" : "Nothing is watched yet. ",
          el("button", { type: "button", class: "link", onclick: () => this.toggle(symbol) }, `Watch ${symbol}`),
        ),
      );
    return shown.length ? shown : [el("li", { class: "quiet empty", "data-key": "empty" }, "Loading…")];
  }

  /** @param {string} symbol */
  row(symbol) {
    const { workbench } = this;
    const price = this.prices.get(symbol);
    const share = price?.share ?? null;
    const way = share === null ? "" : share < 0 ? "down" : "up";
    const change = share === null ? "" : `${share > 0 ? "+" : ""}${formatNumber(share, 2)}%`;
    return el(
      "li",
      { class: "watched", "data-key": symbol },
      el(
        "button",
        {
          type: "button",
          class: "watched-symbol",
          "aria-current": symbol === workbench.state.symbol ? "true" : null,
          onclick: () => workbench.setSymbol(symbol),
        },
        el("b", {}, symbol),
        el("span", {}, price?.close ?? (price === null ? "not read" : "…")),
        el("span", { class: way }, change),
      ),
      iconButton("x", `Watch ${symbol} no more`, () => this.toggle(symbol)),
    );
  }

  /**
   * Watches a symbol, or no more.
   * @param {string} symbol
   */
  async toggle(symbol) {
    const before = this.symbols ?? [];
    const symbols = before.includes(symbol) ? before.filter((one) => one !== symbol) : [...before, symbol];
    try {
      ({ symbols: this.symbols } = await put(["my", "watchlists", NAME], { symbols }));
    } catch (error) {
      say(error);
    }
    this.lookedAt = -Infinity;
    this.onChange();
  }

  /** Asks for the list, and for the prices of what is on it, where they are old. */
  async look() {
    if (this.isLooking || document.hidden || performance.now() - this.lookedAt < LOOK_MS) return;
    this.isLooking = true;
    try {
      if (!this.symbols) {
        const { watchlists } = await get("my", "watchlists");
        this.symbols = watchlists.find((/** @type {{ name: string }} */ one) => one.name === NAME)?.symbols ?? [];
        this.onChange();
      }
      for (const symbol of this.symbols ?? []) {
        this.prices.set(symbol, await readPrice(symbol));
        this.onChange();
      }
    } finally {
      this.isLooking = false;
      this.lookedAt = performance.now();
    }
  }
}

/** @param {string} symbol */
async function readPrice(symbol) {
  try {
    const asked = { symbol, indicators: [], known: 2 };
    const { bars, count, tick_size: tick } = readChart(await getSeries(asked));
    const [before, last] = [bars.close[count - 2], bars.close[count - 1]];
    const share = Number.isFinite(before) && before ? 100 * (last / before - 1) : null;
    return { close: formatNumber(last, tick ? decimalsOf(tick) : 2), share };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return null;
  }
}
