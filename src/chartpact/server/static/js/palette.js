// The command palette: symbols, indicators and commands by a few letters.
import { byId, el } from "./dom.js";

const MOST = 40;

export class Palette {
  /**
   * `list` gives entries {name, kind, detail, run}, of one kind where one is asked for.
   * @param {(kind: string | null) => any[]} list
   */
  constructor(list) {
    this.list = list;
    this.dialog = byId("command");
    this.input = byId("say");
    this.answers = byId("answers");
    this.at = 0;
    /** @type {any[]} */
    this.entries = [];
    this.input.addEventListener("input", () => {
      this.at = 0;
      this.write();
    });
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  open(kind = null) {
    this.entries = this.list(kind);
    this.input.value = "";
    this.input.placeholder = kind ?? "Symbol, indicator, script or command";
    this.at = 0;
    this.write();
    this.dialog.showModal();
    this.input.focus();
  }

  matches() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    /** @param {any} given */
    const fits = ({ name, kind, detail }) => {
      const text = `${name} ${kind} ${detail ?? ""}`.toLowerCase();
      return words.every((/** @type {string} */ word) => text.includes(word));
    };
    const first = words[0] ?? "";
    /** @param {any} given */
    const rank = ({ name }) => (name.toLowerCase().startsWith(first) ? 0 : 1);
    return this.entries
      .filter(fits)
      .sort((/** @type {any} */ a, /** @type {any} */ b) => rank(a) - rank(b))
      .slice(0, MOST);
  }

  write() {
    const found = this.matches();
    this.at = Math.max(0, Math.min(this.at, found.length - 1));
    const items = found.map((/** @type {any} */ entry, /** @type {number} */ i) =>
      el(
        "li",
        {
          role: "option",
          id: `answer-${i}`,
          "aria-selected": String(i === this.at),
          onclick: () => this.choose(entry),
        },
        el("span", {}, entry.name),
        el("small", {}, entry.detail ?? entry.kind),
      ),
    );
    if (!found.length)
      items.push(
        el("li", { class: "quiet", role: "option", id: "answer-0" }, "Nothing is called that"),
      );
    this.answers.replaceChildren(...items);
    this.input.setAttribute("aria-activedescendant", `answer-${this.at}`);
    this.answers.children[this.at]?.scrollIntoView({ block: "nearest" });
    return found;
  }

  /** @param {any} event */
  press(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.at += event.key === "ArrowDown" ? 1 : -1;
      this.write();
    } else if (event.key === "Enter") {
      const entry = this.matches()[this.at];
      if (entry) this.choose(entry);
    } else return;
    event.preventDefault();
  }

  /** @param {any} entry */
  choose(entry) {
    this.dialog.close();
    entry.run();
  }
}
