// Elements, made without markup: texts of scripts and charts stay texts.
const SVG = "http://www.w3.org/2000/svg";

/**
 * An element that the page has.
 * @template {string} K
 * @param {K} id
 * @returns {K extends keyof ElementById ? ElementById[K] : HTMLElement}
 */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

/**
 * An element; attributes that are false, null or undefined are left out, on… are listeners.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} attributes
 * @param {(Node | string | null | undefined)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {Node[]} children
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @param {string} name */
export const icon = (name) =>
  svg("svg", { class: "icon", "aria-hidden": "true" }, svg("use", { href: `#i-${name}` }));

/**
 * A button with an icon; its name is for who cannot see the icon, and its tooltip.
 * @param {string} name
 * @param {string} label
 * @param {(event: Event) => void} onclick
 * @param {Record<string, any>} more
 */
export const iconButton = (name, label, onclick, more = {}) =>
  el("button", { type: "button", "aria-label": label, title: label, onclick, ...more }, icon(name));

/**
 * Calls a function once nothing has happened for a while.
 * @param {(...values: any[]) => void} call
 * @param {number} ms
 */
export function debounce(call, ms) {
  let timer = 0;
  /** @param {...any} values */
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

let toastTimer = 0;

/**
 * A short message at the bottom of the page.
 * @param {string} text
 */
export function toast(text, kind = "") {
  const place = byId("toast");
  place.textContent = text;
  place.dataset.kind = kind;
  place.classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => place.classList.remove("on"), kind === "bad" ? 8000 : 3500);
}
