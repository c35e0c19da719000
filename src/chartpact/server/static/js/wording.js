// Words for typed states, changes and drawn objects. Everything from a chart stays text.
import { el } from "./dom.js";

const UP = /BULL|HIGH|LONG|(^|_)UP/i;
const DOWN = /BEAR|LOW|SHORT|DOWN/i;
const MOST_FACTS = 3;
const MOST_TEXT = 60; // letters of a drawn text in a sentence

/** @param {any} value */
export const isTime = (value) => Number.isInteger(value) && value > 1e11 && value < 7.3e12;

/**
 * A time in a zone, short: 12 Mar 14:30.
 * @param {number} ms
 * @param {string} zone
 */
export function formatTime(ms, zone) {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  })
    .format(ms)
    .replace(",", "");
}

/**
 * @param {number} ms
 * @param {string} zone
 */
export const timeElement = (ms, zone) =>
  el("time", { datetime: new Date(ms).toISOString() }, formatTime(ms, zone));

const numbers = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 7 });

/**
 * A plain value of a state, as people read it.
 * @param {any} value
 * @param {string} zone
 */
export function formatPlain(value, zone) {
  if (value === null || value === undefined) return "none";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (isTime(value)) return formatTime(value, zone);
  if (typeof value === "number") return numbers.format(value).replace("-", "−");
  return String(value);
}

/** @param {string} name */
export const words = (name) => name.replaceAll("_", " ");

/**
 * The way a headline points, as a class.
 * @param {string} text
 */
export const wayOf = (text) =>
  UP.test(text) === DOWN.test(text) ? "" : UP.test(text) ? "is-up" : "is-down";

/**
 * The few words that stand for a state: what its machines say, or how much there is.
 * @param {any} state
 * @param {string[]} [machines]
 */
export function headlineOf(state, machines = []) {
  if (machines.length) return machines.slice(0, 2).join(" · ");
  const counts = Object.entries(state ?? {}).flatMap(([name, value]) => countsOf(name, value));
  return counts.slice(0, 2).join(", ") || "Read";
}

/**
 * @param {string} name
 * @param {any} value
 * @returns {string[]}
 */
function countsOf(name, value) {
  if (Array.isArray(value)) return [`${value.length} ${words(name)}`];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) => countsOf(name ? `${name} ${key}` : key, inner));
}

/**
 * A few plain values of a state, by their names, without what the headline says.
 * @param {any} state
 * @param {string} zone
 */
export function factsOf(state, zone, headline = "") {
  /** @type {string[]} */
  const facts = [];
  /**
   * @param {any} value
   * @param {string} name
   */
  const walk = (value, name) => {
    if (value === null || value === false || facts.length >= MOST_FACTS) return;
    if (typeof value === "string" && headline.includes(value)) return;
    if (Array.isArray(value)) {
      const fact = `${value.length} ${words(name)}`;
      if (!headline.includes(fact)) facts.push(fact);
    }
    else if (typeof value === "object")
      for (const [key, inner] of Object.entries(value)) walk(inner, key);
    else if (!isTime(value))
      facts.push(value === true ? words(name) : `${words(name)} ${formatPlain(value, zone)}`);
  };
  walk(state, "");
  return facts.join(", ");
}

/**
 * A typed state as nested lists of names and values.
 * @param {any} value
 * @param {string} zone
 * @returns {HTMLElement}
 */
export function writeState(value, zone) {
  if (Array.isArray(value)) {
    if (!value.length) return el("span", { class: "quiet" }, "none");
    return el("ol", { class: "typed" }, ...value.map((one) => el("li", {}, inline(one, zone))));
  }
  if (value === null || typeof value !== "object") return plain(value, zone);
  return el(
    "dl",
    { class: "typed" },
    ...Object.entries(value).flatMap(([name, inner]) => [
      el("dt", {}, words(name)),
      el("dd", {}, writeState(inner, zone)),
    ]),
  );
}

/**
 * @param {any} value
 * @param {string} zone
 */
function plain(value, zone) {
  const text = formatPlain(value, zone);
  const kind = typeof value === "string" ? wayOf(value) : value === null ? "quiet" : "";
  return el("span", { class: kind || null }, text);
}

/**
 * An entry of a list in one line of names and values.
 * @param {any} value
 * @param {string} zone
 * @returns {HTMLElement}
 */
