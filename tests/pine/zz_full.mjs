// Runs Pine scripts with PineTS on bars, one after the other, and tells what stands after every n bars.
// A line of stdin: {source, inputs, symbol, timeframe, tick, every,
//                   bars: {SYMBOL: [[time, open, high, low, close, volume, close_time]]}}
// Lines of stdout: {bars, labels, lines, boxes, tables, plots} for each picture. After each picture a
// line "more" or "stop" is awaited. The last line is {end: true}, or {error} where the script failed;
// a stopped script has none.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { PineTS, Indicator } from "pinets";

console.log = console.error; // PineTS logs to stdout
process.on("unhandledRejection", (error) => {
  console.error(error);
  process.exit(3);
});

// PineTS makes a format for every conversion of a time; making one costs far more than using it.
const Format = Intl.DateTimeFormat;
const formats = new Map();
Intl.DateTimeFormat = function (locale, options) {
  const key = JSON.stringify([locale, options]);
  if (!formats.has(key)) formats.set(key, new Format(locale, options));
  return formats.get(key);
};

const provider = (job) => ({
  configure() {},
  async getMarketData(symbol, timeframe) {
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
});

const plain = (key, value) =>
  key.startsWith("_") || typeof value === "function" ? undefined
    : typeof value === "number" && Number.isNaN(value) ? null : value;

function write(record) {
  const text = Buffer.from(JSON.stringify(record, plain) + "\n");
  for (let at = 0; at < text.length; ) at += writeSync(1, text, at);
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const read = async () => (await input.next()).value;

async function draw(job) {
  const count = job.bars[job.symbol].length;
  const engine = new PineTS(provider(job), job.symbol, job.timeframe);
  let seen = 0;
  for await (const context of engine.run(new Indicator(job.source, job.inputs), undefined, job.every)) {
    seen = Math.min(seen + job.every, count);
    const picture = { bars: seen, plots: [] };
    for (const channel of ["labels", "lines", "boxes", "tables"]) {
      const items = (context.plots[`__${channel}__`]?.data ?? []).at(-1)?.value ?? [];
      picture[channel] = items.filter((item) => !item._deleted);
    }
    for (const [title, plot] of Object.entries(context.plots)) {
      if (title.startsWith("__")) continue;
      picture.plots.push({ title, style: plot.options.style, options: plot.options, values: plot.data.map((d) => d?.value) });
    }
    write(picture);
    if ((await read()) !== "more") return;
    if (seen >= count) break; // PineTS would wait for live bars
  }
  write({ end: true });
}

for (let line = await read(); line !== undefined; line = await read()) {
  try {
    await draw(JSON.parse(line));
  } catch (error) {
    write({ error: String(error?.stack ?? error).slice(0, 2000) });
  }
}
process.exit(0);
