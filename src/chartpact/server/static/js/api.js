// Calls of the server, and the one path for what goes wrong with them. A refusal is a Refusal, with
// what to do about it. A server that is busy or away is asked again, for as long as somebody waits.
import { byId, toast } from "./dom.js";

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

  /** Whether the server could not do it now, and may do it soon. */
  get isPassing() {
    return [0, 429, 502, 503].includes(this.status);
  }

  /** The refusal in one line. */
  get sentence() {
    return [this.message.replace(/[.]$/, ""), this.hint].filter(Boolean).join(". ");
  }
}

/**
 * Whether a request was given up for a newer one.
 * @param {unknown} error
 */
export const isAborted = (error) => error instanceof Error && error.name === "AbortError";

/**
 * Says what was refused; everything else is a fault of the page, and goes on.
 * @param {unknown} error
 */
export function say(error) {
  if (isAborted(error)) return;
  if (!(error instanceof Refusal)) throw error;
  if (error.status !== 401) toast(error.sentence, "bad"); // the dialog says that
}

// A promise that nobody waits for ends here.
globalThis.addEventListener?.("unhandledrejection", (event) => {
  if (!(event.reason instanceof Refusal) && !isAborted(event.reason)) return;
  event.preventDefault();
  say(event.reason);
});

let onSignedOut = () => {};

/**
 * What happens when the sign-in has expired.
 * @param {() => void} handler
 */
export function whenSignedOut(handler) {
  onSignedOut = handler;
}

/** @typedef {{ json?: any, body?: any, type?: string, signal?: AbortSignal, once?: boolean }} Sent */

/**
 * @param {string} method
 * @param {string} path
 * @param {Sent} options
 */
async function sendOnce(method, path, { json, body, type, signal }) {
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
      keepalive: method === "PUT" && String(body ?? JSON.stringify(json)).length < 60_000, // also when the page is left
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

const WAITS_S = [1, 2, 4, 8, 15]; // between two tries
/** @type {Set<object>} the requests that wait for the server */
const waiting = new Set();

/**
 * Sends a request; what only reads is sent again while the server is busy or away. What changes
 * something is sent once: the user is told, and sends it again.
 * @param {string} method
 * @param {string} path
 * @param {Sent} options
 */
async function send(method, path, options = {}) {
  const turn = {};
  try {
    for (let tried = 0; ; tried++)
      try {
        return await sendOnce(method, path, options);
      } catch (error) {
        if (!(error instanceof Refusal) || !error.isPassing || options.once) throw error;
        waiting.add(turn);
        showWaiting(error);
        const seconds = Math.min(error.retryAfter ?? WAITS_S[Math.min(tried, 4)], 60);
        await rest(1000 * seconds, options.signal);
      }
  } finally {
    if (waiting.delete(turn) && !waiting.size) showWaiting(null);
  }
}

/**
 * A pause, which ends early when the browser is on line again or the request is given up.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 */
function rest(ms, signal) {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal?.removeEventListener("abort", stop);
      resolve(null);
    };
    const stop = () => {
      done();
      reject(signal?.reason);
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal?.addEventListener("abort", stop);
  });
}

/** @param {Refusal | null} error */
function showWaiting(error) {
  const place = document.getElementById("waiting");
  if (!place) return;
  place.hidden = !error;
  if (error) byId("waiting-text").textContent = `${capital(error.message)}. It is asked again by itself.`;
}

/** @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @param {string[]} parts */
const path = (parts) => `/api/v1/${parts.map(encodeURIComponent).join("/")}`;

/** @param {string[]} parts */
export const get = async (...parts) => (await send("GET", path(parts))).json();
/**
 * Asks what needs a body; it changes nothing.
 * @param {string[]} parts
 * @param {any} json
 * @param {Sent} options
 */
export const ask = async (parts, json, options = {}) =>
  (await send("POST", path(parts), { json, ...options })).json();
/**
 * @param {string[]} parts
 * @param {any} json
 */
export const post = (parts, json) => ask(parts, json, { once: true });
/**
 * @param {string[]} parts
 * @param {any} json
 */
export const put = async (parts, json) =>
  (await send("PUT", path(parts), { json, once: true })).json();
/**
 * @param {string[]} parts
 * @param {any} json
 */
export const patch = async (parts, json) =>
  (await send("PATCH", path(parts), { json, once: true })).json();
/** @param {string[]} parts */
export const remove = async (...parts) =>
  (await send("DELETE", path(parts), { once: true })).json();

/**
 * What is asked for a chart: the indicators that are shown, by their drafts where there are any.
 * @param {ChartState} state
 * @param {Map<string, string>} drafts
 * @param {number} barsShown
 */
export function writeAsk({ symbol, timeframe, indicators, to }, drafts, barsShown, part = {}) {
  const shown = indicators.filter((asked) => !asked.hidden);
  return {
    symbol,
    timeframe,
    indicators: shown.map(({ name, params }) => ({ ...params, name })),
    view: Math.max(20, Math.round(barsShown)),
    drafts: [...drafts]
      .filter(([name]) => shown.some((asked) => asked.name === name))
      .map(([name, source]) => ({ name, source })),
    ...(to ? { to } : {}),
    ...part,
  };
}

/**
 * The columns of a chart, as they came.
 * @param {any} asked
 * @param {AbortSignal} [signal]
 */
export async function getSeries(asked, signal) {
  const reply = await send("POST", path(["charts", "series"]), { json: asked, signal });
  return reply.arrayBuffer();
}

/**
 * Sends a file of bars; `known` is what the sender knows of it.
 * @param {string} name
 * @param {File} file
 * @param {Record<string, string>} known
 */
export async function putBars(name, file, known = {}, check = false) {
  const query = new URLSearchParams(known);
  const parts = check ? ["my", "bars", name, "check"] : ["my", "bars", name];
  const at = `${path(parts)}?${query}`;
  const options = { body: file, type: "text/csv", once: !check };
  const reply = await send(check ? "POST" : "PUT", at, options);
  return reply.json();
}

/**
 * Loads a module again and again until it is there; what failed is not kept.
 * @template T
 * @param {() => Promise<T>} load
 * @returns {Promise<T>}
 */
export async function loadModule(load) {
  for (let tried = 0; ; tried++)
    try {
      return await load();
    } catch (error) {
      if (!(error instanceof TypeError) || tried > 8) throw error;
      showWaiting(new Refusal(0, { kind: "unavailable", message: "the server does not answer" }));
      await rest(1000 * WAITS_S[Math.min(tried, 4)]);
      if (!waiting.size) showWaiting(null);
    }
}
