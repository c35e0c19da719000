// @ts-nocheck
// The picker: indicators on the chart with their controls, and all that can be added.
import { colorAt } from "./chartview.js";
import { byId, el, iconButton } from "./dom.js";
import { paramControls } from "./params.js";

const SHELVES = { builtin: "Built in", user: "Mine", pact: "Pacts" };
// What people look for first.
const FIRST =
  "cipher_b supertrend bbands volume_profile macd ichimoku stoch vwap adx ema_stack rsi";

export class Picker {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    this.open = -1;
    this.shelf = "builtin";
    this.known = new Map();
    this.find = byId("find");
    this.find.addEventListener("input", () => this.writeShelf());
    for (const [source, title] of Object.entries(SHELVES))
      byId("shelves").append(
        el(
          "button",
          {
            type: "button",
            role: "tab",
            "aria-selected": String(source === this.shelf),
            "aria-controls": "shelf",
            "data-source": source,
            onclick: () => this.choose(source),
          },
          title,
        ),
      );
  }

  /** @param {string} source */
  choose(source) {
    this.shelf = source;
    for (const tab of byId("shelves").children)
      tab.setAttribute("aria-selected", String(tab.dataset.source === source));
    this.writeShelf();
  }

  /** @param {Known[]} indicators */
  setIndicators(indicators) {
    this.known = new Map(indicators.map((/** @type {string} */ indicator) => [indicator.name, indicator]));
    this.writeShelf();
    this.writeChart();
  }

  /** The indicators of the chart, in the order of their panes. */
  writeChart() {
    const { state, data } = this.workbench;
    const items = state.indicators.map((/** @type {Asked} */ asked, /** @type {number} */ at) =>
      this.item(asked, data?.indicators[data.order?.[at] ?? at], at),
    );
    if (!items.length)
      items.push(el("li", { class: "quiet empty" }, "Nothing yet: choose one below."));
    byId("live").replaceChildren(...items);
  }

  /**
   * @param {Asked} asked
   * @param {Drawn | undefined} drawn
   * @param {number} at
   */
  item(asked, drawn, at) {
    const known = this.known.get(asked.name);
    const title = drawn?.scene?.label || drawn?.title || known?.title || asked.name;
    const { workbench } = this;
    const dot = el("span", { class: "dot" });
    dot.style.backgroundColor = dotColor(drawn, workbench.view.theme);
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
    const buttons = [
      iconButton("up", `Move ${title} up`, () => this.move(at, at - 1), { disabled: at === 0 }),
      iconButton("down", `Move ${title} down`, () => this.move(at, at + 1), {
        disabled: at === last,
      }),
      iconButton(
        asked.hidden ? "eye-off" : "eye",
        `${asked.hidden ? "Show" : "Hide"} ${title}`,
        () => workbench.change(at, { hidden: !asked.hidden }),
      ),
      iconButton("x", `Remove ${title}`, () => this.remove(at)),
    ];
    const row = el("div", { class: "row" }, dot, name, el("span", { class: "acts" }, ...buttons));
    const item = el("li", { class: isOpen ? "open" : "" }, row);
    if (asked.hidden) item.classList.add("hidden-one");
    if (drawn?.error) item.classList.add("failed");
    if (isOpen) item.append(this.details(asked, drawn, known, at));
    return item;
  }

  /**
   * @param {Asked} asked
   * @param {Drawn | undefined} drawn
   * @param {Known | undefined} known
   * @param {number} at
   */
  details(asked, drawn, known, at) {
    const params = this.workbench.paramsOf(asked.name) ?? known?.params ?? [];
    const values = { ...drawn?.params, ...asked.params };
    /**
     * @param {string} name
     * @param {any} value
     */
    const change = (name, value) =>
      this.workbench.change(at, { params: { ...asked.params, [name]: value } });
    const box = el("div", { class: "details" }, paramControls(params, values, `p${at}`, change));
    const acts = el("div", { class: "links" });
    if (Object.keys(asked.params).length)
      acts.append(link("Defaults", () => this.workbench.change(at, { params: {} })));
    if (known?.source === "user") acts.append(link("Edit", () => this.workbench.edit(asked.name)));
    else if (known) acts.append(link("Fork", () => this.workbench.fork(asked.name)));
    box.append(acts);
    return box;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  move(from, to) {
    if (this.open === from) this.open = to;
    void this.workbench.move(from, to);
  }

  /** @param {number} at */
  remove(at) {
    if (this.open === at) this.open = -1;
    else if (this.open > at) this.open--;
    void this.workbench.remove(at);
  }

  writeShelf() {
    const words = this.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const order = FIRST.split(" ");
    /** @param {Known} known */
    const rank = ({ name }) => (order.includes(name) ? order.indexOf(name) : order.length);
    /** @param {Known | undefined} known */
    const fits = (known) => {
      const text = [known.name, known.title, known.description, ...(known.aliases ?? [])]
        .join(" ")
        .toLowerCase();
      return words.every((/** @type {string} */ word) => text.includes(word));
    };
    const found = [...this.known.values()]
      .filter((known) => (words.length || known.source === this.shelf) && fits(known))
      .sort((a, b) => rank(a) - rank(b));
    const items = found.map((known) => this.shelfItem(known));
    if (!items.length) items.push(emptyShelf(this.shelf, words.length, this.workbench));
    byId("stock").replaceChildren(...items);
  }

  /** @param {Known | undefined} known */
  shelfItem(known) {
    const add = () => this.workbench.add(known.name);
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", onclick: add, title: known.description || known.title },
        el("span", { class: "mini" }, this.workbench.thumbnail(known.name)),
        el(
          "span",
          {},
          el("b", {}, el("span", { class: "hush" }, "Add "), known.title),
          el("small", {}, known.description || known.name),
        ),
      ),
    );
  }
}

/**
 * @param {string} text
 * @param {() => void} onclick
 */
const link = (text, onclick) => el("button", { type: "button", class: "link", onclick }, text);

/**
 * @param {string} shelf
 * @param {number} searched
 * @param {Workbench} workbench
 */
function emptyShelf(shelf, searched, workbench) {
  if (searched) return el("li", { class: "quiet empty" }, "No indicator has these words.");
  if (shelf !== "user") return el("li", { class: "quiet empty" }, "Loading…");
  return el(
    "li",
    { class: "quiet empty" },
    "No script of yours yet. ",
    link("Write one", () => workbench.newScript()),
  );
}

/**
 * @param {Drawn | undefined} drawn
 * @param {Theme} theme
 */
function dotColor(drawn, theme) {
  const plots = drawn?.scene?.plots ?? [];
  const plot = plots.find((/** @type {any} */ { kind, title }) => title && (kind === "line" || kind === "bars"));
  const color = plot && colorAt(plot, plot.values.length - 1, theme);
  const objects = [...(drawn?.scene?.boxes ?? [])].map((box) => box.border_color);
  return (color || objects.find(Boolean) || theme.muted).slice(0, 7);
}
