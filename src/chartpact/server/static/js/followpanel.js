// What one contract reads: its typed state, what it was read from, violations, and the journal.
import { ask, patch, Refusal, remove, say } from "./api.js";
import { byId, el, icon, render, toast } from "./dom.js";
import { ObjectTable } from "./objects.js";
import {
  describeChange,
  describeObject,
  summariseReading,
  timeElement,
  words,
  writeState,
} from "./wording.js";

const CONFIRM_MS = 4000; // in which a second click removes a follow

export class FollowPanel {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    /** @type {any} */
    this.found = null; // what was matched last
    /** @type {any} */
    this.shown = null; // a follow, or a contract on the chart that nobody follows
    this.table = new ObjectTable((/** @type {any} */ one) => this.chooseObject(one));
    this.objects = el("section", { "aria-live": "polite", "data-key": "objects" });
    byId("follow-close").addEventListener("click", () => this.close());
    byId("follow-pause").addEventListener("click", () => this.pause());
    byId("follow-remove").addEventListener("click", () => this.remove());
    byId("follow-begin").addEventListener("click", () => board.form.open(this.shown));
  }

  /** @param {{ id?: number, contract: string }} given */
  isShowing({ id, contract }) {
    const { shown } = this;
    if (!shown || byId("follow").hidden) return false;
    return id === undefined ? shown.id === undefined && shown.contract === contract : shown.id === id;
  }

  /** @param {Follow} shown */
  open(shown) {
    this.shown = shown;
    this.board.workbench.showSide("follow");
    this.write();
    void this.match();
    this.board.write();
  }

  close() {
    this.shown = null;
    this.board.workbench.view.highlights.clear();
    this.board.workbench.showSide(null);
    this.board.write();
  }

  /** Shows what was read since. */
  refresh() {
    if (this.shown?.id === undefined || byId("follow").hidden) return;
    const follow = this.board.follows.get(this.shown.id);
    if (!follow) {
      this.close();
      return;
    }
    if (JSON.stringify(follow) === JSON.stringify(this.shown)) return;
    const isNews = follow.reading?.as_of !== this.shown.reading?.as_of;
    this.shown = follow;
    this.write();
    if (isNews) void this.match();
  }

  // ------------------------------------------------------------------------------------- objects

  /** Whether the follow reads the chart that is on the page. */
  isOnPage() {
    const { symbol, timeframe } = this.board.workbench.state;
    return this.shown.symbol === symbol && (this.shown.timeframe ?? null) === (timeframe ?? null);
  }

  /** Asks what the contract makes of each object, and marks on the chart what it was read from. */
  async match() {
    const { shown, board } = this;
    const { contract, symbol, timeframe, params, config, profile } = shown;
    board.workbench.view.highlights.clear();
    render(this.objects, el("p", { class: "quiet" }, "Looking what it is read from…"));
    let found;
    try {
      const source = { symbol, timeframe, params, config, profile };
      found = await ask(["contracts", "match"], { contract, ...source });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (this.shown?.contract !== contract) return;
      render(this.objects,         el("p", { class: "quiet" }, `What it is read from cannot be shown: ${error.message}`),
      );
      return;
    }
    if (this.shown?.id !== shown.id || this.shown.contract !== contract) return;
    this.found = found;
    this.write();
    const read = found.objects.filter((/** @type {Matched} */ { used, violations }) => used || violations.length);
    this.table.write(read, board.zone, found.left_out);
    render(this.objects,       el("h3", {}, `Read from ${read.length} ${read.length === 1 ? "object" : "objects"}`),
      this.isOnPage() ? "" : this.writeWhere(),
      this.table.host,
    );
    if (this.isOnPage()) board.workbench.view.highlights.show(read, contract, true);
  }

  /** What can be done where the chart on the page is not the one that is read. */
  writeWhere() {
    const { shown, board } = this;
    const { workbench } = board;
    const isGranted = (workbench.me.tradingview ?? []).includes(shown.symbol);
    const mark = () => workbench.view.highlights.show(this.table.objects, shown.contract, false);
    const open = async () => {
      const { symbol, timeframe } = shown;
      const has = workbench.chart.has(shown.contract);
      const added = { name: shown.contract, params: shown.params ?? {}, hidden: false };
      const indicators = has ? workbench.state.indicators : [...workbench.state.indicators, added];
      await workbench.chart.change({ symbol, timeframe, indicators });
      void this.match();
    };
    const text = isGranted ? "Mark them on this chart, by their times" : "Open this chart";
    return el(
      "p",
      {},
      el("button", { type: "button", class: "link", onclick: isGranted ? mark : open }, text),
    );
  }

  /** @param {any} one */
  chooseObject(one) {
    const { highlights } = this.board.workbench.view;
    if (one && !highlights.choose(one)) toast("It lies on another chart: open that first");
  }

  // ------------------------------------------------------------------------------------- writing

  write() {
    const { shown, board } = this;
    const isFollowed = shown.id !== undefined;
    byId("follow-title").textContent = board.titleOf(shown.contract);
    byId("follow-pause").hidden = byId("follow-remove").hidden = !isFollowed;
    byId("follow-begin").hidden = isFollowed;
    byId("follow-pause").textContent = shown.paused ? "Go on" : "Pause";
    render(byId("follow-body"),       ...[
        this.writeHead(),
        this.writeTrouble(),
        this.writeViolations(),
        this.writeState(),
        this.objects,
        isFollowed ? this.writeJournal() : null,
      ].filter(Boolean),
    );
  }

  writeHead() {
    const { shown, board } = this;
    /** @type {any} */
    const summary =
      shown.id === undefined
        ? summariseReading(shown.reading ?? {}, shown.reading?.tracks ?? [], board.zone)
        : board.summarise(shown);
    const { reading } = shown;
    const where = [shown.symbol, shown.timeframe ?? "its own timeframe"].join(" · ");
    const often = shown.every ? `, every ${formatEvery(shown.every)}` : "";
    return el(
      "section",
      { class: `headline ${summary.kind}` },
      el("p", { class: "st" }, summary.state),
      summary.time ? el("p", {}, "since ", summary.time) : null,
      el("p", { class: "quiet" }, `${where}${often}`),
      reading?.as_of
        ? el("p", { class: "quiet" }, "as of ", timeElement(reading.as_of, board.zone))
        : null,
      shown.read_at
        ? el("p", { class: "quiet" }, "last read ", timeElement(shown.read_at, board.zone))
        : null,
    );
  }

  /** Why there is no reading, and what can be done. */
  writeTrouble() {
    const { shown } = this;
    if (!shown.error) return null;
    return el(
      "section",
      { class: "trouble" },
      icon("warn"),
      el("p", {}, shown.error),
      el("p", { class: "quiet" }, "It is tried again, less and less often. The journal is kept."),
    );
  }

  writeViolations() {
    const { violations = [] } = this.shown.reading ?? {};
    if (!violations.length) return null;
    return el(
      "section",
      {},
      el("h3", {}, violations.length === 1 ? "1 violation" : `${violations.length} violations`),
      el(
        "ul",
        { class: "violations" },
        ...violations.map((/** @type {Violation} */ violation) =>
          writeViolation(violation, this.board.zone, (/** @type {DrawnRecord} */ record) =>
            this.chooseObject(this.table.find(record)),
          ),
        ),
      ),
    );
  }

  writeState() {
    const { reading } = this.shown;
    if (!reading?.state) return null;
    // A journal keeps no order of names; the reading that was just made has that of the contract.
    const isSame = this.found?.reading.contract === reading.contract;
    const state = isSame ? inOrderOf(reading.state, this.found.reading.state) : reading.state;
    return el("section", {}, el("h3", {}, "Typed state"), writeState(state, this.board.zone));
  }

  writeJournal() {
    const { changes = [] } = this.shown;
    const { zone } = this.board;
    const entries = changes.map((/** @type {any} */ change) =>
      el(
        "li",
        { class: change.violation || change.type === "refused" ? "is-warn" : null },
        timeElement(change.as_of ?? change.at, zone),
        el("span", {}, describeChange(change)),
        change.violation ? el("small", {}, change.violation.message) : null,
      ),
    );
    return el(
      "section",
      {},
      el("h3", {}, "Journal"),
      entries.length
        ? el("ol", { class: "journal" }, ...entries)
        : el("p", { class: "quiet" }, "Nothing has changed since the follow began."),
    );
  }

  // ------------------------------------------------------------------------------------- changes

  async pause() {
    await this.change(
      () => patch(["my", "follows", String(this.shown.id)], { paused: !this.shown.paused }),
      this.shown.paused ? "It is read again" : "It is read no more until you let it go on",
    );
  }

  /** Removes a follow with its journal, at the second click. */
  async remove() {
    const button = byId("follow-remove");
    if (!button.dataset.sure) {
      button.dataset.sure = "yes";
      button.textContent = "Remove with its journal?";
      setTimeout(() => this.forgetSure(), CONFIRM_MS);
      return;
    }
    this.forgetSure();
    await this.change(() => remove("my", "follows", String(this.shown.id)), "No longer followed");
  }

  forgetSure() {
    const button = byId("follow-remove");
    delete button.dataset.sure;
    button.textContent = "Remove";
  }

  /**
   * @param {() => Promise<any>} call
   * @param {string} done
   */
  async change(call, done) {
    try {
      await call();
      toast(done);
    } catch (error) {
      say(error);
    }
    await this.board.lookAgain();
  }
}

