// @ts-nocheck
// The page: one chart, the indicators on it, and what surrounds them.
import { writeAddress } from "./address.js";
import { get, getSeries, put, Refusal, whenSignedOut, writeAsk } from "./api.js";
import { ChartView } from "./chartview.js";
import { addPart, readChart } from "./columns.js";
import { byId, debounce, el, svg, toast } from "./dom.js";
import { Legends } from "./legends.js";
import { BARS_SHOWN, chooseChart, PHONE } from "./opening.js";
import { Picker } from "./picker.js";

const FACES = ["12px 'Chartpact Sans'", "bold 12px 'Chartpact Sans'", "12px 'Chartpact Mono'"];
const TIMEFRAMES = { "1m": 1, "5m": 5, "15m": 15, "1h": 60, "4h": 240, "1D": 1440, "1W": 10080 };
const MOST_PART = 16_384; // bars of one part

export class Workbench {
  constructor() {
    this.state = chooseChart(null);
    this.drafts = new Map(); // sources that are drawn in the place of what is kept
    this.symbols = [];
    this.themeName = document.documentElement.dataset.theme;
    this.view = new ChartView(byId("chart"), {
      theme: this.themeName,
      zone: this.state.zone,
      barsShown: BARS_SHOWN,
    });
    this.legends = new Legends(byId("legends"), this.view);
    this.picker = new Picker(this);
    this.thumbnails = {};
    this.keepLayout = debounce(() => this.putLayout(), 400);
    this.view.onRange = debounce((/** @type {any} */ range) => this.loadEarlier(range), 60);
    this.fonts = Promise.all(FACES.map((face) => document.fonts.load(face, "Aa→")));
    this.bind();
  }

