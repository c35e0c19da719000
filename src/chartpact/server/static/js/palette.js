// The command palette: symbols, indicators and commands by a few letters.
import { byId, el, render } from "./dom.js";

const MOST = 40;

/** @typedef {{ name: string, kind: string, detail?: string, run: () => unknown }} Entry */

export class Palette {
  /** @param {(kind: string | null, typed: string) => Entry[]} list what can be chosen, of one kind where one is asked for */
  constructor(list) {
    this.list = list;
    this.dialog = byId("command");
    this.input = byId("say");
    this.answers = byId("answers");
    this.at = 0;
    /** @type {string | null} */
    this.kind = null;
    this.input.addEventListener("input", () => {
      this.at = 0;
      this.write();
    });
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  /** @param {string | null} kind */
  open(kind = null, typed = "") {
    this.kind = kind;
    this.input.value = typed;
    this.input.placeholder = kind ?? "Symbol, indicator, script or command";
    this.at = 0;
    this.write();
    if (!this.dialog.open) this.dialog.showModal();
    this.input.focus();
  }

  matches() {
    const typed = this.input.value.trim();
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const first = words[0] ?? "";
    /** @param {Entry} entry */
    const fits = ({ name, kind, detail }) => {
      const text = `${name} ${kind} ${detail ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    /** @param {Entry} entry */
    const rank = ({ name }) => {
      const short = name.toLowerCase().replace(/^sample:/, "");
      return short === first ? 0 : short.startsWith(first) ? 1 : 2;
    };
    return this.list(this.kind, typed)
      .filter(fits)
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, MOST);
  }

  write() {
    const found = this.matches();
    this.at = Math.max(0, Math.min(this.at, found.length - 1));
    const items = found.map((entry, i) =>
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
      items.push(el("li", { class: "quiet", role: "option", id: "answer-0" }, "Nothing is called that"));
    render(this.answers, ...items);
    this.input.setAttribute("aria-activedescendant", `answer-${this.at}`);
    this.answers.children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
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

  /** @param {Entry} entry */
  choose(entry) {
    this.dialog.close();
    void entry.run();
  }
}