/**
 * A violation: what is wrong, in the contract's words, and the object that is.
 * @param {Violation} violation
 * @param {string} zone
 * @param {((record: DrawnRecord) => unknown) | null} choose
 */
export function writeViolation({ kind, message, path, object, field }, zone, choose = null) {
  const objects = [object ?? []].flat().filter((one) => one && typeof one === "object");
  const about = objects.map((one) => {
    const text = describeObject(one, zone);
    return choose
      ? el("button", { type: "button", class: "link", onclick: () => choose(one) }, text)
      : el("span", {}, text);
  });
  return el(
    "li",
    {},
    el("p", {}, message),
    about.length ? el("p", { class: "about" }, ...about) : null,
    el("small", {}, [words(kind), path, field].filter(Boolean).join(" · ")),
  );
}

/**
 * A value whose names stand in the order that they have in another one.
 * @param {any} value
 * @param {any} other
 * @returns {any}
 */
export function inOrderOf(value, other) {
  if (!value || !other || typeof value !== "object" || typeof other !== "object") return value;
  if (Array.isArray(value)) return value.map((one) => inOrderOf(one, Array.isArray(other) ? other[0] : null));
  const names = [...new Set([...Object.keys(other), ...Object.keys(value)])].filter((name) => name in value);
  return Object.fromEntries(names.map((name) => [name, inOrderOf(value[name], other[name])]));
}

/** @param {number} seconds */
const formatEvery = (seconds) =>
  seconds % 60 ? `${seconds} s` : seconds % 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;
