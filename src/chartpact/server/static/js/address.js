// The address of a chart: `/?symbol=sample:es-5m&tf=1h&i=rsi:period=7&i=vwap` draws it again.
const PLAIN = /^[^",:\\\s]+$/;
const CANDLES = ["hollow", "bars", "line", "area", "heikin"];
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

// How an indicator's plots and the prices look, short: s=1:Average:color=#ff0000,width=3
/** @param {ChartState} state */
function writeLooks({ indicators, look = {} }) {
  const shown = indicators.filter(({ hidden }) => !hidden);
  /** @type {[string, string][]} */
  const pairs = shown.flatMap(({ styles = {} }, at) =>
    Object.entries(styles).map(([title, style]) => {
      const name = `${at}.${encodeURIComponent(title)}`;
      return /** @type {[string, string]} */ (["s", formatRequest({ name, params: style })]);
    }),
  );
  if (look.scale && look.scale !== "linear") pairs.push(["scale", look.scale]);
  if (look.candles && look.candles !== "candles") pairs.push(["candles", look.candles]);
  if (look.noVolume) pairs.push(["volume", "0"]);
  for (const symbol of look.compared ?? []) pairs.push(["compare", symbol]);
  return pairs;
}

/**
 * @param {URLSearchParams} query
 * @param {Asked[]} indicators
 * @returns {Look}
 */
function readLooks(query, indicators) {
  for (const text of query.getAll("s")) {
    const { name, params } = parseRequest(text);
    const match = /^(\d+)\.(.*)$/.exec(name);
    const asked = match && indicators[Number(match[1])];
    if (!asked) continue;
    const { color, width, style, hidden } = params;
    const own = {
      ...(/^#[0-9a-f]{6}$/i.test(color ?? "") ? { color } : {}),
      ...(Number(width) > 0 ? { width: Math.min(Number(width), 8) } : {}),
      ...(/^[a-z_]{1,20}$/.test(style ?? "") ? { style } : {}),
      ...(hidden === "true" ? { hidden: true } : {}),
    };
    asked.styles = { ...asked.styles, [decodeURIComponent(match[2])]: own };
  }
  const scale = query.get("scale");
  const candles = query.get("candles");
  return {
    ...(scale === "log" || scale === "percent" ? { scale } : {}),
    ...(CANDLES.includes(candles ?? "") ? { candles: /** @type {Look["candles"]} */ (candles) } : {}),
    ...(query.get("volume") === "0" ? { noVolume: true } : {}),
    ...(query.has("compare") ? { compared: query.getAll("compare").slice(0, 4) } : {}),
  };
}

/**
 * What the address of the page asks for; null where it asks for nothing.
 * @param {string} search
 * @returns {ChartState | null}
 */
export function readAddress(search) {
  const query = new URLSearchParams(search);
  const symbol = query.get("symbol");
  if (!symbol) return null;
  /** @type {Asked[]} */
  const indicators = query.getAll("i").map((text) => ({ ...parseRequest(text), hidden: false }));
  const look = readLooks(query, indicators);
  const view = /^(\d+)-(\d+)$/.exec(query.get("view") ?? "");
  const to = Number(query.get("to"));
  return {
    symbol,
    timeframe: query.get("tf"),
    zone: query.get(NAMES.zone) ?? "UTC",
    indicators,
    ...(Object.keys(look).length ? { look } : {}),
    ...(view ? { view: [Number(view[1]), Number(view[2])] } : {}),
    ...(to > 0 ? { to } : {}),
  };
}

/**
 * The query that asks for a chart.
 * @param {ChartState} state
 */
export function writeAddress(state) {
  const { symbol, timeframe, zone, indicators, to } = state;
  const query = new URLSearchParams({ symbol });
  if (timeframe) query.set("tf", timeframe);
  if (zone && zone !== "UTC") query.set(NAMES.zone, zone);
  for (const asked of indicators) if (!asked.hidden) query.append("i", formatRequest(asked));
  for (const [name, value] of writeLooks(state)) query.append(name, value);
  if (to) query.set("to", String(to));
  // Colons and commas need no escape in a query, and are what people read.
  return query
    .toString()
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%40", "@")
    .replaceAll("%3D", "=");
}
