// Other symbols on the chart: their closes at the bars of the first, as lines that begin with it.
import { getSeries, Refusal } from "./api.js";
import { readChart } from "./columns.js";
import { toast } from "./dom.js";

const COLORS = ["#ff9800", "#ab47bc", "#26c6da", "#ec407a"];
const MOST = COLORS.length;

export class Comparison {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    /** @type {Map<string, ChartData>} by symbol and timeframe */
    this.known = new Map();
    workbench.on("data", () => void this.show());
  }

  /**
   * Puts a symbol on the chart, or takes it off.
   * @param {string} symbol
   */
  async toggle(symbol) {
    const { look = {} } = this.workbench.state;
    const before = look.compared ?? [];
    if (!before.includes(symbol) && before.length >= MOST) return toast(`At most ${MOST} symbols are compared`, "bad");
    const compared = before.includes(symbol) ? before.filter((one) => one !== symbol) : [...before, symbol];
    const scale = compared.length && !before.length ? { scale: /** @type {const} */ ("percent") } : {};
    await this.workbench.setLook({ compared, ...scale });
  }

  async show() {
    const { workbench } = this;
    const { data } = workbench.chart;
    const symbols = workbench.state.look?.compared ?? [];
    if (!data || (!symbols.length && !workbench.view.compared.length)) return;
    const found = [];
    for (const [i, symbol] of symbols.entries()) {
      const other = await this.load(symbol, data.timeframe, data.bars.time[data.count - 1]);
      if (other) found.push({ symbol, color: COLORS[i % MOST], close: alignCloses(data.bars, other.bars) });
    }
    if (workbench.chart.data !== data) return;
    workbench.view.setCompared(found);
    workbench.legends.write(null);
    workbench.legends.place();
  }

  /**
   * @param {string} symbol
   * @param {string} timeframe
   * @param {number} last the time that bars are wanted for
   */
  async load(symbol, timeframe, last) {
    const key = `${symbol} ${timeframe}`;
    const known = this.known.get(key);
    if (known && known.bars.time[known.count - 1] >= last) return known;
    try {
      const asked = { symbol, timeframe, indicators: [], known: 50_000 };
      const chart = readChart(await getSeries(asked));
      this.known.set(key, chart);
      return chart;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(`${symbol} is not compared: ${error.message}`, "bad");
      return null;
    }
  }
}

/**
 * For each bar the last close of another symbol at its time or before it; NaN before the first.
 * @param {Bars} bars
 * @param {Bars} other
 */
export function alignCloses(bars, other) {
  const closes = new Float64Array(bars.length).fill(NaN);
  let at = -1;
  for (let i = 0; i < bars.length; i++) {
    while (at + 1 < other.length && other.time[at + 1] <= bars.time[i]) at++;
    if (at >= 0) closes[i] = other.close[at];
  }
  return closes;
}
