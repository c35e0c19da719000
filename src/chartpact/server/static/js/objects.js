// Which element of a contract each drawn object matched, as a table.
import { el } from "./dom.js";
import { anchorsOf, describeObject, formatPlain, words } from "./wording.js";

const MOST_ROWS = 200;

/** The table of objects; a click on one calls `choose` with it. */
export class ObjectTable {
  constructor(choose) {
    this.choose = choose;
    this.filter = "";
    this.chosen = null;
    this.host = el("div", { class: "objects" });
  }

  /** Shows the objects of a match. */
  write(objects, zone, leftOut = 0) {
    Object.assign(this, { objects, zone, leftOut });
    const names = [...new Set(objects.flatMap(({ elements }) => elements))];
    const unclaimed = objects.filter(({ elements }) => !elements.length).length;
    if (this.filter && this.filter !== "?" && !names.includes(this.filter)) this.filter = "";
    const option = (value, text) =>
      el("option", { value, selected: value === this.filter }, text);
    const pick = el(
      "select",
      { "aria-label": "Element", onchange: (event) => this.setFilter(event.target.value) },
      option("", `All elements (${objects.length})`),
      ...names.map((name) => {
        const count = objects.filter(({ elements }) => elements.includes(name)).length;
        return option(name, `${words(name)} (${count})`);
      }),
      ...(unclaimed ? [option("?", `No element (${unclaimed})`)] : []),
    );
    this.rows = el("tbody");
    this.note = el("p", { class: "quiet" });
    this.host.replaceChildren(
      pick,
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...["Object", "Element", "Fields"].map((text) => el("th", { scope: "col" }, text)))),
        this.rows,
      ),
      this.note,
    );
    this.writeRows();
  }

  setFilter(name) {
    this.filter = name;
    this.writeRows();
  }

  writeRows() {
    const { filter, zone } = this;
    const fits = ({ elements }) =>
      !filter || (filter === "?" ? !elements.length : elements.includes(filter));
    const shown = this.objects.filter(fits);
    shown.sort((a, b) => rankOf(b) - rankOf(a) || timeOf(b) - timeOf(a));
    this.rows.replaceChildren(...shown.slice(0, MOST_ROWS).map((one) => this.writeRow(one, zone)));
    const more = shown.length - MOST_ROWS + (filter ? 0 : this.leftOut);
    this.note.textContent = more > 0 ? `and ${more} more; choose an element to see fewer` : "";
    if (!shown.length) this.note.textContent = "Nothing was drawn";
  }

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
            onclick: () => this.pick(one, row),
          },
          describeObject(one.object, zone, one.channel),
        ),
      ),
      el("td", {}, name, one.part ? el("small", {}, ` ${words(one.part)}`) : null),
      el("td", {}, el("span", { class: "pairs" }, ...fields)),
    );
    return row;
  }

  pick(one, row) {
    this.chosen = one;
    for (const button of this.rows.querySelectorAll("[aria-pressed=true]"))
      button.setAttribute("aria-pressed", "false");
    row.querySelector("button").setAttribute("aria-pressed", "true");
    this.choose(one);
  }

  /** Chooses the object that a violation names. */
  find(record) {
    const text = JSON.stringify(sortKeys(record));
    return this.objects?.find(({ object }) => JSON.stringify(sortKeys(object)) === text);
  }
}

/** A value whose keys are in order: a journal stores records in another one than they are drawn. */
function sortKeys(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** What breaks the contract comes first, then what most elements look at. */
const rankOf = ({ violations, used, elements }) =>
  100 * violations.length + 10 * used + elements.length;
const timeOf = ({ object }) => Math.max(0, ...anchorsOf(object).map(({ time }) => time ?? 0));

function formatField(value, zone) {
  if (Array.isArray(value)) return value.map((one) => formatField(one, zone)).join(" ");
  if (value !== null && typeof value === "object") return JSON.stringify(value);
  return formatPlain(value, zone);
}
