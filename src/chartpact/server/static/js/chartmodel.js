// The chart that is asked for, and what came: it alone changes them, and tells who listens.
//
// "state": something of the state has changed. "data": a chart has come. "part": earlier bars have come.
// "busy": whether a chart is on its way. "problem": why none could be shown, or null.
import { getSeries, isAborted, Refusal, say, writeAsk } from "./api.js";
import { addPart, readChart } from "./columns.js";
import { debounce, Teller } from "./dom.js";

const MOST_PART = 16_384; // bars of one part
const MOST_UNDO = 50;

export class ChartModel extends Teller {
  /**
   * @param {ChartState} state
   * @param {number} barsShown
   */
  constructor(state, barsShown) {
    super();
    this.state = state;
    this.barsShown = barsShown;
    /** @type {Map<string, string>} sources that are drawn in the place of what is kept, by script */
    this.drafts = new Map();
    /** @type {ChartData | null} */
    this.data = null;
    /** @type {ChartState[]} */
    this.past = [];
    /** @type {AbortController | null} */
    this.loading = null;
    this.asked = "";
    this.isLoadingPart = false;
    this.loadEarlier = debounce((range) => void this.loadPart(range).catch(say), 60);
  }

  // ------------------------------------------------------------------------------------- changes

  /**
   * Changes the state; what is drawn is asked for anew where that needs it. A change that the
   * server refuses is taken back, and said.
   * @param {Partial<ChartState>} changes
   */
  async change(changes, canUndo = true) {
    const before = this.state;
    this.state = { ...before, ...changes };
    if (canUndo) this.past = [...this.past, before].slice(-MOST_UNDO);
    this.tell("state", before);
    if (this.needsLoading) await this.load(null, before);
    else if (this.data) this.announce(this.data);
  }

  /** Takes the last change back; whether there was one. */
  async undo() {
    const before = this.past.pop();
    if (before) await this.change(before, false);
    return before !== undefined;
  }

  /**
   * @param {string} name
   * @param {Params} params
   */
  add(name, params = {}) {
    return this.change({ indicators: [...this.state.indicators, { name, params, hidden: false }] });
  }

  /**
   * @param {number} at
   * @param {Partial<Asked>} changes
   */
  changeIndicator(at, changes) {
    const indicators = this.state.indicators.with(at, { ...this.state.indicators[at], ...changes });
    return this.change({ indicators });
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  move(from, to) {
    const indicators = [...this.state.indicators];
    const [moved] = indicators.splice(from, 1);
    indicators.splice(to, 0, moved);
    return this.change({ indicators });
  }

  /** @param {number} at */
  remove(at) {
    return this.change({ indicators: this.state.indicators.toSpliced(at, 1) });
  }

  /**
   * Puts another indicator in the place of one, or on the chart where that is not there.
   * @param {string} before
   * @param {string} after
   */
  replace(before, after) {
    const at = this.state.indicators.findIndex(({ name }) => name === before);
    return at < 0 ? this.add(after) : this.changeIndicator(at, { name: after });
  }

  /** @param {string} name */
  has(name) {
    return this.state.indicators.some((asked) => asked.name === name);
  }

  /**
   * Draws a source in the place of what is kept under its name; null: what is kept.
   * @param {string} name
   * @param {string | null} source
   */
  setDraft(name, source) {
    if (source === null) this.drafts.delete(name);
    else this.drafts.set(name, source);
  }

  // ------------------------------------------------------------------------------------- loading

  ask(part = {}) {
    return writeAsk(this.state, this.drafts, this.barsShown, part);
  }

  get needsLoading() {
    return !this.data || JSON.stringify(this.ask()) !== this.asked;
  }

  /**
   * Asks for the chart anew; of several requests under way only the last counts.
   * @param {Promise<ArrayBuffer> | null} series one that is on its way
   * @param {ChartState | null} before what to go back to where this is refused
   */
  async load(series = null, before = null) {
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    const asked = JSON.stringify(this.ask());
    this.tell("busy", true);
    try {
      const buffer = await (series ?? getSeries(this.ask(), loading.signal));
      if (loading.signal.aborted) return;
      this.asked = asked;
      this.announce(readChart(buffer));
      this.tell("problem", null);
    } catch (error) {
      if (isAborted(error) || loading.signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      if (before && this.data) {
        this.state = before;
        this.past = this.past.filter((state) => state !== before);
        this.tell("state", before);
        this.announce(this.data);
        say(error);
      } else this.tell("problem", error);
    } finally {
      if (this.loading === loading) this.tell("busy", false);
    }
  }

  /** @param {ChartData} data */
  announce(data) {
    this.data = data;
    // Hidden indicators are not asked for: where each asked one stands in the answer.
    let at = 0;
    data.order = this.state.indicators.map((asked) => (asked.hidden ? -1 : at++));
    this.tell("data", data);
  }

  /**
   * What was drawn of an asked indicator.
   * @param {number} at
   */
  drawnAt(at) {
    const place = this.data?.order?.[at] ?? -1;
    return place < 0 ? undefined : this.data?.indicators[place];
  }

  /**
   * The place among the asked ones of what was drawn.
   * @param {Drawn} drawn
   */
  placeOf(drawn) {
    const at = this.data?.indicators.findIndex(({ id }) => id === drawn.id) ?? -1;
    return this.data?.order?.indexOf(at) ?? -1;
  }

  /**
   * Loads values of earlier bars when the view comes near those that are not known.
   * @param {{ from: number, to: number }} range
   */
  async loadPart(range) {
    const { data } = this;
    if (!data) return;
    const margin = Math.max(300, (range.to - range.from) / 2);
    if (!data.from || this.isLoadingPart || range.from - margin > data.from) return;
    const last = data.from;
    const wanted = Math.min(Math.floor(range.from - margin), last - 2000);
    const first = Math.max(0, last - MOST_PART, wanted);
    this.isLoadingPart = true;
    try {
      const buffer = await getSeries(this.ask({ first, last }));
      if (this.data !== data) return;
      if (!addPart(data, buffer)) return void (await this.load()); // a bar has closed meanwhile
    } finally {
      this.isLoadingPart = false;
    }
    this.tell("part", data);
  }
}
