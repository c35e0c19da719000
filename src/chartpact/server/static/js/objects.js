// Which element of a contract each drawn object matched, as a table.
import { el, render } from "./dom.js";
import { anchorsOf, describeObject, formatPlain, words } from "./wording.js";

const MOST_ROWS = 200;

/** The table of objects; a click on one calls `choose` with it. */
export class ObjectTable {
  /** @param {(one: any) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.filter = "";
    /** @type {Matched | null} */
    this.chosen = null;
    /** @type {Matched[]} */
    this.objects = [];
    this.zone = "UTC";
    this.leftOut = 0;
    // These stay: what they are made of is rendered into them.
    this.rows = el("tbody");
    this.note = el("p", { class: "quiet", "data-key": "note" });
    const heads = ["Object", "Element", "Fields"].map((text) => el("th", { scope: "col" }, text));
    this.table = el("table", { "data-key": "table" }, el("thead", {}, el("tr", {}, ...heads)), this.rows);
    this.host = el("div", { class: "objects", "data-key": "objects" });
  }

  /**
   * Shows the objects of a match.
   * @param {Matched[]} objects
   * @param {string} zone
   */
  write(objects, zone, leftOut = 0) {
    Object.assign(this, { objects, zone, leftOut });
    const names = [...new Set(objects.flatMap((/** @type {Matched} */ { elements }) => elements))];
    const unclaimed = objects.filter((/** @type {Matched} */ { elements }) => !elements.length).length;
    if (this.filter && this.filter !== "?" && !names.includes(this.filter)) this.filter = "";
    /**
     * @param {any} value
     * @param {string} text
     */
    const option = (value, text) =>
      el("option", { value, selected: value === this.filter }, text);
    const pick = el(
      "select",
      { "aria-label": "Element", onchange: (/** @type {any} */ event) => this.setFilter(event.currentTarget.value) },
      option("", `All elements (${objects.length})`),
      ...names.map((name) => {
        const count = objects.filter((/** @type {Matched} */ { elements }) => elements.includes(name)).length;
        return option(name, `${words(name)} (${count})`);
      }),
      ...(unclaimed ? [option("?", `No element (${unclaimed})`)] : []),
    );
    render(this.host, pick, this.table, this.note);
    this.writeRows();
  }

  /** @param {string} name */
  setFilter(name) {
    this.filter = name;
    this.writeRows();
  }

  writeRows() {
    const { filter, zone } = this;
    /** @param {Matched} matched */
    const fits = ({ elements }) =>
      !filter || (filter === "?" ? !elements.length : elements.includes(filter));
    const shown = this.objects.filter(fits);
    shown.sort((/** @type {Matched} */ a, /** @type {Matched} */ b) => rankOf(b) - rankOf(a) || timeOf(b) - timeOf(a));
    render(this.rows, ...shown.slice(0, MOST_ROWS).map((/** @type {Matched} */ one) => this.writeRow(one, zone)));
    const more = shown.length - MOST_ROWS + (filter ? 0 : this.leftOut);
    this.note.textContent = more > 0 ? `and ${more} more; choose an element to see fewer` : "";
    if (!shown.length) this.note.textContent = "Nothing was drawn";
  }

  /**
   * @param {Matched} one
   * @param {string} zone
   */
  writeRow(one, zone) {
    const name = one.elements.map(words).join(", ") || "none";
    const fields = Object.entries(one.fields).map(([key, value]) =>
      el("span", { class: "pair" }, `${words(key)} `, el("span", {}, formatField(value, zone))),
    );
    const row = el(
      "tr",
      { class: one.violations.length ? "is-wrong" : one.elements.length ? null : "is-unclaimed" },
      el(
        "td",
        {},
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(this.chosen === one),
            onclick: (/** @type {any} */ event) => this.pick(one, event.currentTarget),
          },
          describeObject(one.object, zone, one.channel),
        ),
      ),
      el("td", {}, name, one.part ? el("small", {}, ` ${words(one.part)}`) : null),
      el("td", {}, el("span", { class: "pairs" }, ...fields)),
    );
    return row;
  }

  /**
   * @param {Matched} one
   * @param {HTMLElement} button
   */
  pick(one, button) {
    this.chosen = one;
    for (const other of this.rows.querySelectorAll("[aria-pressed=true]"))
      other.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    this.choose(one);
  }

  /**
   * Chooses the object that a violation names.
   * @param {DrawnRecord} record
   */
  find(record) {
    const text = JSON.stringify(sortKeys(record));
    return this.objects?.find((/** @type {Matched} */ { object }) => JSON.stringify(sortKeys(object)) === text);
  }
}

/**
 * A value whose keys are in order: a journal stores records in another one than they are drawn.
 * @param {any} value
 * @returns {any}
 */
function sortKeys(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

/**
 * What breaks the contract comes first, then what most elements look at.
 * @param {Matched} matched
 */
const rankOf = ({ violations, used, elements }) =>
  100 * violations.length + 10 * Number(used) + elements.length;
/** @param {Matched} matched */
const timeOf = ({ object }) => Math.max(0, ...anchorsOf(object).map(({ time }) => time ?? 0));

/**
 * @param {any} value
 * @param {string} zone
 * @returns {string}
 */
function formatField(value, zone) {
  if (Array.isArray(value)) return value.map((one) => formatField(one, zone)).join(" ");
  if (value !== null && typeof value === "object") return JSON.stringify(value);
  return formatPlain(value, zone);
}
