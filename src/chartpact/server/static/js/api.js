// Calls of the server. A refusal is a Refusal, with what to do about it.
export class Refusal extends Error {
  constructor(status, problem, retryAfter = null) {
    super(problem.message);
    this.status = status;
    this.kind = problem.kind;
    this.hint = problem.hint ?? "";
    this.retryAfter = retryAfter;
  }
}

let onSignedOut = () => {};

/** What happens when the sign-in has expired. */
export function whenSignedOut(handler) {
  onSignedOut = handler;
}

async function send(method, path, { json, body, type, signal } = {}) {
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
    if (error.name === "AbortError") throw error;
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

const path = (parts) => `/api/v1/${parts.map(encodeURIComponent).join("/")}`;

export const get = async (...parts) => (await send("GET", path(parts))).json();
export const post = async (parts, json, options = {}) =>
  (await send("POST", path(parts), { json, ...options })).json();
export const put = async (parts, json) => (await send("PUT", path(parts), { json })).json();
export const patch = async (parts, json) => (await send("PATCH", path(parts), { json })).json();
export const remove = async (...parts) => (await send("DELETE", path(parts))).json();

/** What is asked for a chart: the indicators that are shown, by their drafts where there are any. */
export function writeAsk({ symbol, timeframe, indicators }, drafts, barsShown, part = {}) {
  const shown = indicators.filter((asked) => !asked.hidden);
  return {
    symbol,
    timeframe,
    indicators: shown.map(({ name, params }) => ({ ...params, name })),
    view: Math.max(20, Math.round(barsShown)),
    drafts: [...drafts]
      .filter(([name]) => shown.some((asked) => asked.name === name))
      .map(([name, source]) => ({ name, source })),
    ...part,
  };
}

/** The columns of a chart, as they came. */
export async function getSeries(ask, signal) {
  const reply = await send("POST", path(["charts", "series"]), { json: ask, signal });
  return reply.arrayBuffer();
}

/** Sends a file of bars; `known` is what the sender knows of it. */
export async function putBars(name, file, known = {}, check = false) {
  const query = new URLSearchParams(known);
  const parts = check ? ["my", "bars", name, "check"] : ["my", "bars", name];
  const at = `${path(parts)}?${query}`;
  const reply = await send(check ? "POST" : "PUT", at, { body: file, type: "text/csv" });
  return reply.json();
}
