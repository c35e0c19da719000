// The page: it makes its parts, which own their state, and joins what one tells to what others do.
import { writeAddress, readAddress } from "./address.js";
import { get, isAborted, loadModule, put, Refusal, whenSignedOut } from "./api.js";
import { ChartModel } from "./chartmodel.js";
import { ChartView } from "./chartview.js";
import { byId, debounce, el, iconButton, render, Teller, toast, toastWith } from "./dom.js";
import { Drawings, TOOLS } from "./drawings.js";
import { Legends } from "./legends.js";
import { Menu } from "./menus.js";
import { BARS_SHOWN, chooseChart, PHONE } from "./opening.js";
import { Picker } from "./picker.js";
import { restyle } from "./styles.js";
import { framesOf, isZone } from "./timescale.js";

const FACES = ["12px 'Chartpact Sans'", "bold 12px 'Chartpact Sans'", "12px 'Chartpact Mono'"];
/** @typedef {"light" | "dark"} ThemeName */

export class Workbench extends Teller {
  constructor() {
    super();
    /** @type {ThemeName} */
    this.themeName = document.documentElement.dataset.theme === "light" ? "light" : "dark";
    this.chart = new ChartModel(chooseChart(null), BARS_SHOWN);
    this.view = new ChartView(byId("chart"), { theme: this.themeName, barsShown: BARS_SHOWN });
    this.legends = new Legends(byId("legends"), this.view, {
      hide: (drawn) => this.toggle(this.chart.placeOf(drawn)),
      remove: (drawn) => this.removeIndicator(this.chart.placeOf(drawn)),
      settings: (drawn) => this.picker.show(this.chart.placeOf(drawn)),
    });
    this.picker = new Picker(this);
    this.drawings = new Drawings(this.view);
    this.menu = new Menu();
    /** @type {SymbolRow[]} */
    this.symbols = [];
    /** @type {Me} */
    this.me = { user: "", accounts: false, scripts: true, version: "", samples: [], tradingview: [] };
    this.isStarted = false;
    this.keepLayout = debounce(() => void this.putLayout(), 400);
    this.fonts = Promise.all(FACES.map((face) => document.fonts.load(face, "Aa→")));
    /** @type {Promise<import("./surroundings.js").Surroundings>} */
    this.surroundings = new Promise((resolve) => (this.haveSurroundings = resolve));
    /** @type {import("./surroundings.js").Surroundings | null} */
    this.parts = null;
    this.join();
    this.bind();
  }

  // What tests and the console look at.
  get data() {
    return this.chart.data;
  }
  get state() {
    return this.chart.state;
  }
  get desk() {
    return this.parts?.desk;
  }
  get board() {
    return this.parts?.board;
  }
  get contracts() {
    return this.parts?.contracts;
  }

  /** What happens in one part when another tells something. */
  join() {
    const { chart, view } = this;
    chart.on("state", () => {
      this.picker.writeChart();
      this.writeBar();
      this.keepLayout();
    });
    chart.on("data", (data) => this.show(data));
    chart.on("part", (data) => this.draw(data));
    chart.on("busy", (/** @type {boolean} */ isBusy) => byId("stage").toggleAttribute("aria-busy", isBusy));
    chart.on("problem", (error) => this.sayProblem(error));
    view.onRange = (range) => {
      chart.loadEarlier(range);
      this.tell("range", range);
    };
    this.drawings.on("change", () => this.keepLayout());
    this.drawings.on("tool", () => this.writeTools());
    view.onHeights = (heights) => chart.change({ look: { ...this.state.look, heights } }, false);
  }