function inline(value, zone) {
  if (value === null || typeof value !== "object") return plain(value, zone);
  const parts = Object.entries(value).map(([name, inner]) => {
    const nested = inner !== null && typeof inner === "object";
    return el("span", { class: "pair" }, `${words(name)} `, nested ? inline(inner, zone) : plain(inner, zone));
  });
  return el("span", { class: "pairs" }, ...parts);
}

// ------------------------------------------------------------------------------------- changes

/** @type {Record<string, string>} */
const KINDS = {
  started: "stood there when the follow began",
  appeared: "appeared",
  revealed: "came into the loaded history",
  reset: "began anew",
  gone: "is gone",
  lost: "is out of sight",
  returned: "is in sight again",
  illegal: "changed against the contract",
};

/**
 * A change of the journal in plain words.
 * @param {any} change
 */
export function describeChange(change) {
  if (change.type === "refused") return `Could not be read: ${change.why ?? "violations"}`;
  if (change.type === "readable") return "Can be read again";
  const from = change.from ? `${change.from} → ` : "";
  const what = `${words(change.machine ?? "")} ${from}${change.to ?? "–"}`.trim();
  const skipped = change.skipped?.length ? ", states between were not seen" : "";
  const said = KINDS[change.kind] ? ` (${KINDS[change.kind]}${skipped})` : skipped && ` (${skipped.slice(2)})`;
  return `${what}${said || ""}`;
}

// ------------------------------------------------------------------------------------- objects

/** @type {Record<string, string>} */
const SINGULAR = {
  labels: "label",
  lines: "line",
  boxes: "box",
  cells: "cell",
  tables: "table",
  polylines: "polyline",
  linefills: "fill",
};

/**
 * The channel of a record that is given without one, by the fields that only it has.
 * @param {DrawnRecord} record
 */
export function channelOf(record) {
  if ("left" in record) return "boxes";
  if ("x1" in record) return "lines";
  if ("row" in record) return "cells";
  if ("points" in record) return "polylines";
  if ("position" in record) return "tables";
  return "labels";
}

/** @param {string} text */
const quote = (text) =>
  text.length > MOST_TEXT ? `“${text.slice(0, MOST_TEXT)}…”` : `“${text}”`;

/**
 * The places on the time axis at which a record is anchored.
 * @param {DrawnRecord} record
 */
export const anchorsOf = (record) =>
  [record.x, record.x1, record.x2, record.left, record.right].filter(
    (place) => place !== null && typeof place === "object",
  );

/**
 * A drawn object in a few words: what it is, what it says, at which prices and when.
 * @param {DrawnRecord} record
 * @param {string} zone
 */
export function describeObject(record, zone, channel = channelOf(record)) {
  const parts = [SINGULAR[channel] ?? channel];
  if (typeof record.text === "string" && record.text.trim())
    parts.push(quote(record.text.replaceAll("\n", " ")));
  if (channel === "cells")
    parts.push(`in ${words(record.position ?? "a table")}, row ${record.row + 1}`);
  const prices = [record.y, record.y1, record.y2, record.top, record.bottom].filter(
    (price) => typeof price === "number",
  );
  const shown = [...new Set(prices)].map((price) => formatPlain(price, zone));
  if (shown.length) parts.push(`at ${shown.join(" – ")}`);
  const times = anchorsOf(record).map((place) => place.time).filter(isTime);
  if (times.length) parts.push(`from ${formatTime(Math.min(...times), zone)}`);
  return parts.join(" ");
}

// ------------------------------------------------------------------------------------ readings

/**
 * The headline, the facts and the look of a reading.
 * @param {any} reading
 * @param {Track[]} states
 * @param {string} zone
 */
export function summariseReading(reading, states, zone) {
  const { violations = [] } = reading;
  if (violations.length) {
    const [first] = violations;
    const [object] = [first.object ?? []].flat();
    const about = object && typeof object === "object" ? `: ${describeObject(object, zone)}` : "";
    const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
    return { state: "VIOLATION", facts: first.message + about + more, kind: "is-warn" };
  }
  const machines = states.filter((/** @type {Track} */ { key }) => !key.length).map((one) => one.state);
  const state = headlineOf(reading.state, machines);
  return { state, facts: factsOf(reading.state, zone, state), kind: wayOf(state) };
}
