// Time: which bar a moment belongs to, the wall clock of a zone, and how ticks are ranked by it.
import { defaultHorzScaleBehavior } from "./vendor.js";

const DAY = 86_400_000;

/** The bars of a chart by time, before the first and after the last one too. */
export class Clock {
  /** @param {Bars} bars */
  constructor(bars) {
    this.bars = bars;
    this.time = bars.time;
    const steps = Array.from(
      { length: Math.min(bars.length - 1, 999) },
      (_, i) => bars.time[i + 1] - bars.time[i],
    ).sort((a, b) => a - b);
    this.barMs = steps.length ? Math.max(1, steps[steps.length >> 1]) : 60_000;
  }
  /**
   * The bar of an anchor, or null where it has none.
   * @param {Anchor} anchor
   */
  bar(anchor) {
    if (anchor.bar !== null && anchor.bar !== undefined)
      return Math.min(Math.max(anchor.bar, -1e9), 1e9);
    const time = anchor.time;
    const count = this.time.length;
    if (time === null || time === undefined || !count) return null;
    const last = this.time[count - 1];
    if (time > last) return count - 1 + (time - last) / this.barMs;
    if (time < this.time[0]) return (time - this.time[0]) / this.barMs;
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
  /** @param {number} bar */
  timeOf(bar) {
    const count = this.time.length;
    return bar < count ? this.time[bar] : this.time[count - 1] + (bar - count + 1) * this.barMs;
  }
}

/**
 * From UTC ms to the ms of a zone's wall clock; offsets are looked up once a day.
 * @param {string} zone
 */
export function wallClock(zone) {
  if (zone === "UTC") return (/** @type {number} */ ms) => ms;
  const offsets = new Map();
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  /** @param {number} ms */
  const offsetAt = (ms) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map((p) => [p.type, +p.value]));
    const { year, month, day, hour, minute, second } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
  };
  /** @param {number} day */
  const offsetOfDay = (day) => {
    if (!offsets.has(day)) offsets.set(day, offsetAt(day * DAY));
    return offsets.get(day);
  };
  return (/** @type {number} */ ms) => {
    const day = Math.floor(ms / DAY);
    const offset = offsetOfDay(day);
    return ms + (offset === offsetOfDay(day + 1) ? offset : offsetAt(ms));
  };
}

// Weights of tick marks, as lightweight-charts has them.
const STEPS = [
  [DAY, 50],
  [DAY / 2, 33],
  [DAY / 4, 32],
  [DAY / 8, 31],
  [3_600_000, 30],
  [1_800_000, 22],
  [300_000, 21],
  [60_000, 20],
  [1000, 10],
];

/**
 * @param {number} now
 * @param {number} before
 */
function rank(now, before) {
  const a = new Date(before);
  const b = new Date(now);
  if (a.getUTCFullYear() !== b.getUTCFullYear()) return 70;
  if (a.getUTCMonth() !== b.getUTCMonth()) return 60;
  const crossed = STEPS.find(([ms]) => Math.floor(now / ms) !== Math.floor(before / ms));
  return crossed ? crossed[1] : 0;
}

/**
 * A horizontal scale whose ticks fall on the midnights of a zone; the library ranks by UTC.
 * @param {string} zone
 */
export function scaleIn(zone) {
  const wall = wallClock(zone);
  return class extends defaultHorzScaleBehavior() {
    /**
     * @param {any[]} points
     * @param {number} start
     */
    fillWeightsForPoints(points, start) {
      let before = start ? wall(points[start - 1].originalTime * 1000) : null;
      for (let i = start; i < points.length; i++) {
        const now = wall(points[i].originalTime * 1000);
        points[i].timeWeight = before === null ? 0 : rank(now, before);
        before = now;
      }
    }
  };
}

/**
 * Times in words, in a zone.
 * @param {string} zone
 */
export function formatsIn(zone) {
  /** @param {Intl.DateTimeFormatOptions} options */
  const make = (options) => {
    let format; // made when it is needed: each takes a millisecond
    return (/** @type {number} */ ms) => {
      format ??= new Intl.DateTimeFormat("en-GB", {
        timeZone: zone,
        hourCycle: "h23",
        ...options,
      });
      return format.format(ms);
    };
  };
  /** @type {Intl.DateTimeFormatOptions} */
  const clock = { hour: "2-digit", minute: "2-digit" };
  return {
    year: make({ year: "numeric" }),
    month: make({ month: "short" }),
    day: make({ day: "numeric", month: "short" }),
    minute: make(clock),
    second: make({ ...clock, second: "2-digit" }),
    full: make({ weekday: "short", day: "numeric", month: "short", year: "numeric", ...clock }),
  };
}

/**
 * Whether the browser knows a time zone.
 * @param {string} zone
 */
export function isZone(zone) {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: zone }));
  } catch {
    return false;
  }
}

export function zones() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const known = Intl.supportedValuesOf?.("timeZone") ?? [];
  return [...new Set(["UTC", local, "America/New_York", "Europe/London", ...known])];
}

const FRAMES = ["1m", "5m", "15m", "30m", "1h", "2h", "4h", "1D", "1W", "1M"];
/** @type {Record<string, number>} */
const MINUTES = { m: 1, h: 60, D: 1440, W: 10_080, M: 43_200 };
const MOST_FRAMES = 7;

/**
 * The minutes of a timeframe such as 5m or 4h; 0 where it is none.
 * @param {string | null} frame
 */
export function minutesOf(frame) {
  const match = /^(\d{1,4})([mhDWM])$/.exec(frame ?? "");
  return match ? Number(match[1]) * MINUTES[match[2]] : 0;
}

/**
 * The timeframes that bars can be drawn in: their own one, larger ones, and the one that is shown.
 * @param {string | null} own
 * @param {string | null} current
 */
export function framesOf(own, current) {
  const least = minutesOf(own);
  const frames = FRAMES.filter((frame) => minutesOf(frame) >= least).slice(0, MOST_FRAMES);
  if (current && !frames.includes(current)) frames.push(current);
  return frames.sort((a, b) => minutesOf(a) - minutesOf(b));
}
