// The address of a chart: `/?symbol=sample:es-5m&tf=1h&i=rsi:period=7&i=vwap` draws it again.
const PLAIN = /^[^",:\\\s]+$/;
const NAMES = { zone: "tz" };

/** @param {any} value */
function formatValue(value) {
  const text = String(value);
  if (PLAIN.test(text)) return text;
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * An indicator as it is asked for: `rsi:period=7`.
 * @param {{ name: string, params: Params }} given
 */
export function formatRequest({ name, params }) {
  const pairs = Object.keys(params)
    .sort()
    .map((key) => `${key}=${formatValue(params[key])}`);
  return pairs.length ? `${name}:${pairs.join(",")}` : name;
}

/**
 * The request in a text; values stay texts, which the server reads by their type.
 * @param {string} text
 */
export function parseRequest(text) {
  const colon = text.indexOf(":");
  if (colon < 0) return { name: text.trim(), params: {} };
  /** @type {Params} */
  const params = {};
  const pair = /\s*([A-Za-z]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",:]*))\s*(?:,|$)/gy;
  pair.lastIndex = colon + 1;
  for (let match = pair.exec(text); match; match = pair.exec(text)) {
    params[match[1]] = match[2] === undefined ? match[3].trim() : match[2].replace(/\\(.)/g, "$1");
    if (pair.lastIndex >= text.length) break;
  }
  return { name: text.slice(0, colon).trim(), params };
}

/**
 * What the address of the page asks for; null where it asks for nothing.
 * @param {string} search
 */
export function readAddress(search) {
  const query = new URLSearchParams(search);
  if (!query.has("symbol")) return null;
  return {
    symbol: query.get("symbol"),
    timeframe: query.get("tf"),
    zone: query.get(NAMES.zone) ?? "UTC",
    indicators: query.getAll("i").map((text) => ({ ...parseRequest(text), hidden: false })),
  };
}

/**
 * The query that asks for a chart.
 * @param {ChartState} chartState
 */
export function writeAddress({ symbol, timeframe, zone, indicators }) {
  const query = new URLSearchParams({ symbol });
  if (timeframe) query.set("tf", timeframe);
  if (zone && zone !== "UTC") query.set(NAMES.zone, zone);
  for (const asked of indicators) if (!asked.hidden) query.append("i", formatRequest(asked));
  // Colons and commas need no escape in a query, and are what people read.
  return query
    .toString()
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%40", "@")
    .replaceAll("%3D", "=");
}
