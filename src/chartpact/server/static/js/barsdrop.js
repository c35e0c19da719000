// Bars from a file: dropped anywhere on the page, shown as they were read, kept when that is right.
import { putBars, Refusal } from "./api.js";
import { byId, el, handle, render, toast } from "./dom.js";

// What somebody may know of a file better than it tells.
const KNOWN = [
  { name: "symbol", label: "Symbol", placeholder: "ES" },
  { name: "timeframe", label: "Timeframe", placeholder: "5m" },
  { name: "tz", label: "Time zone of the file", placeholder: "America/New_York" },
  { name: "stamp", label: "A bar's time is its", options: ["", "open", "close"] },
  { name: "date_order", label: "Dates such as 03.04.2024", options: ["", "dmy", "mdy"] },
  { name: "decimal", label: "Decimal sign", options: ["", ".", ","] },
  { name: "columns", label: "Columns", placeholder: "close=Price,time=Date" },
  { name: "tick_size", label: "Tick size", placeholder: "0.25" },
];

/** @param {File} file */
const nameOf = (file) =>
  file.name
    .replace(/\.\w+$/, "")
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    .slice(0, 64) || "bars";

/** @param {string} id */
const inputOf = (id) => /** @type {HTMLInputElement} */ (byId(id));

export class BarsDrop {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    /** @type {File} */
    this.file = new File([], "");
    /** @type {symbol | null} */
    this.turn = null;
    this.input = el("input", { type: "file", accept: ".csv,.txt,.parquet", hidden: true });
    this.input.addEventListener(
      "change",
      () => this.input.files?.[0] && void this.open(this.input.files[0]),
    );
    document.body.append(this.input);
    const drop = byId("drop");
    /** @param {any} event */
    const hasFile = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragenter", (event) => {
      if (hasFile(event)) drop.hidden = false;
    });
    addEventListener("dragover", (event) => {
      if (hasFile(event)) event.preventDefault();
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) drop.hidden = true;
    });
    addEventListener("drop", (event) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      drop.hidden = true;
      const [dropped] = event.dataTransfer?.files ?? [];
      if (dropped) void this.open(dropped);
    });
  }

  choose() {
    this.input.value = "";
    this.input.click();
  }

  /**
   * Shows what a file was read as; nothing is kept yet. A JSON file is a snapshot.
   * @param {File} file
   */
  async open(file) {
    if (file.name.endsWith(".json")) return this.workbench.contracts?.takeFile(file);
    this.file = file;
    const form = byId("bars-form");
    const outcome = el("div", { class: "read-as", role: "status", id: "bars-read" });
    /** @param {any} given */
    const field = ({ name, label, options, placeholder }) => {
      const id = `bars-${name}`;
      const control = options
        ? el(
            "select",
            { id, name },
            ...options.map((/** @type {string} */ o) => el("option", { value: o }, o || "as guessed")),
          )
        : el("input", { id, name, placeholder, list: name === "tz" ? "zones" : null, autocomplete: "off", spellcheck: "false" });
      handle(control, "change", () => this.read());
      return el("div", { class: "param" }, el("label", { for: id }, label), control);
    };
    const name = el("input", {
      id: "bars-name",
      value: nameOf(file),
      required: true,
      pattern: "[A-Za-z0-9_.\\-]{1,64}",
    });
    render(form,       el(
        "div",
        { class: "params" },
        el("div", { class: "param" }, el("label", { for: "bars-name" }, "Name"), name),
      ),
      outcome,
      el(
        "details",
        { id: "bars-known" },
        el("summary", {}, "Correct what was guessed"),
        el("div", { class: "params" }, ...KNOWN.map(field)),
      ),
      el(
        "p",
        { class: "acts" },
        el(
          "button",
          { type: "button", class: "plain", onclick: () => byId("bars").close() },
          "Cancel",
        ),
        el("button", { type: "submit", class: "run", id: "keep-bars", disabled: true }, "Keep"),
      ),
    );
    form.onsubmit = (event) => {
      event.preventDefault();
      void this.keep();
    };
    byId("bars").showModal();
    await this.read();
  }

  known() {
    const values = KNOWN.map(({ name }) => [name, inputOf(`bars-${name}`).value.trim()]);
    return Object.fromEntries(values.filter(([, value]) => value));
  }

  /**
   * Shows what the file is read as; of several requests under way only the last counts.
   */
  async read() {
    const outcome = byId("bars-read");
    const turn = (this.turn = Symbol());
    const keep = byId("keep-bars");
    keep.disabled = true;
    render(outcome, "Reading…");
    try {
      const read = await putBars(nameOf(this.file), this.file, this.known(), true);
      if (turn !== this.turn) return;
      /** @param {number} ms */
      const day = (ms) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");
      const facts = {
        Symbol: read.symbol || "not known",
        Timeframe: read.timeframe || "not known",
        Bars: read.bars.toLocaleString("en"),
        From: `${day(read.first)} UTC`,
        To: `${day(read.last)} UTC`,
      };
      const list = el("dl", {});
      for (const [term, value] of Object.entries(facts))
        list.append(el("dt", {}, term), el("dd", {}, value));
      const notes = read.notes.map((/** @type {string} */ note) => el("li", {}, note));
      render(outcome, list, notes.length ? el("ul", { class: "notes" }, ...notes) : "");
      keep.disabled = false;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (turn !== this.turn) return;
      const wantsZone = /\btz=/.test(error.hint) || /\btz=/.test(error.message);
      const message = wantsZone ? "Its times name no time zone." : error.message;
      const hint = wantsZone ? "Say which one they are in." : error.hint;
      render(outcome, el("p", { class: "bad" }, message), el("p", {}, hint));
      const known = byId("bars-known");
      if (known instanceof HTMLDetailsElement) known.open = true;
      if (wantsZone) byId("bars-tz").focus();
    }
  }

  async keep() {
    const name = inputOf("bars-name").value.trim();
    try {
      await putBars(name, this.file, this.known());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(`Not kept: ${error.message}`, "bad");
      return;
    }
    byId("bars").close();
    toast(`Kept as ${name}@mine`);
    await this.workbench.loadSymbols();
    await this.workbench.setSymbol(`${name}@mine`);
  }
}
