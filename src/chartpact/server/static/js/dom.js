// Elements, made without markup: texts of scripts and charts stay texts.
const SVG = "http://www.w3.org/2000/svg";

/**
 * An element that the page has.
 * @template {string} K
 * @param {K} id
 * @returns {K extends keyof ElementById ? ElementById[K] : HTMLElement}
 */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** @type {WeakMap<EventTarget, Record<string, (event: any) => unknown>>} */
const listeners = new WeakMap();
/** @param {Event} event */
const hear = (event) => event.currentTarget && listeners.get(event.currentTarget)?.[event.type]?.(event);

/**
 * An element; attributes that are false, null or undefined are left out, on… are listeners.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} attributes
 * @param {(Node | string | null | undefined | false)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  /** @type {Record<string, (event: any) => unknown>} */
  const handlers = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      if (value) handlers[name.slice(2)] = value;
    } else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  listen(element, handlers);
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, (event: any) => unknown>} handlers
 */
function listen(element, handlers) {
  for (const name of Object.keys(handlers)) element.addEventListener(name, hear); // once each
  listeners.set(element, handlers);
}

/**
 * Listens to an element as el() does: what stays on the page hears for what takes its place.
 * @param {Element} element
 * @param {string} name
 * @param {(event: any) => unknown} handler
 */
export function handle(element, name, handler) {
  listen(element, { ...listeners.get(element), [name]: handler });
}

/**
 * Makes the children of an element what they should be, and keeps those that stay: their focus,
 * scroll and typed text. A child stays what it is by its `data-key` or id, else by its place among
 * those of its kind. A control's value changes only where what was written for it has changed.
 * @param {Element} host
 * @param {(Node | string | null | undefined | false)[]} children
 */
export function render(host, ...children) {
  /** @type {Map<string, Node[]>} */
  const old = new Map();
  for (const child of host.childNodes) {
    const key = keyOf(child);
    old.set(key, [...(old.get(key) ?? []), child]);
  }
  const wanted = children
    .map((child) => (child && typeof child === "string" ? document.createTextNode(child) : child))
    .filter((child) => child instanceof Node)
    .map((child) => {
      const same = old.get(keyOf(child));
      if (child.parentNode === host) {
        same?.splice(same.indexOf(child), 1);
        return child;
      }
      const known = same?.shift();
      return known ? become(known, child) : child;
    });
  const stays = new Set(wanted);
  for (const child of [...host.childNodes]) if (!stays.has(child)) child.remove();
  wanted.forEach((child, i) => {
    if (host.childNodes[i] !== child) host.insertBefore(child, host.childNodes[i] ?? null);
  });
}

/** @param {Node} node */
const keyOf = (node) =>
  node instanceof Element ? `${node.tagName} ${node.getAttribute("data-key") ?? node.id}` : "#text";

/**
 * Turns a node into what another one is.
 * @param {Node} node
 * @param {Node} other
 */
function become(node, other) {
  if (!(node instanceof Element) || !(other instanceof Element)) {
    if (node.nodeValue !== other.nodeValue) node.nodeValue = other.nodeValue;
    return node;
  }
  const hasNewValue = node.getAttribute("value") !== other.getAttribute("value");
  const hasNewCheck = node.hasAttribute("checked") !== other.hasAttribute("checked");
  for (const { name } of [...node.attributes])
    if (name !== "style" && !other.hasAttribute(name) && !(name === "aria-invalid" && !hasNewValue) && !(name === "open" && node instanceof HTMLDetailsElement)) node.removeAttribute(name);
  for (const { name, value } of other.attributes)
    if (name !== "style" && node.getAttribute(name) !== value) node.setAttribute(name, value);
  // The policy of the page allows no style in markup, which an attribute would be.
  if (node instanceof HTMLElement && other instanceof HTMLElement && node.style.cssText !== other.style.cssText)
    node.style.cssText = other.style.cssText;
  if (node instanceof HTMLInputElement && node !== document.activeElement) {
    if (hasNewValue) node.value = node.getAttribute("value") ?? "";
    if (hasNewCheck) node.checked = node.hasAttribute("checked");
  }
  listen(node, listeners.get(other) ?? {});
  const selected = node instanceof HTMLSelectElement ? node.querySelector("option[selected]")?.textContent : null;
  if (!(node instanceof HTMLTextAreaElement)) render(node, ...other.childNodes);
  if (node instanceof HTMLSelectElement) {
    const wanted = node.querySelector("option[selected]");
    if (wanted instanceof HTMLOptionElement && wanted.textContent !== selected) node.value = wanted.value;
  }
  return node;
}

/** Something that tells others what happened to it. */
export class Teller {
  constructor() {
    /** @type {Record<string, ((...values: any[]) => unknown)[]>} */
    this.hearers = {};
  }
  /**
   * @param {string} name
   * @param {(...values: any[]) => unknown} hearer
   */
  on(name, hearer) {
    (this.hearers[name] ??= []).push(hearer);
  }
  /**
   * @param {string} name
   * @param {any[]} values
   */
  tell(name, ...values) {
    for (const hearer of this.hearers[name] ?? []) hearer(...values);
  }
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
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {any[]} */
  let given = [];
  const run = () => {
    clearTimeout(timer);
    timer = undefined;
    call(...given);
  };
  /** @param {any[]} values */
  const later = (...values) => {
    given = values;
    clearTimeout(timer);
    timer = setTimeout(run, ms);
  };
  /** Calls at once what is waiting. */
  later.flush = () => timer !== undefined && run();
  return later;
}

/** @type {ReturnType<typeof setTimeout>} */
let toastTimer;

/**
 * A short message at the bottom of the page.
 * @param {string} text
 */
export function toast(text, kind = "") {
  const place = byId("toast");
  render(place, text);
  place.dataset.kind = kind;
  place.classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => place.classList.remove("on"), kind ? 8000 : 3500);
}

/**
 * A short message with something that can be done about it.
 * @param {string} text
 * @param {string} label
 * @param {() => unknown} act
 */
export function toastWith(text, label, act) {
  toast(text, "act");
  const onclick = () => {
    byId("toast").classList.remove("on");
    act();
  };
  render(byId("toast"), `${text} `, el("button", { type: "button", class: "link", onclick }, label));
}
