// Calls of the server. A refusal is a Refusal, with what to do about it.
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {{ kind: string, message: string, hint?: string }} problem
   * @param {number | null} retryAfter seconds
   */
  constructor(status, problem, retryAfter = null) {
    super(problem.message);
    this.status = status;
    this.kind = problem.kind;
    this.hint = problem.hint ?? "";
    this.retryAfter = retryAfter;
  }
}

/**
 * Whether a request was given up for a newer one.
 * @param {unknown} error
 */
export const isAborted = (error) => error instanceof Error && error.name === "AbortError";

let onSignedOut = () => {};

/**
 * What happens when the sign-in has expired.
 * @param {() => void} handler
 */
export function whenSignedOut(handler) {
  onSignedOut = handler;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{ json?: any, body?: any, type?: string, signal?: AbortSignal }} options
 */
async function send(method, path, { json, body, type, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (json !== undefined) headers["Content-Type"] = "application/json";
  else if (type) headers["Content-Type"] = type;
  let reply;
  try {
    reply = await fetch(path, {
      method,
      headers,
      body: json === undefined ? body : JSON.stringify(json),
      signal,
      credentials: "same-origin",
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Refusal(0, {
      kind: "unavailable",
      message: "the server does not answer",
      hint: "what you typed is kept here; try again in a moment",
    });
  }
  if (reply.ok) return reply;
  const problem = await reply.json().catch(() => ({
    kind: "crash",
    message: `the server answered ${reply.status}`,
  }));
  if (reply.status === 401) onSignedOut();
  throw new Refusal(reply.status, problem, Number(reply.headers.get("Retry-After")) || null);
}

/** @param {string[]} parts */
const path = (parts) => `/api/v1/${parts.map(encodeURIComponent).join("/")}`;

/** @param {...string} parts */
export const get = async (...parts) => (await send("GET", path(parts))).json();
/**
 * @param {string[]} parts
 * @param {any} json
 */
export const post = async (parts, json, options = {}) =>
  (await send("POST", path(parts), { json, ...options })).json();
/**
 * @param {string[]} parts
 * @param {any} json
 */
export const put = async (parts, json) => (await send("PUT", path(parts), { json })).json();
/**
 * @param {string[]} parts
 * @param {any} json
 */
export const patch = async (parts, json) => (await send("PATCH", path(parts), { json })).json();
/** @param {...string} parts */
export const remove = async (...parts) => (await send("DELETE", path(parts))).json();

/**
 * What is asked for a chart: the indicators that are shown, by their drafts where there are any.
 * @param {ChartState} chartState
 * @param {Map<string, string>} drafts
 * @param {number} barsShown
 */
export function writeAsk({ symbol, timeframe, indicators }, drafts, barsShown, part = {}) {
  const shown = indicators.filter((/** @type {Asked} */ asked) => !asked.hidden);
  return {
    symbol,
    timeframe,
    indicators: shown.map((/** @type {Asked} */ { name, params }) => ({ ...params, name })),
    view: Math.max(20, Math.round(barsShown)),
    drafts: [...drafts]
      .filter(([name]) => shown.some((/** @type {Asked} */ asked) => asked.name === name))
      .map(([name, source]) => ({ name, source })),
    ...part,
  };
}

/**
 * The columns of a chart, as they came.
 * @param {any} ask
 * @param {AbortSignal} [signal]
 */
export async function getSeries(ask, signal) {
  const reply = await send("POST", path(["charts", "series"]), { json: ask, signal });
  return reply.arrayBuffer();
}

/**
 * Sends a file of bars; `known` is what the sender knows of it.
 * @param {string} name
 * @param {File} file
 */
export async function putBars(name, file, known = {}, check = false) {
  const query = new URLSearchParams(known);
  const parts = check ? ["my", "bars", name, "check"] : ["my", "bars", name];
  const at = `${path(parts)}?${query}`;
  const reply = await send(check ? "POST" : "PUT", at, { body: file, type: "text/csv" });
  return reply.json();
}
