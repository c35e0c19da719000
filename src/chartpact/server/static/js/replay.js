// Replay: the chart as it stood at a bar, with its signals and states, and one bar further at a time.
import { byId, el, icon, iconButton, render } from "./dom.js";
import { formatTime } from "./wording.js";

const SPEEDS = [2000, 1000, 500];

export class Replay {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    this.host = byId("replay");
    /** @type {Float64Array | null} the times of all bars, of which the chart has the first ones */
    this.times = null;
    this.speed = 1;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.isStepping = false;
    workbench.chart.on("state", () => this.write());
    this.write();
  }

  /** The bar that the chart ends with. */
  get at() {
    const { to } = this.workbench.state;
    return this.times && to ? this.times.findLastIndex((time) => time <= to) : -1;
  }

  /**
   * Begins at the bar of a time.
   * @param {number} time UTC ms
   */
  async begin(time) {
    const { chart } = this.workbench;
    if (chart.state.to) await chart.change({ to: null }, false);
    const { data } = chart;
    if (!data) return;
    this.times = data.bars.time;
    const at = Math.max(1, Math.min(this.times.findLastIndex((one) => one <= time), data.count - 2));
    await this.show(at);
  }

  /** @param {number} at */
  async show(at) {
    if (!this.times || this.isStepping) return;
    if (at >= this.times.length - 1) return this.end();
    this.isStepping = true;
    try {
      await this.workbench.chart.change({ to: this.times[Math.max(1, at)] }, false);
    } finally {
      this.isStepping = false;
    }
  }

  async end() {
    this.pause();
    await this.workbench.chart.change({ to: null }, false);
  }

  play() {
    const step = async () => {
      await this.show(this.at + 1);
      if (this.timer !== undefined) this.timer = setTimeout(step, SPEEDS[this.speed]);
    };
    this.timer = setTimeout(step, 0);
    this.write();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.write();
  }

  write() {
    const { to, zone } = this.workbench.state;
    this.host.hidden = !to;
    if (!to) return;
    // A link leads here too: what comes after the bars is not known then.
    const hasMore = this.times !== null;
    const isPlaying = this.timer !== undefined;
    render(
      this.host,
      el("span", {}, icon("history"), "As of ", el("b", {}, formatTime(to, zone))),
      hasMore && iconButton("prev", "One bar back", () => this.show(this.at - 1), { "data-key": "back" }),
      hasMore &&
        iconButton(isPlaying ? "pause" : "play", isPlaying ? "Pause" : "Play", () => (isPlaying ? this.pause() : this.play()), { "data-key": "play" }),
      hasMore && iconButton("next", "One bar further", () => this.show(this.at + 1), { "data-key": "next" }),
      hasMore &&
        el(
          "button",
          {
            type: "button",
            class: "plain",
            "data-key": "speed",
            "aria-label": "Speed",
            onclick: () => {
              this.speed = (this.speed + 1) % SPEEDS.length;
              this.write();
            },
          },
          `${1000 / SPEEDS[this.speed]}×`,
        ),
      el("button", { type: "button", class: "plain", "data-key": "end", onclick: () => this.end() }, "Back to now"),
    );
  }
}