  /** @param {any} opening */
  async start(opening) {
    try {
      await this.open(await opening);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 401) location.assign(signInAddress());
      else this.sayProblem(error);
    }
  }

  /** @param {any} given */
  async open({ me, layout, state, drafts, series }) {
    whenSignedOut(() => this.askToSignIn());
    Object.assign(this, { me, state, drafts });
    this.view.zone = state.zone;
    await this.fonts;
    await this.load(series);
    await painted();
    performance.mark("first chart");
    document.documentElement.dataset.chart = "shown";
    await this.surround();
    await Promise.all([this.loadIndicators(), this.loadSymbols(), this.openKept(layout)]);
    void this.board.start();
    this.isStarted = true;
    document.documentElement.dataset.ready = "";
    void this.loadThumbnails();
  }

  /** Makes what surrounds the chart, whose modules need not delay it. */
  async surround() {
    const [{ BarsDrop }, { Board }, { Contracts }, { Desk }, { Palette }] = await Promise.all([
      import("./barsdrop.js"),
      import("./board.js"),
      import("./contracts.js"),
      import("./desk.js"),
      import("./palette.js"),
    ]);
    this.board = new Board(this);
    this.palette = new Palette((/** @type {string | null} */ kind) => this.commands(kind));
    this.desk = new Desk(this);
    this.barsDrop = new BarsDrop(this);
    this.contracts = new Contracts(this);
  }

  /**
   * Opens the script that was open, and what was typed and not saved.
   * @param {any} kept
   */
  async openKept(kept) {
    // This tab knows it best: a sign-in may expire before the layout is put.
    const here = sessionStorage.getItem(`open script of ${this.me.user}`);
    for (const name of [here, kept?.script])
      if (name && (await this.desk.has(name))) return this.desk.open(name);
  }

  // ------------------------------------------------------------------------------------- loading

  ask(part = {}) {
    return writeAsk(this.state, this.drafts, this.view.barsShown, part);
  }

  /** Draws the chart anew; of several requests under way only the last counts. */
  async load(series = null) {
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    const stage = byId("stage");
    stage.setAttribute("aria-busy", "true");
    try {
      const buffer = await (series ?? getSeries(this.ask(), loading.signal));
      if (loading.signal.aborted) return;
      this.show(readChart(buffer));
      this.sayProblem(null);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Refusal)) throw error;
      this.sayProblem(error);
    } finally {
      if (this.loading === loading) stage.removeAttribute("aria-busy");
    }
  }

  /** @param {any} data */
  show(data) {
    this.data = data;
    // Hidden indicators are not asked for: where each asked one stands in the answer.
    let at = 0;
    data.order = this.state.indicators.map((/** @type {Asked} */ asked) => (asked.hidden ? -1 : at++));
    this.view.show(data);
    this.legends.write(null);
    this.legends.place();
    this.picker.writeChart();
    this.desk?.writeRun(data);
    this.writeBar();
    byId("chart").setAttribute(
      "aria-label",
      `${data.symbol} ${data.timeframe}, ${data.count} bars. ${data.trend}`,
    );
    const { title } = document;
    document.title = `${data.symbol} ${data.timeframe} – chartpact`;
    byId("heading").textContent = `${data.symbol}, ${data.timeframe}`;
    const address = `/?${writeAddress(this.state)}`;
    this.keepLayout();
    void this.board?.load();
    if (title !== document.title || address !== location.pathname + location.search)
      history.replaceState(null, "", address);
    byId("picture").href = `/chart.png?${writeAddress(this.state)}&theme=${this.themeName}`;
  }

  /**
   * Loads values of earlier bars when the view comes near those that are not known.
   * @param {any} range
   */
  async loadEarlier(range) {
    const { data } = this;
    const margin = Math.max(300, (range.to - range.from) / 2);
    if (!data.from || this.loadingPart || range.from - margin > data.from) return;
    const last = data.from;
    const first = Math.max(
      0,
      last - MOST_PART,
      Math.min(Math.floor(range.from - margin), last - 2000),
    );
    this.loadingPart = true;
    try {
      const buffer = await getSeries(this.ask({ first, last }));
      if (this.data !== data) return;
      addPart(data, buffer);
      this.view.redraw();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(error.message, "bad");
      return;
    } finally {
      this.loadingPart = false;
    }
    const now = this.view.chart.timeScale().getVisibleLogicalRange();
    if (now) void this.loadEarlier(now);
  }

  async loadIndicators() {
    const { indicators } = await get("indicators");
    this.picker.setIndicators(indicators);
    void this.board.load();
  }

  async loadSymbols() {
    const { symbols } = await get("symbols");
    this.symbols = symbols;
    byId("symbols").replaceChildren(
      ...symbols.map((/** @type {SymbolRow} */ { symbol }) => el("option", { value: symbol })),
    );
    this.writeBar();
  }

  /** @param {any} error */
  sayProblem(error) {
    const place = byId("problem");
    place.hidden = !error;
    if (!error) return;
    const again = el(
      "button",
      { type: "button", class: "link", onclick: () => this.load() },
      "Try again",
    );
    const choose = el(
      "button",
      { type: "button", class: "link", onclick: () => this.palette.open("Symbol") },
      "Choose a symbol",
    );
    place.replaceChildren(
      el("h2", {}, error.message),
      el("p", {}, error.hint),
      el("p", {}, again, " ", choose),
    );
  }

  askToSignIn() {
    byId("sign-in-link").href = signInAddress();
    const dialog = byId("signed-out");
    if (!dialog.open) dialog.showModal();
  }

  // ------------------------------------------------------------------------------------- changes

  /** @param {string} name */
  add(name, params = {}) {
    this.state.indicators.push({ name, params, hidden: false });
    this.picker.open = this.state.indicators.length - 1;
    return this.load();
  }
  /**
   * @param {number} at
   * @param {Partial<Asked>} changes
   */
  change(at, changes) {
    Object.assign(this.state.indicators[at], changes);
    return this.load();
  }
  /**
   * @param {number} from
   * @param {number} to
   */
  move(from, to) {
    const [moved] = this.state.indicators.splice(from, 1);
    this.state.indicators.splice(to, 0, moved);
    return this.load();
  }
  /** @param {number} at */
  remove(at) {
    this.state.indicators.splice(at, 1);
    return this.load();
  }
  /** @param {string} symbol */
  setSymbol(symbol) {
    this.state.symbol = symbol;
    this.state.timeframe = null;
    return this.load();
  }
  /** @param {string} timeframe */
  setTimeframe(timeframe) {
    this.state.timeframe = timeframe;
    return this.load();
  }
  /** @param {string} zone */
  setZone(zone) {
    this.state.zone = this.view.zone = zone;
    this.show(this.data);
  }
  /** @param {string} name */
  setTheme(name) {
    this.themeName = name;
    document.documentElement.dataset.theme = name;
    localStorage.setItem("theme", name);
    this.view.setTheme(name);
    if (this.data) this.show(this.data);
    this.writeBar();
  }

  /**
   * Puts another indicator in the place of one, or on the chart where that is not there.
   * @param {string} before
   * @param {string} after
   */
  replace(before, after) {
    const asked = this.state.indicators.find((/** @type {any} */ { name }) => name === before);
    if (!asked) return this.add(after);
    asked.name = after;
    return this.load();
  }

  /**
   * Remembers which script is open, in this tab at once and in the layout soon.
   * @param {string} name
   */
  rememberOpen(name) {
    const key = `open script of ${this.me.user}`;
    if (name === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, name);
    this.keepLayout();
  }

  async putLayout() {
    if (!this.isStarted) return;
    const { symbol, timeframe, zone, indicators } = this.state;
    const script = byId("desk").hidden ? null : this.desk.name;
    const layout = { chart: { symbol, timeframe, zone, indicators }, script };
    try {
      await put(["my", "layout"], { layout });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // the address has the chart all the same
    }
  }

  /**
   * The parameters of the script on the desk as it is typed; of others the list has them.
   * @param {string} name
   */
  paramsOf(name) {
    return this.drafts.has(name) && this.desk?.name === name ? this.desk.params : null;
  }

  /** @param {string} name */
  edit(name) {
    return this.desk.open(name);
  }
  newScript() {
    return this.desk.create();
  }
  /** @param {string} name */
  async fork(name) {
    try {
      await this.desk.fork(name);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(`${error.message}. ${error.hint}`, "bad");
    }
  }

  async loadThumbnails() {
    try {
      ({ thumbnails: this.thumbnails } = await get("thumbnails"));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // the names are there
      return;
    }
    this.picker.writeShelf();
    document.documentElement.dataset.thumbnails = "";
  }

  /**
   * The small picture of an indicator.
   * @param {string} name
   */
  thumbnail(name) {
    const strokes = this.thumbnails[name] ?? [];
    const paths = strokes.map((/** @type {Stroke} */ { path, color }) => svg("path", { d: path, stroke: color }));
    return svg("svg", { viewBox: "0 0 62 32", "aria-hidden": "true" }, ...paths);
  }

  // ----------------------------------------------------------------------------------------- bar

  writeBar() {
    const { state, data } = this;
    byId("symbol-name").textContent = data?.symbol ?? state.symbol;
    const own = this.symbols.find(({ symbol }) => symbol === state.symbol)?.timeframe;
    const current = state.timeframe ?? data?.timeframe;
    const least = TIMEFRAMES[own] ?? 0;
    const frames = Object.keys(TIMEFRAMES).filter((frame) => TIMEFRAMES[frame] >= least);
    if (current && !frames.includes(current)) frames.unshift(current);
    byId("frames").replaceChildren(
      ...frames.slice(0, 6).map((frame) =>
        el(
          "button",
          {
            type: "button",
            role: "radio",
            "aria-checked": String(frame === current),
            onclick: () => this.setTimeframe(frame),
          },
          frame,
        ),
      ),
    );
    byId("zone-name").textContent = state.zone.split("/").at(-1).replaceAll("_", " ");
    const other = this.themeName === "dark" ? "light" : "dark";
    byId("theme").setAttribute("aria-label", `Switch to the ${other} theme`);
    if (!this.me) return;
    byId("who").textContent = this.me.user.slice(0, 1).toUpperCase();
    if (this.me.accounts) byId("account").href = "/account";
  }

  /** @param {string | null} kind */
  commands(kind) {
    const entries = [];
    if (!kind || kind === "Symbol")
      for (const { symbol, timeframe, source } of this.symbols)
        entries.push({
          name: symbol,
          kind: "Symbol",
          detail: [timeframe, source].filter(Boolean).join(" · "),
          run: () => this.setSymbol(symbol),
        });
    if (!kind || kind === "Indicator")
      for (const { name, title } of this.picker.known.values())
        entries.push({
          name: `Add ${title}`,
          kind: "Indicator",
          detail: name,
          run: () => this.add(name),
        });
    if (!kind || kind === "Time zone")
      for (const zone of zones())
        entries.push({ name: zone, kind: "Time zone", run: () => this.setZone(zone) });
    if (!kind)
      entries.unshift(
        { name: "Write a new script", kind: "Command", run: () => this.newScript() },
        { name: "Your scripts", kind: "Command", run: () => this.desk.openMenu() },
        { name: "Fork Cipher B", kind: "Command", run: () => this.fork("cipher_b") },
        { name: "Contracts", kind: "Command", run: () => this.contracts.open() },
        { name: "Follow a contract", kind: "Command", run: () => this.board.form.open() },
        { name: "Load bars from a file", kind: "Command", run: () => this.barsDrop.choose() },
        { name: "Switch the theme", kind: "Command", run: () => this.switchTheme() },
        { name: "Copy the link of this chart", kind: "Command", run: () => this.copyLink() },
        { name: "Help", kind: "Command", run: () => location.assign("/docs") },
        { name: "Go to the last bar", kind: "Command", run: () => this.view.showLast() },
      );
    return entries;
  }

  switchTheme() {
    this.setTheme(this.themeName === "dark" ? "light" : "dark");
  }

  async copyLink() {
    await navigator.clipboard.writeText(location.href);
    toast("The link draws this chart again");
  }

  bind() {
    byId("palette").addEventListener("click", () => this.palette.open());
    byId("symbol").addEventListener("click", () => this.palette.open("Symbol"));
    byId("zone").addEventListener("click", () => this.palette.open("Time zone"));
    byId("theme").addEventListener("click", () => this.switchTheme());
    byId("copy").addEventListener("click", () => this.copyLink());
    byId("write").addEventListener("click", () => this.newScript());
    for (const button of document.querySelectorAll("[data-close]"))
      button.addEventListener("click", () => button.closest("dialog").close());
    addEventListener("keydown", (event) => this.press(event));
    byId("chart").addEventListener("keydown", (event) => this.view.press(event));
    for (const button of document.querySelectorAll("#thumbs button"))
      button.addEventListener("click", () => this.showView(button.dataset.view));
  }

  /**
   * Shows one of the sections at the side, or none: the script, or what a contract reads.
   * @param {string | null} id
   */
  showSide(id) {
    for (const side of document.querySelectorAll(".desk")) side.hidden = side.id !== id;
    this.legends.place();
    if (!PHONE.matches || !this.isStarted) return;
    if (id === "desk") this.showView("desk");
    else document.body.dataset.view = id ? "desk" : "board";
  }

  /** @param {string} name */
  showView(name) {
    if (name === "desk" && byId("desk").hidden) {
      if (this.desk?.name) this.showSide("desk");
      else void this.desk?.openMenu();
      return;
    }
    document.body.dataset.view = name;
    for (const button of byId("thumbs").children)
      if (button.dataset.view === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
  }

  /** @param {any} event */
  press(event) {
    const typing = event.composedPath()[0].closest?.("input, select, textarea, [contenteditable]");
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key === "k") this.palette.open();
    else if (control && event.key === "s" && !byId("desk").hidden) void this.desk.save();
    else if (event.key === "/" && !typing) byId("find").focus();
    else return;
    event.preventDefault();
  }
}

const signInAddress = () =>
  `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;

/** Resolves after the next frame is painted; a page that nobody sees paints none. */
const painted = () =>
  new Promise((resolve) => {
    if (document.hidden) resolve();
    else requestAnimationFrame(() => setTimeout(resolve));
  });

function zones() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = Intl.supportedValuesOf?.("timeZone") ?? [];
  return [...new Set(["UTC", local, "America/New_York", "Europe/London", ...known])];
}
