// The chart in a window of an MCP host: MCP Apps, 2026-01-26, as JSON-RPC by messages.
import { ChartView } from "./chartview.js";
import { addPart, readChart } from "./columns.js";
import { byId, debounce, el } from "./dom.js";
import { Legends } from "./legends.js";

const PROTOCOL = "2026-01-26";
const SERIES = "get_chart_series";
const LEAST_KNOWN = 500; // bars whose values are asked for at first
const PART = 2000; // bars of a later part
const HEIGHT = { price: 330, pane: 110, most: 900 };

/** The page around this one. */
class Host {
  /** @param {any} target */
  constructor(target) {
    this.target = target;
    this.waiting = new Map();
    this.handlers = new Map();
    this.last = 0;
    addEventListener("message", (event) => {
      if (event.source === target && event.data?.jsonrpc === "2.0") this.receive(event.data);
    });
  }

  /** @param {any} given */
  receive({ id, method, params, result, error }) {
    if (method !== undefined) {
      const answer = this.handlers.get(method)?.(params ?? {});
      if (id === undefined) return;
      if (this.handlers.has(method)) this.send({ id, result: answer ?? {} });
      else this.send({ id, error: { code: -32601, message: `there is no ${method} here` } });
      return;
    }
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }

  /** @param {any} message */
  send(message) {
    // A host does not say what its origin is; what is sent is no secret to who shows the app.
    this.target.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  /** @param {string} method */
  notify(method, params = {}) {
    this.send({ method, params });
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  request(method, params) {
    const id = ++this.last;
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  /**
   * @param {string} method
   * @param {(params: any) => any} handler
   */
  on(method, handler) {
    this.handlers.set(method, handler);
  }
}

class App {
  /** @param {Host} host */
  constructor(host) {
    this.host = host;
    /** @type {any} */
    this.context = {};
    /** @type {any} */
    this.asked = null;
    /** @type {ChartData | null} */
    this.data = null;
    this.view = new ChartView(byId("chart"), { theme: "dark", barsShown: 130 });
    this.legends = new Legends(byId("legends"), this.view);
    this.view.onRange = debounce((/** @type {any} */ range) => this.loadEarlier(range), 100);
    byId("chart").addEventListener("keydown", (event) => this.view.press(event));
    const credit = /** @type {HTMLAnchorElement} */ (byId("credit"));
    credit.addEventListener("click", (event) => {
      event.preventDefault();
      host.request("ui/open-link", { url: credit.href }).catch(() => {}); // the host's choice
    });
    host.on("ping", () => ({}));
    host.on("ui/notifications/tool-input", (/** @type {any} */ { arguments: asked }) => (this.asked = asked));
    host.on("ui/notifications/tool-result", (/** @type {any} */ result) => this.showResult(result));
    host.on("ui/notifications/tool-cancelled", () => this.say("The chart was cancelled."));
    host.on("ui/notifications/host-context-changed", (/** @type {any} */ context) => this.follow(context));
    host.on("ui/resource-teardown", () => this.view.destroy());
  }

  async start() {
    const { hostContext } = await this.host.request("ui/initialize", {
      protocolVersion: PROTOCOL,
      appInfo: { name: "chartpact", version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    });
    this.follow(hostContext ?? {});
    this.resize(2);
    new ResizeObserver(() => this.tellSize()).observe(document.documentElement);
    this.host.notify("ui/notifications/initialized");
  }

  /**
   * Takes over the host's theme and time zone.
   * @param {any} context
   */
  follow(context) {
    Object.assign(this.context, context);
    const theme = this.context.theme ?? this.asked?.theme ?? "dark";
    document.documentElement.dataset.theme = theme;
    this.view.zone = this.context.timeZone ?? "UTC";
    this.view.setTheme(theme);
    if (this.data) this.show(this.data);
  }

  /**
   * The height that so many panes want, unless the host has fixed it.
   * @param {number} panes
   */
  resize(panes) {
    const { height, maxHeight = HEIGHT.most } = this.context.containerDimensions ?? {};
    const wanted = Math.min(maxHeight, HEIGHT.most, HEIGHT.price + HEIGHT.pane * panes);
    document.documentElement.style.height = height === undefined ? `${wanted}px` : "100vh";
  }

  tellSize() {
    const { width, height } = document.documentElement.getBoundingClientRect();
    this.host.notify("ui/notifications/size-changed", {
      width: Math.ceil(width),
      height: Math.ceil(height),
    });
  }

  /** @param {string} text */
  say(text) {
    byId("plain").replaceChildren(el("p", {}, text));
  }

  /**
   * Shows the picture and the words of an answer, until its series are here or in their place.
   * @param {any} given
   */
  async showResult({ content = [], isError }) {
    const pieces = content.flatMap((/** @type {any} */ { type, text, data, mimeType }) => {
      if (type === "image") return el("img", { src: `data:${mimeType};base64,${data}`, alt: "" });
      return type === "text" ? el("p", {}, text) : [];
    });
    byId("plain").replaceChildren(...pieces.reverse());
    if (isError || !this.asked?.symbol) return;
    try {
      this.data = readChart(await this.getSeries());
    } catch {
      return; // the picture stays
    }
    this.show(this.data);
  }

  async getSeries(range = {}) {
    const { symbol, timeframe = null, indicators = [], bars = 200 } = this.asked;
    const known = Math.max(bars, LEAST_KNOWN);
    const { structuredContent, isError, content } = await this.host.request("tools/call", {
      name: SERIES,
      arguments: { symbol, timeframe, indicators, view: bars, known, ...range },
    });
    if (isError) throw new Error(content?.[0]?.text);
    const { columns } = structuredContent;
    return Uint8Array.from(atob(columns), (letter) => letter.charCodeAt(0)).buffer;
  }

  /** @param {ChartData} data */
  show(data) {
    byId("stage").hidden = false;
    byId("plain").hidden = true;
    this.view.barsShown = Math.min(this.asked.bars ?? 200, 200);
    this.view.show(data);
    this.resize(this.view.panes.length - 1);
    this.legends.write(null);
    this.legends.place();
    const name = `${data.symbol} ${data.timeframe}, ${data.count} bars. ${data.trend}`;
    byId("chart").setAttribute("aria-label", name);
    byId("heading").textContent = `${data.symbol}, ${data.timeframe}`;
    document.documentElement.dataset.ready = "";
  }

  /**
   * Loads values of earlier bars when the view comes near those that are not known.
   * @param {{ from: number, to: number }} given
   */
  async loadEarlier({ from, to }) {
    const { data } = this;
    if (!data?.from || this.loading || from - (to - from) > data.from) return;
    const last = data.from;
    this.loading = true;
    try {
      addPart(data, await this.getSeries({ first: Math.max(0, last - PART), last }));
    } catch {
      return; // what is known stays
    } finally {
      this.loading = false;
    }
    this.view.redraw();
    const range = this.view.chart.timeScale().getVisibleLogicalRange();
    if (range) void this.loadEarlier(range);
  }
}

void new App(new Host(window.parent)).start();
