// The picker: indicators on the chart with their controls, and all that can be added.
import { get, say } from "./api.js";
import { colorAt } from "./chartview.js";
import { byId, el, iconButton, render, svg } from "./dom.js";
import { Drafts } from "./drafts.js";
import { paramControls } from "./params.js";
import { Watchlist } from "./watchlist.js";
import { styleControls } from "./stylecontrols.js";

/** @type {Record<string, string>} */
const SHELVES = { builtin: "Built in", user: "Mine", pact: "Pacts", watch: "Watch" };
// What people look for first.
const FIRST =
  "cipher_b supertrend bbands volume_profile macd ichimoku stoch vwap adx ema_stack rsi".split(" ");

export class Picker {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    this.open = -1;
    this.shelf = "builtin";
    /** @type {Map<string, Known>} */
    this.known = new Map();
    /** @type {Record<string, Stroke[]>} */
    this.thumbnails = {};
    this.watchlist = new Watchlist(workbench, () => this.writeShelf());
    this.find = byId("find");
    this.find.addEventListener("input", () => this.writeShelf());
    this.find.addEventListener("keydown", (event) => {
      const [first] = this.matches();
      if (event.key !== "Enter" || !first) return;
      event.preventDefault();
      this.add(first.name);
    });
    this.writeTabs();
  }

  writeTabs() {
    const names = Object.keys(SHELVES);
    const choose = (/** @type {number} */ at) => {
      this.shelf = names[(at + names.length) % names.length];
      this.writeTabs();
      this.writeShelf();
      byId("shelves").querySelectorAll("button")[names.indexOf(this.shelf)].focus();
    };
    render(
      byId("shelves"),
      ...names.map((source, at) =>
        el(
          "button",
          {
            type: "button",
            role: "tab",
            tabindex: source === this.shelf ? 0 : -1,
            "aria-selected": String(source === this.shelf),
            "aria-controls": "shelf",
            "data-source": source,
            "data-key": source,
            onclick: () => choose(at),
            onkeydown: (/** @type {KeyboardEvent} */ event) => {
              if (event.key === "ArrowRight") choose(at + 1);
              if (event.key === "ArrowLeft") choose(at - 1);
            },
          },
          SHELVES[source],
        ),
      ),
    );
  }

  /** @param {Known[]} indicators */
  setIndicators(indicators) {
    this.known = new Map(indicators.map((indicator) => [indicator.name, indicator]));
    this.writeShelf();
    this.writeChart();
  }

  async loadThumbnails() {
    ({ thumbnails: this.thumbnails } = await get("thumbnails"));
    this.writeShelf();
    document.documentElement.dataset.thumbnails = "";
  }

  /** @param {string} name */
  thumbnail(name) {
    const strokes = this.thumbnails[name] ?? [];
    const paths = strokes.map(({ path, color }) => svg("path", { d: path, stroke: color }));
    return svg("svg", { viewBox: "0 0 62 32", "aria-hidden": "true" }, ...paths);
  }

  /** @param {string} name */
  add(name, params = {}) {
    this.open = this.workbench.state.indicators.length;
    void this.workbench.chart.add(name, params).catch(say);
  }

  /** @param {Asked} asked */
  titleOf(asked) {
    return this.known.get(asked.name)?.title ?? asked.name;
  }

  /**
   * Opens the settings of an indicator on the chart.
   * @param {number} at
   */
  show(at) {
    this.open = at;
    this.writeChart();
    void this.workbench.showView("picker");
    byId("live").querySelectorAll("li")[at]?.querySelector("input, select, button.name")?.scrollIntoView({ block: "nearest" });
    const control = byId("live").querySelectorAll("li")[at]?.querySelector(".details input, .details select");
    if (control instanceof HTMLElement) control.focus();
  }

  /** The indicators of the chart, in the order of their panes. */
  writeChart() {
    const { chart } = this.workbench;
    const seen = new Map(); // how often each name came before: a row stays that of its indicator
    const items = chart.state.indicators.map((asked, at) => {
      const count = seen.get(asked.name) ?? 0;
      seen.set(asked.name, count + 1);
      return this.item(asked, chart.drawnAt(at), at, `${asked.name} ${count}`);
    });
    if (!items.length)
      items.push(el("li", { class: "quiet empty" }, "Nothing yet: choose one below."));
    render(byId("live"), ...items);
  }

  /**
   * @param {Asked} asked
   * @param {Drawn | undefined} drawn
   * @param {number} at
   * @param {string} key
   */
  item(asked, drawn, at, key) {
    const { workbench } = this;
    const known = this.known.get(asked.name);
    const title = drawn?.scene?.label || drawn?.title || known?.title || asked.name;
    const dot = el("span", { class: "dot", style: null });
    dot.style.backgroundColor = dotColor(drawn, workbench.view.theme, asked);
    const numbers = Object.values(drawn?.params ?? asked.params).filter(Number.isFinite);
    const isOpen = this.open === at;
    const toggle = () => {
      this.open = isOpen ? -1 : at;
      this.writeChart();
    };
    const name = el(
      "button",
      { type: "button", class: "name", "aria-expanded": String(isOpen), onclick: toggle },
      title,
      el("small", {}, numbers.slice(0, 3).join(" ")),
    );
    const last = workbench.state.indicators.length - 1;
    const button = (/** @type {string} */ sign, /** @type {string} */ act, /** @type {string} */ label, /** @type {() => unknown} */ onclick, more = {}) =>
      iconButton(sign, label, onclick, { "data-key": act, ...more });
    const buttons = [
      button("up", "up", `Move ${title} up`, () => this.move(at, at - 1), { "aria-disabled": at === 0 && "true" }),
      button("down", "down", `Move ${title} down`, () => this.move(at, at + 1), { "aria-disabled": at === last && "true" }),
      button(asked.hidden ? "eye-off" : "eye", "eye", `${asked.hidden ? "Show" : "Hide"} ${title}`, () => workbench.toggle(at)),
      button("x", "x", `Remove ${title}`, () => this.remove(at)),
    ];
    const row = el("div", { class: "row" }, dot, name, el("span", { class: "acts" }, ...buttons));
    const classes = [isOpen && "open", asked.hidden && "hidden-one", drawn?.error && "failed"];
    return el(
      "li",
      { class: classes.filter(Boolean).join(" "), "data-key": key },
      row,
      isOpen && this.details(asked, drawn, known, at, key),
    );
  }

  /**
   * @param {Asked} asked
   * @param {Drawn | undefined} drawn
   * @param {Known | undefined} known
   * @param {number} at
   * @param {string} key
   */
  details(asked, drawn, known, at, key) {
    const { workbench } = this;
    const params = workbench.desk?.paramsOf(asked.name) ?? known?.params ?? null;
    const values = { ...drawn?.params, ...asked.params };
    const change = (/** @type {string} */ name, /** @type {any} */ value) => {
      // The indicator may have moved meanwhile.
      const { params: now } = workbench.state.indicators[at];
      return workbench.chart.changeIndicator(at, { params: { ...now, [name]: value } });
    };
    const link = (/** @type {string} */ text, /** @type {() => unknown} */ onclick) =>
      el("button", { type: "button", class: "link", "data-key": text, onclick }, text);
    const isUnsaved = !known && new Drafts(workbench.me.user).get(asked.name) !== null;
    return el(
      "div",
      { class: "details", "data-key": `details ${key}` },
      paramControls(params, values, `p${at}`, change),
      styleControls(drawn, asked, `s${at}`, workbench.view.theme, (styles) =>
        workbench.chart.changeIndicator(at, { styles }),
      ),
      el(
        "div",
        { class: "links" },
        Object.keys(asked.params).length > 0 &&
          link("Defaults", () => workbench.chart.changeIndicator(at, { params: {} })),
        (known?.source === "user" || isUnsaved) && link("Edit", () => workbench.edit(asked.name)),
        known && known.source !== "user" && link("Fork", () => workbench.fork(asked.name)),
      ),
    );
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  move(from, to) {
    if (to < 0 || to >= this.workbench.state.indicators.length) return null;
    if (this.open === from) this.open = to;
    return this.workbench.chart.move(from, to);
  }

  /** @param {number} at */
  remove(at) {
    if (this.open === at) this.open = -1;
    else if (this.open > at) this.open--;
    return this.workbench.removeIndicator(at);
  }

  /** What the words that are typed mean, the nearest first; without words the shelf. */
  matches() {
    const typed = this.find.value.trim().toLowerCase();
    const words = typed.split(/\s+/).filter(Boolean);
    /** @param {Known} known */
    const rank = ({ name, title, aliases = [] }) => {
      const names = [name, title, ...aliases].map((text) => text.toLowerCase());
      if (words.length && names.includes(typed)) return -2;
      if (words.length && names.some((text) => text.startsWith(typed))) return -1;
      return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
    };
    /** @param {Known} known */
    const fits = (known) => {
      const text = [known.name, known.title, known.description, ...(known.aliases ?? [])]
        .join(" ")
        .toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return [...this.known.values(), ...this.unsaved()]
      .filter((known) => (words.length || known.source === this.shelf) && fits(known))
      .sort((a, b) => rank(a) - rank(b));
  }

  /**
   * Scripts that are typed and were never saved.
   * @returns {Known[]}
   */
  unsaved() {
    return new Drafts(this.workbench.me.user)
      .names()
      .filter((name) => !this.known.has(name))
      .map((name) => ({ name, title: name, category: "user", source: "user", description: "not saved yet", isUnsaved: true }));
  }

  writeShelf() {
    if (this.shelf === "watch" && !this.find.value.trim()) {
      render(byId("stock"), ...this.watchlist.rows());
      return;
    }
    const items = this.matches().map((known) => this.shelfItem(known));
    if (!items.length) items.push(this.emptyShelf());
    render(byId("stock"), ...items);
  }

  /** @param {Known} known */
  shelfItem(known) {
    const add = () => (known.isUnsaved ? this.workbench.edit(known.name) : this.add(known.name));
    return el(
      "li",
      { "data-key": known.name },
      el(
        "button",
        { type: "button", onclick: add, title: known.description || known.title },
        el("span", { class: "mini" }, this.thumbnail(known.name)),
        el(
          "span",
          {},
          el("b", {}, el("span", { class: "hush" }, known.isUnsaved ? "Edit " : "Add "), known.title),
          el("small", {}, known.description || known.name),
        ),
      ),
    );
  }

  emptyShelf() {
    const quiet = { class: "quiet empty", "data-key": "empty" };
    if (this.find.value.trim()) return el("li", quiet, "No indicator has these words.");
    if (this.shelf !== "user") return el("li", quiet, "Loading…");
    const write = () => this.workbench.newScript();
    return el(
      "li",
      quiet,
      "No script of yours yet. ",
      el("button", { type: "button", class: "link", onclick: write }, "Write one"),
    );
  }
}

/**
 * @param {Drawn | undefined} drawn
 * @param {Theme} theme
 * @param {Asked} asked
 */
function dotColor(drawn, theme, asked) {
  const chosen = Object.values(asked.styles ?? {}).find(({ color }) => color)?.color;
  if (chosen) return chosen.slice(0, 7);
  for (const plot of drawn?.scene?.plots ?? [])
    if ((plot.kind === "line" || plot.kind === "bars") && plot.title)
      return (colorAt(plot, plot.values.length - 1, theme) || theme.muted).slice(0, 7);
  const border = (drawn?.scene?.boxes ?? []).map((box) => box.border_color).find(Boolean);
  return (border || theme.muted).slice(0, 7);
}
