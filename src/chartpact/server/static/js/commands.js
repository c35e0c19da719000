// What the command palette lists, and the menus take from: symbols, indicators, zones and commands.
import { byId, toast } from "./dom.js";
import { minutesOf, zones } from "./timescale.js";

/** @typedef {import("./palette.js").Entry} Entry */

/** @type {Record<string, NonNullable<Look["candles"]>>} */
const CANDLES = {
  Candles: "candles",
  "Hollow candles": "hollow",
  "Heikin-Ashi": "heikin",
  Bars: "bars",
  Line: "line",
  Area: "area",
};
/** @type {Record<string, NonNullable<Look["scale"]>>} */
const SCALES = { "Linear scale": "linear", "Logarithmic scale": "log", "Percent scale": "percent" };

export class Commands {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
  }

  /**
   * @param {string | null} kind
   * @param {string} typed
   * @returns {Entry[]}
   */
  list(kind, typed) {
    const { workbench } = this;
    const all = {
      Symbol: () => this.symbols(typed),
      Timeframe: () => this.timeframes(typed),
      Indicator: () =>
        [...workbench.picker.known.values()].map(({ name, title }) =>
          entry(`Add ${title}`, "Indicator", () => workbench.picker.add(name), name),
        ),
      "Time zone": () => zones().map((zone) => entry(zone, "Time zone", () => workbench.setZone(zone))),
      Compare: () =>
        workbench.symbols.map(({ symbol }) => entry(symbol, "Compare", () => workbench.compare(symbol))),
      "Go to": () => this.dates(typed),
      Style: () => this.looks(),
    };
    if (kind && kind in all) return all[/** @type {keyof typeof all} */ (kind)]();
    return [...this.commands(), ...this.looks(), ...all.Symbol(), ...all.Indicator(), ...all["Time zone"]()];
  }

  /** @param {string} typed */
  symbols(typed) {
    const { workbench } = this;
    const entries = workbench.symbols.map(({ symbol, timeframe, source }) =>
      entry(symbol, "Symbol", () => workbench.setSymbol(symbol), [timeframe, source].filter(Boolean).join(" · ")),
    );
    // What is not listed can be there all the same: a symbol of an exchange.
    if (/^[^\s@]+@[^\s@]+$/.test(typed))
      entries.push(entry(typed, "Symbol", () => workbench.setSymbol(typed), "as typed"));
    return entries;
  }

  /** @param {string} typed */
  timeframes(typed) {
    const { workbench } = this;
    const typedFrames = ["m", "h", "D", "W"].map((unit) => (/^\d+$/.test(typed) ? typed + unit : ""));
    const own = workbench.symbols.find(({ symbol }) => symbol === workbench.state.symbol)?.timeframe ?? null;
    const frames = [typed, ...typedFrames].filter((frame) => minutesOf(frame) > 0);
    return frames
      .filter((frame) => minutesOf(frame) >= minutesOf(own))
      .map((frame) => entry(frame, "Timeframe", () => workbench.setTimeframe(frame), "timeframe"));
  }

  /** @param {string} typed */
  dates(typed) {
    const time = readDate(typed);
    if (time === null) return [entry(typed || "2024-03-12 14:30", "Go to", () => null, "a date, as YYYY-MM-DD")];
    const { workbench } = this;
    return [
      entry(typed, "Go to", () => workbench.view.showTime(time), "show this time"),
      entry(typed, "Go to", () => workbench.replay(time), "replay from here, bar by bar"),
    ];
  }

  looks() {
    const { workbench } = this;
    const { look = {} } = workbench.state;
    return [
      ...Object.entries(CANDLES).map(([name, candles]) => entry(name, "Chart type", () => workbench.setLook({ candles }))),
      ...Object.entries(SCALES).map(([name, scale]) => entry(name, "Scale", () => workbench.setLook({ scale }))),
      entry(look.noVolume ? "Show volume" : "Hide volume", "Chart", () => workbench.setLook({ noVolume: !look.noVolume })),
    ];
  }

  /** @returns {Entry[]} */
  commands() {
    const { workbench } = this;
    const command = (/** @type {string} */ name, /** @type {() => unknown} */ run) => entry(name, "Command", run);
    const palette = (/** @type {string} */ kind) => () => workbench.openPalette(kind);
    return [
      command("Write a new script", () => workbench.newScript()),
      command("Your scripts", () => workbench.desk?.openMenu()),
      command("Fork Cipher B", () => workbench.fork("cipher_b")),
      command("Contracts", () => workbench.contracts?.open()),
      command("Follow a contract", () => workbench.board?.form.open()),
      command("Load bars from a file", () => workbench.parts?.barsDrop.choose()),
      command("Undo", () => workbench.undo()),
      command("Compare with another symbol", palette("Compare")),
      command("Go to a date, or replay from it", palette("Go to")),
      command("Go to the last bar", () => workbench.view.showLast()),
      command("Full screen", () => fullScreen()),
      command("Switch the theme", () => workbench.switchTheme()),
      command("Copy the link of this chart", () => workbench.copyLink()),
      command("Picture of this chart", () => workbench.takePicture()),
      command("Help", () => location.assign("/docs")),
    ];
  }
}

/**
 * @param {string} name
 * @param {string} kind
 * @param {() => unknown} run
 * @param {string} [detail]
 * @returns {Entry}
 */
const entry = (name, kind, run, detail) => ({ name, kind, run, ...(detail ? { detail } : {}) });

/**
 * A date that somebody typed, in UTC ms; null where it is none.
 * @param {string} typed
 */
export function readDate(typed) {
  const match = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[ T](\d{1,2}):(\d{2}))?$/.exec(typed.trim());
  if (!match) return null;
  const [year, month, day = 1, hour = 0, minute = 0] = match.slice(1).map((text) => (text === undefined ? undefined : Number(text)));
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute);
}

async function fullScreen() {
  try {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await byId("stage").requestFullscreen();
  } catch {
    toast("This browser shows no part of a page on the full screen", "bad");
  }
}
