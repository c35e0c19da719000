// Live bars: what came after the last one is asked for while the page is visible. The bar that is still
// forming is a candle alone; indicators, signals and states are computed on bars that are closed.
import { ask, Refusal } from "./api.js";

const LEAST_MS = 5_000; // between two looks
const MOST_MS = 60_000;

export class Live {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    document.addEventListener("visibilitychange", () => this.wait(0));
    workbench.on("data", () => this.wait());
  }

  /** Waits for the next look, unless told otherwise a tenth of a bar; without a chart there is nothing to look at. */
  wait(/** @type {number | undefined} */ ms = undefined) {
    clearTimeout(this.timer);
    const { chart, view } = this.workbench;
    if (!chart.data || document.hidden) return;
    const pause = Math.min(Math.max(view.clock.barMs / 10, LEAST_MS), MOST_MS);
    this.timer = setTimeout(() => void this.look(), ms ?? pause);
  }

  async look() {
    const { chart, view } = this.workbench;
    const { data, state } = chart;
    if (data && !state.to && !data.synthetic) {
      const after = data.bars.time[data.count - 1];
      try {
        const { closed, forming } = await ask(
          ["bars", "after"],
          { symbol: state.symbol, timeframe: state.timeframe, after },
          { once: true },
        );
        if (chart.data === data) {
          if (closed > 0) await chart.load();
          else view.setForming(forming);
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error; // the chart stays as it is, and is looked at again
      }
    }
    this.wait();
  }
}
