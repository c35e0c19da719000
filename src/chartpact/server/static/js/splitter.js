// The line between the chart and what stands at its side, which can be dragged and moved by keys.
import { byId } from "./dom.js";

const LEAST = 300;
const STEP = 24;

export class Splitter {
  /** @param {() => void} onMoved */
  constructor(onMoved) {
    /** @type {number | null} */
    this.width = null;
    this.line = byId("splitter");
    this.line.addEventListener("pointerdown", (event) => {
      this.line.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.line.addEventListener("pointermove", (event) => {
      if (this.line.hasPointerCapture(event.pointerId)) this.set(innerWidth - event.clientX);
    });
    this.line.addEventListener("pointerup", onMoved);
    this.line.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
      if (!way) return;
      this.set(innerWidth - this.line.getBoundingClientRect().right + way * STEP);
      onMoved();
      event.preventDefault();
    });
  }

  /** @param {number | null | undefined} width */
  set(width) {
    if (!Number.isFinite(width)) return;
    this.width = Math.round(Math.max(LEAST, Math.min(Number(width), innerWidth - 420)));
    document.body.style.setProperty("--side", `${this.width}px`);
    this.line.setAttribute("aria-valuenow", String(this.width));
  }
}
