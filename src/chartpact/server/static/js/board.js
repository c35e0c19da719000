// The state board: what the user follows, and what contracts read from the pacts on the chart.
import { ask, get, Refusal } from "./api.js";
import { byId, el, icon, render } from "./dom.js";
import { FollowForm } from "./followform.js";
import { FollowPanel } from "./followpanel.js";
import { formatTime, summariseReading } from "./wording.js";

const LOOK_MS = 5000; // between two looks for new readings

export class Board {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    /** @type {Map<number, Follow>} */
    this.follows = new Map(); // by id, with what was read last
    /** @type {any[]} */
    this.chartReadings = []; // of pacts on the chart that nobody follows there
    /** @type {Refusal | null} */
    this.problem = null;
    this.hasLooked = false;
    this.isLooking = false;
    this.isReading = false;
    /** @type {string | null} */
    this.key = null;
    this.form = new FollowForm(this);
    this.panel = new FollowPanel(this);
    byId("follow-new").addEventListener("click", () => void this.form.open());
    document.addEventListener("visibilitychange", () => void this.look());
    workbench.on("data", () => void this.load());
    workbench.on("indicators", () => void this.load());
  }

  get zone() {
    return this.workbench.state.zone;
  }

  /** @param {string} contract */
  titleOf(contract) {
    return this.workbench.picker.known.get(contract)?.title ?? contract;
  }

  /** Begins to look for readings. */
  async start() {
    await this.look();
    await this.load();
    this.timer = setInterval(() => void this.look(), LOOK_MS);
  }

  // ------------------------------------------------------------------------------------- follows

  /** Asks what is followed, and for the details of each that was read since. */
  async look() {
    if (document.hidden || this.isLooking) return;
    this.isLooking = true;
    try {
      const { follows } = await get("my", "follows");
      const before = this.follows;
      this.follows = new Map();
      for (const follow of follows) {
        const known = before.get(follow.id);
        const stale = known?.created_at !== follow.created_at || known?.read_at !== follow.read_at;
        this.follows.set(
          follow.id,
          stale ? await get("my", "follows", String(follow.id)) : { ...known, ...follow },
        );
      }
      this.problem = null;
      this.hasLooked = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.problem = error;
    } finally {
      this.isLooking = false;
    }
    this.write();
    this.panel.refresh();
  }

  /** Looks at once, after the user changed something. */
  async lookAgain() {
    while (this.isLooking) await new Promise((resolve) => setTimeout(resolve, 20));
    await this.look();
    this.key = null;
    await this.load();
  }

  // -------------------------------------------------------------------------------- on the chart

  /** The pacts on the chart that have a contract and are not followed there, in their order. */
  unfollowed() {
    const { state, picker } = this.workbench;
    const followed = [...this.follows.values()]
      .filter(({ symbol, timeframe }) => symbol === state.symbol && timeframe === state.timeframe)
      .map(({ contract }) => contract);
    const names = state.indicators.filter((/** @type {Asked} */ asked) => !asked.hidden).map((/** @type {Asked} */ { name }) => name);
    return [...new Set(names)].filter(
      (name) => picker.known.get(name)?.source === "pact" && !followed.includes(name),
    );
  }

  /** Reads the pacts on the chart. */
  async load() {
    if (!this.hasLooked) return; // what is followed is no card of the chart's
    const contracts = this.unfollowed();
    const { symbol, timeframe, to } = this.workbench.state;
    const key = JSON.stringify([contracts, symbol, timeframe, to, this.workbench.data?.count]);
    if (key === this.key) return;
    this.key = key;
    /** @type {any[]} */
    let readings = [];
    this.isReading = contracts.length > 0;
    if (contracts.length)
      try {
        const reply = await ask(["state"], { contracts, symbol, timeframe, ...(to ? { to } : {}) });
        readings = contracts.map((contract) => ({ contract, reading: reply.readings[contract] }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        readings = contracts.map((contract) => ({ contract, error: error.message }));
      }
    if (key !== this.key) return;
    this.chartReadings = readings;
    this.isReading = false;
    this.write();
  }

  // ------------------------------------------------------------------------------------- writing

  write() {
    const cards = [...this.follows.values()].map((follow) => this.followCard(follow));
    cards.push(...this.chartReadings.map((one) => this.chartCard(one)));
    if (this.problem) cards.unshift(this.problemCard());
    byId("board-section").dataset.empty = String(!cards.length);
    if (!cards.length) cards.push(el("li", { class: "empty", "data-key": "empty" }, this.describeNothing()));
    render(byId("board"), ...cards);
    document.documentElement.dataset.board = "shown";
  }

  describeNothing() {
    if (this.isReading || !this.hasLooked) return "Reading…";
    return "A contract says how to read what an indicator draws, and what must never happen in it. Follow one, and its state stands here.";
  }

  problemCard() {
    const { message = "", hint = "" } = this.problem ?? {};
    return card({ title: "State board", state: "Not read", facts: `${message}. ${hint}`, kind: "is-warn" });
  }

  /** @param {Follow} follow */
  followCard(follow) {
    const where = [follow.symbol, follow.timeframe].filter(Boolean).join(" ");
    const shown = { ...this.summarise(follow), title: `${this.titleOf(follow.contract)} · ${where}` };
    return card({
      ...shown,
      id: `follow-${follow.id}`,
      isOpen: this.panel.isShowing(follow),
      onclick: () => this.panel.open(follow),
    });
  }

  /**
   * The headline of a follow: its state and since when, its violation, or why it is not read.
   * @param {Follow} follow
   */
  summarise(follow) {
    const { reading, states = [] } = follow;
    const since = Math.max(...states.map((/** @type {any} */ state) => state.since ?? 0), 0) || reading?.as_of;
    const time = since ? formatTime(since, this.zone) : null;
    if (follow.paused) return { state: "Paused", facts: "Its journal is kept", kind: "is-off", time };
    if (follow.error) return { state: "Not read", facts: follow.error, kind: "is-warn", time };
    if (!reading) return { state: "Reading…", facts: "The first reading is under way", kind: "" };
    return { ...summariseReading(reading, states, this.zone), time };
  }

  /** @param {any} given */
  chartCard({ contract, reading, error }) {
    const shown = error
      ? { state: "Not read", facts: error, kind: "is-warn" }
      : summariseReading(reading, reading.tracks ?? [], this.zone);
    return card({
      ...shown,
      title: this.titleOf(contract),
      time: "not followed",
      id: `chart-${contract}`,
      isOpen: this.panel.isShowing({ contract }),
      onclick: () => this.panel.open({ contract, ...this.chartOf(), reading }),
    });
  }

  /** The source that a follow of the chart on the page would have. */
  chartOf() {
    const { symbol, timeframe } = this.workbench.state;
    return { symbol, timeframe };
  }
}

/** @param {any} given */
function card({ title, state, facts, kind, time, id, isOpen, onclick }) {
  const content = [
    el("span", { class: "nm" }, el("span", {}, title), time ? el("small", {}, time) : null),
    el("span", { class: "st" }, state),
    el("span", { class: "wh" }, facts),
  ];
  const inner = onclick
    ? el(
        "button",
        { type: "button", "data-card": id, "aria-pressed": String(Boolean(isOpen)), onclick },
        ...content,
      )
    : el("div", {}, icon("warn"), ...content);
  return el("li", { class: kind || null, title: facts, "data-key": id ?? "problem" }, inner);
}