  /** @param {Promise<any>} opening */
  async start(opening) {
    try {
      await this.open(await opening);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 401) location.assign(signInAddress());
      else this.sayProblem(error);
    }
  }

  /** @param {{ me: Me, layout: any, state: ChartState, drafts: Map<string, string>, series: Promise<ArrayBuffer> }} opened */
  async open({ me, layout, state, drafts, series }) {
    whenSignedOut(() => this.askToSignIn());
    this.me = me;
    for (const [name, source] of drafts) this.chart.setDraft(name, source);
    this.chart.state = state;
    this.drawings.bySymbol = layout?.drawings ?? {};
    const zone = this.useZone(state.zone);
    if (zone !== state.zone) this.chart.state = { ...state, zone };
    await this.fonts;
    await this.chart.load(series);
    if (state.view && this.data) this.view.showTimes(state.view);
    await painted();
    performance.mark("first chart");
    document.documentElement.dataset.chart = "shown";
    const { Surroundings } = await loadModule(() => import("./surroundings.js"));
    this.parts = new Surroundings(this);
    this.haveSurroundings?.(this.parts);
    await Promise.all([this.loadIndicators(), this.loadSymbols(), this.openKept(layout)]);
    await this.parts.start(layout);
    this.isStarted = true;
    document.documentElement.dataset.ready = "";
    await this.picker.loadThumbnails();
  }

  /**
   * Opens the script that was open, and what was typed and not saved.
   * @param {any} kept
   */
  async openKept(kept) {
    // This tab knows it best: a sign-in may expire before the layout is put.
    const here = sessionStorage.getItem(`open script of ${this.me.user}`);
    for (const name of [here, kept?.script])
      if (name && (await this.desk?.has(name))) return this.desk?.open(name);
  }

  // -------------------------------------------------------------------------------------- showing

  /**
   * Draws the chart as its plots are styled and the page looks.
   * @param {ChartData} data
   */
  draw(data) {
    const { state, view } = this;
    view.zone = state.zone;
    view.setLook(state.look ?? {});
    this.drawings.symbol = state.symbol;
    view.show({ ...data, indicators: restyle(data, state.indicators) });
    this.legends.write(null);
    this.legends.place();
  }

  /** @param {ChartData} data */
  show(data) {
    this.draw(data);
    this.picker.writeChart();
    this.writeBar();
    const name = `${data.symbol} ${data.timeframe}, ${data.count} bars. ${data.trend}`;
    byId("chart").setAttribute("aria-label", name);
    document.title = `${data.symbol} ${data.timeframe} – chartpact`;
    byId("heading").textContent = `${data.symbol}, ${data.timeframe}`;
    this.keepLayout();
    this.writeLocation();
    this.tell("data", data);
  }

  /** A step in the history for another symbol, timeframe or day; other changes replace the address. */
  writeLocation() {
    const address = `/?${writeAddress(this.state)}`;
    const { symbol, timeframe, to } = this.state;
    const place = JSON.stringify([symbol, timeframe, Boolean(to)]);
    if (address === location.pathname + location.search && history.state?.place === place) return;
    const isStep = history.state?.place !== undefined && history.state.place !== place;
    history[isStep ? "pushState" : "replaceState"]({ place }, "", address);
  }

  /** Goes where Back and Forward lead. */
  async goBack() {
    const state = readAddress(location.search);
    if (state) await this.chart.change({ ...state, symbol: state.symbol ?? this.state.symbol, look: this.state.look }, false);
  }

  /** @param {Refusal | null} error */
  sayProblem(error) {
    const place = byId("problem");
    place.hidden = !error;
    if (!error) return;
    const isUnknown = ["symbol", "source", "bars"].includes(error.kind) || /list_symbols/.test(error.hint);
    const link = (/** @type {string} */ text, /** @type {() => unknown} */ onclick) =>
      el("button", { type: "button", class: "link", onclick }, text);
    render(
      place,
      el("h2", {}, error.message),
      el("p", {}, isUnknown ? "Choose one of those that are here, or drop a file of your own." : error.hint),
      el(
        "p",
        {},
        link("Try again", () => this.chart.load()),
        " ",
        link("Choose a symbol", () => this.openPalette("Symbol")),
      ),
    );
  }

  askToSignIn() {
    byId("sign-in-link").href = signInAddress();
    const dialog = byId("signed-out");
    if (!dialog.open) dialog.showModal();
  }

  async loadIndicators() {
    const { indicators } = await get("indicators");
    this.picker.setIndicators(indicators);
    this.tell("indicators", indicators);
  }

  async loadSymbols() {
    ({ symbols: this.symbols } = await get("symbols"));
    render(byId("symbols"), ...this.symbols.map(({ symbol }) => el("option", { value: symbol })));
    this.writeBar();
    this.tell("symbols", this.symbols);
  }

  // ------------------------------------------------------------------------------------- changes

  /** @param {string} symbol */
  setSymbol(symbol) {
    return this.chart.change({ symbol, to: null });
  }
  /** @param {string | null} timeframe */
  setTimeframe(timeframe) {
    return this.chart.change({ timeframe });
  }
  /** @param {string} zone */
  setZone(zone) {
    return this.chart.change({ zone: this.useZone(zone) });
  }
  /** @param {Partial<Look>} look */
  setLook(look) {
    return this.chart.change({ look: { ...this.state.look, ...look } });
  }

  /**
   * A zone that this browser knows.
   * @param {string} zone
   */
  useZone(zone) {
    if (isZone(zone)) return zone;
    toast(`This browser knows no time zone “${zone}”: times are shown in UTC.`, "bad");
    return "UTC";
  }

  /** @param {ThemeName} name */
  setTheme(name) {
    this.themeName = name;
    document.documentElement.dataset.theme = name;
    localStorage.setItem("theme", name);
    this.view.setTheme(name);
    if (this.data) this.draw(this.data);
    this.picker.writeChart();
    this.writeBar();
    this.tell("theme", name);
  }
  switchTheme() {
    this.setTheme(this.themeName === "dark" ? "light" : "dark");
  }

  /** @param {number} at */
  toggle(at) {
    return this.chart.changeIndicator(at, { hidden: !this.state.indicators[at].hidden });
  }

  /** @param {number} at */
  async removeIndicator(at) {
    const title = this.picker.titleOf(this.state.indicators[at]);
    await this.chart.remove(at);
    toastWith(`${title} is removed`, "Undo", () => this.undo());
  }

  async undo() {
    if (!(await this.chart.undo())) toast("There is nothing to undo");
  }

  /**
   * Remembers which script is open, in this tab at once and in the layout soon.
   * @param {string | null} name
   */
  rememberOpen(name) {
    const key = `open script of ${this.me.user}`;
    if (name === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, name);
    this.keepLayout();
  }

  async putLayout() {
    if (!this.isStarted) return;
    const script = byId("desk").hidden ? null : (this.desk?.name ?? null);
    const chart = { ...this.state, to: undefined, view: undefined };
    const layout = { chart, script, drawings: this.drawings.bySymbol, ...this.parts?.layout() };
    try {
      await put(["my", "layout"], { layout });
    } catch (error) {
      if (!(error instanceof Refusal) && !isAborted(error)) throw error; // the address has the chart all the same
    }
  }

  /** @param {string} name */
  async edit(name) {
    await (await this.surroundings).desk.open(name);
  }
  async newScript() {
    await (await this.surroundings).desk.create();
  }
  /** @param {string} name */
  async fork(name) {
    await (await this.surroundings).desk.fork(name);
  }
  /** @param {string | null} kind */
  async openPalette(kind = null, typed = "") {
    (await this.surroundings).palette.open(kind, typed);
  }

  // ----------------------------------------------------------------------------------------- bar

  writeBar() {
    const { state, data } = this;
    byId("symbol-name").textContent = data?.symbol ?? state.symbol;
    const own = this.symbols.find(({ symbol }) => symbol === state.symbol)?.timeframe;
    const current = state.timeframe ?? data?.timeframe ?? null;
    const frames = framesOf(own ?? null, current);
    const choose = (/** @type {number} */ at) => {
      void this.setTimeframe(frames[at]);
      const buttons = byId("frames").querySelectorAll("button");
      buttons[at]?.focus();
    };
    render(
      byId("frames"),
      ...frames.map((frame, at) =>
        el(
          "button",
          {
            type: "button",
            role: "radio",
            "data-key": frame,
            tabindex: frame === current ? 0 : -1,
            "aria-checked": String(frame === current),
            onclick: () => this.setTimeframe(frame),
            onkeydown: (/** @type {KeyboardEvent} */ event) => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (step) choose((at + step + frames.length) % frames.length);
            },
          },
          frame,
        ),
      ),
    );
    byId("zone-name").textContent = (state.zone.split("/").at(-1) ?? "").replaceAll("_", " ");
    const other = this.themeName === "dark" ? "light" : "dark";
    byId("theme").setAttribute("aria-label", `Switch to the ${other} theme`);
    byId("picture").href = `/chart.png?${writeAddress(state)}&theme=${this.themeName}`;
    if (!this.me.user) return;
    byId("who").textContent = this.me.user.slice(0, 1).toUpperCase();
    if (this.me.accounts) byId("account").href = "/account";
  }

  async copyLink() {
    const { from, to } = this.view.range;
    const address = new URL(`/?${writeAddress(this.state)}`, location.href);
    const { clock, data } = this.view;
    if (data && to < data.count - 1)
      address.searchParams.set("view", `${Math.round(clock.timeOf(Math.max(0, Math.floor(from))))}-${Math.round(clock.timeOf(Math.ceil(to)))}`);
    await navigator.clipboard.writeText(address.href);
    toast("The link draws this chart again");
  }

  bind() {
    /** @type {[string, () => unknown][]} */
    const clicks = [
      ["palette", () => this.openPalette()],
      ["symbol", () => this.openPalette("Symbol")],
      ["zone", () => this.openPalette("Time zone")],
      ["theme", () => this.switchTheme()],
      ["copy", () => this.copyLink()],
      ["write", () => this.newScript()],
      ["more", () => this.openMore()],
      ["style", () => this.openPalette("Style")],
      ["last-bar", () => this.view.showLast()],
      ["undo", () => this.undo()],
    ];
    for (const [id, act] of clicks) byId(id).addEventListener("click", () => void act());
    for (const button of document.querySelectorAll("[data-close]"))
      button.addEventListener("click", () => button.closest("dialog")?.close());
    addEventListener("keydown", (event) => this.press(event));
    addEventListener("pagehide", () => this.keepLayout.flush());
    addEventListener("popstate", () => void this.goBack());
    byId("chart").addEventListener("keydown", (event) => this.view.press(event));
    byId("stage").addEventListener("contextmenu", (event) => this.openMenu(event));
    byId("picture").addEventListener("click", (event) => {
      event.preventDefault();
      void this.takePicture();
    });
    this.writeTools();
    for (const button of document.querySelectorAll("#thumbs button"))
      if (button instanceof HTMLElement && button.dataset.view)
        button.addEventListener("click", () => void this.showView(button.dataset.view ?? ""));
  }

  /**
   * Shows one of the sections at the side, or none; where it closes, the focus goes back.
   * @param {string | null} id
   */
  showSide(id) {
    const from = document.activeElement?.closest(".desk");
    let isOpen = false;
    for (const side of document.querySelectorAll(".desk"))
      if (side instanceof HTMLElement) {
        side.hidden = side.id !== id;
        isOpen ||= !side.hidden;
      }
    document.body.toggleAttribute("data-side", isOpen);
    if (from && !isOpen) byId("chart").focus();
    this.legends.place();
    if (!PHONE.matches || !this.isStarted) return;
    if (id === "desk") void this.showView("desk");
    else document.body.dataset.view = id ? "desk" : "board";
  }

  /** @param {string} name */
  async showView(name) {
    if (name === "desk" && byId("desk").hidden) {
      const { desk } = await this.surroundings;
      if (desk.name) this.showSide("desk");
      else await desk.openMenu();
      return;
    }
    document.body.dataset.view = name;
    for (const button of byId("thumbs").children)
      if (button instanceof HTMLElement && button.dataset.view === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const origin = event.composedPath()[0];
    const typing = origin instanceof Element && origin.closest("input, select, textarea, [contenteditable]");
    const control = event.ctrlKey || event.metaKey;
    const hasDialog = document.querySelector("dialog[open]");
    if (control && event.key === "k") void this.openPalette();
    else if (control && event.key === "s" && !byId("desk").hidden) void this.desk?.save();
    else if (control && event.key === "s" && !byId("contract").hidden) void this.contracts?.save();
    else if (typing || hasDialog) return;
    else if (control && event.key === "z") void this.undo();
    else if (control || event.altKey || event.metaKey) return;
    else if (event.key === "/") byId("find").focus();
    else if (event.key === "Delete" || event.key === "Backspace") {
      if (!this.drawings.removeChosen()) return;
    } else if (event.key === "Escape" && this.drawings.tool) this.drawings.take(null);
    else if (event.key === "Escape" && document.body.hasAttribute("data-side")) this.parts?.closeSide();
    else if (/^[1-9]$/.test(event.key)) void this.openPalette("Timeframe", event.key);
    else if (/^[a-z]$/i.test(event.key)) void this.openPalette("Symbol", event.key);
    else return;
    event.preventDefault();
  }

  /** @param {string} symbol */
  async compare(symbol) {
    await (await this.surroundings).comparison.toggle(symbol);
  }
  /** @param {number} time UTC ms */
  async replay(time) {
    await (await this.surroundings).replay.begin(time);
  }

  writeTools() {
    const { tool } = this.drawings;
    render(
      byId("tools"),
      .../** @type {(keyof typeof TOOLS)[]} */ (Object.keys(TOOLS)).map((name) =>
        iconButton(name, TOOLS[name], () => this.drawings.take(tool === name ? null : name), {
          "data-key": name,
          class: "tool",
          "aria-pressed": String(tool === name),
        }),
      ),
    );
  }

  /** What is drawn, as it is on the page, as a file. */
  async takePicture() {
    const canvas = this.view.chart.takeScreenshot(true);
    const context = canvas.getContext("2d");
    const scale = canvas.width / this.view.host.clientWidth;
    if (context) this.legends.paint(context, scale);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    const link = el("a", { href: URL.createObjectURL(blob), download: `${this.data?.symbol} ${this.data?.timeframe}.png` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /** @param {MouseEvent} event */
  openMenu(event) {
    event.preventDefault();
    const { look = {} } = this.state;
    const place = this.drawings.placeOf(/** @type {PointerEvent} */ (event));
    const bar = place && this.view.clock.bar({ time: place[0] });
    /** @type {import("./menus.js").Item[]} */
    const items = [
      { name: "Go to the last bar", run: () => this.view.showLast() },
      { name: "Go to a date…", run: () => this.openPalette("Go to") },
      place && bar !== null && { name: "Replay from this bar", run: () => this.replay(place[0]) },
      null,
      { name: "Add an indicator…", run: () => this.openPalette("Indicator") },
      { name: "Compare…", run: () => this.openPalette("Compare") },
      { name: "Chart type and scale…", run: () => this.openPalette("Style") },
      { name: "Logarithmic scale", checked: look.scale === "log", run: () => this.setLook({ scale: look.scale === "log" ? "linear" : "log" }) },
      { name: "Percent scale", checked: look.scale === "percent", run: () => this.setLook({ scale: look.scale === "percent" ? "linear" : "percent" }) },
      { name: "Volume", checked: !look.noVolume, run: () => this.setLook({ noVolume: !look.noVolume }) },
      null,
      ...(this.drawings.chosen ? [{ name: "Remove this drawing", run: () => this.drawings.removeChosen() }] : []),
      ...(this.drawings.all.length ? [{ name: "Remove all drawings of this symbol", run: () => this.drawings.clear() }] : []),
      { name: "Undo", run: () => this.undo() },
      { name: "Copy the link", run: () => this.copyLink() },
      { name: "Picture", run: () => this.takePicture() },
    ].filter((item) => item !== false);
    this.menu.open(event.clientX, event.clientY, items);
  }

  /** What the bar has no room for on a phone. */
  openMore() {
    const box = byId("more").getBoundingClientRect();
    this.menu.open(box.left, box.top, [
      { name: "Search or run a command", run: () => this.openPalette() },
      { name: "Time zone…", run: () => this.openPalette("Time zone") },
      { name: "Go to the last bar", run: () => this.view.showLast() },
      { name: "Chart type and scale…", run: () => this.openPalette("Style") },
      { name: "Compare…", run: () => this.openPalette("Compare") },
      { name: "Go to a date…", run: () => this.openPalette("Go to") },
      null,
      { name: "Copy the link", run: () => this.copyLink() },
      { name: "Picture", run: () => this.takePicture() },
      { name: "Switch the theme", run: () => this.switchTheme() },
      { name: "Help", run: () => location.assign("/docs") },
      { name: "Account and clients", run: () => location.assign(byId("account").href) },
    ]);
  }
}

const signInAddress = () =>
  `/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`;

/** Resolves after the next frame is painted; a page that nobody sees paints none. */
const painted = () =>
  new Promise((resolve) => {
    if (document.hidden) resolve(null);
    else requestAnimationFrame(() => setTimeout(resolve));
  });
