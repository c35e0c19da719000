// Runs one Pine script with PineTS on bars and writes what stands after every n bars.
// stdin: {source, inputs, symbol, timeframe, tick, every, bars: {SYMBOL: [[time, o, h, l, c, v, close_time]]}}
// stdout: [{bars, labels, lines, boxes, tables}]
import { readFileSync, writeSync } from "node:fs";
import { PineTS, Indicator } from "pinets";

console.log = console.error; // PineTS logs to stdout
process.on("unhandledRejection", (error) => {
  console.error(error);
  process.exit(3);
});

const job = JSON.parse(readFileSync(0, "utf8"));

const provider = {
  configure() {},
  async getMarketData(symbol, timeframe, limit, from, to) {
    const rows = job.bars[symbol.split(":").pop()];
    if (!rows) throw new Error(`no bars of ${symbol}`);
    if (timeframe !== job.timeframe) throw new Error(`no bars of ${timeframe}`);
    return rows.map(([openTime, open, high, low, close, volume, closeTime]) => ({
      openTime, closeTime, open, high, low, close, volume,
    }));
  },
  async getSymbolInfo(symbol) {
    return {
      ticker: symbol, tickerid: symbol, description: symbol, type: "futures", root: symbol,
      prefix: "", currency: "USD", timezone: "America/New_York", session: "1800-1700",
      mintick: job.tick, pricescale: Math.round(1 / job.tick), minmove: 1, pointvalue: 1,
    };
  },
};

const engine = new PineTS(provider, job.symbol, job.timeframe);
const indicator = new Indicator(job.source, job.inputs ?? {});
const count = job.bars[job.symbol].length;
const pictures = [];
const live = (plots, name) =>
  (plots[name]?.data ?? []).at(-1)?.value?.filter((item) => !item._deleted) ?? [];

let seen = 0;
for await (const context of engine.run(indicator, undefined, job.every)) {
  seen = Math.min(seen + job.every, count);
  const plots = context.plots ?? context.fullContext?.plots;
  const picture = { bars: seen };
  for (const channel of ["labels", "lines", "boxes", "tables"]) {
    picture[channel] = live(plots, `__${channel}__`).map((item) => ({ ...item }));
  }
  pictures.push(JSON.parse(JSON.stringify(picture, (key, value) =>
    key.startsWith("_") && key !== "__id" || typeof value === "function" || key === "_helper" ? undefined
      : typeof value === "number" && Number.isNaN(value) ? null : value)));
  if (seen >= count) break; // PineTS would wait for live bars
}
const text = JSON.stringify(pictures);
for (let at = 0; at < text.length; ) at += writeSync(1, text.slice(at, at + 60000));
process.exit(0);
