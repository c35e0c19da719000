// Elements, made without markup: texts of scripts and charts stay texts.
const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An element; attributes that are false, null or undefined are left out, on… are listeners. */
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

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const icon = (name) =>
  svg("svg", { class: "icon", "aria-hidden": "true" }, svg("use", { href: `#i-${name}` }));

/** A button with an icon; its name is for who cannot see the icon, and its tooltip. */
export const iconButton = (name, label, onclick, more = {}) =>
  el("button", { type: "button", "aria-label": label, title: label, onclick, ...more }, icon(name));

/** Calls a function once nothing has happened for a while. */
export function debounce(call, ms) {
  let timer = 0;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...values), ms);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

let toastTimer = 0;

/** A short message at the bottom of the page. */
export function toast(text, kind = "") {
  const place = byId("toast");
  place.textContent = text;
  place.dataset.kind = kind;
  place.classList.add("on");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => place.classList.remove("on"), kind === "bad" ? 8000 : 3500);
}
