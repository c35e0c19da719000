// Small menus: on right click over the chart, and "More" where the bar has no room.
import { byId, el, render } from "./dom.js";

/** @typedef {{ name: string, run: () => unknown, checked?: boolean } | null} Item null: a line between */

export class Menu {
  constructor() {
    this.host = byId("menu");
    this.from = /** @type {HTMLElement | null} */ (null);
    this.host.addEventListener("keydown", (event) => this.press(event));
    addEventListener("pointerdown", (event) => {
      if (!(event.target instanceof Node && this.host.contains(event.target))) this.close();
    }, true);
    addEventListener("resize", () => this.close());
  }

  /**
   * @param {number} x
   * @param {number} y
   * @param {Item[]} items
   */
  open(x, y, items) {
    this.from = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    render(
      this.host,
      ...items.map((item, at) =>
        item
          ? el(
              "button",
              {
                type: "button",
                role: item.checked === undefined ? "menuitem" : "menuitemcheckbox",
                "aria-checked": item.checked === undefined ? null : String(item.checked),
                tabindex: -1,
                "data-key": `${item.name} ${at}`,
                onclick: () => {
                  this.close();
                  void item.run();
                },
              },
              item.name,
            )
          : el("hr", { "data-key": `line ${at}` }),
      ),
    );
    this.host.hidden = false;
    const { width, height } = this.host.getBoundingClientRect();
    this.host.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
    this.host.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
    this.host.querySelector("button")?.focus();
  }

  close() {
    if (this.host.hidden) return;
    const had = this.host.contains(document.activeElement);
    this.host.hidden = true;
    if (had) this.from?.focus();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const buttons = [...this.host.querySelectorAll("button")];
    const at = buttons.findIndex((button) => button === document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
