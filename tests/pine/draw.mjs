// Runs Pine scripts with PineTS on bars and writes what stands after every n bars.
// stdin: {sources: [text], inputs, symbol, timeframe, tick, every,
//         bars: {SYMBOL: [[time, open, high, low, close, volume, close_time]]}}
// stdout: for each source [{bars, labels, lines, boxes, tables}], or {error} where it failed
import { readFileSync, writeSync } from "node:fs";
import { PineTS, Indicator } from "pinets";

console.log = console.error; // PineTS logs to stdout
process.on("unhandledRejection", (error) => {
  console.error(error);
  process.exit(3);
});

const job = JSON.parse(readFileSync(0, "utf8"));
const count = job.bars[job.symbol].length;

const provider = {
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
};

const plain = (key, value) =>
  key.startsWith("_") || typeof value === "function" ? undefined
    : typeof value === "number" && Number.isNaN(value) ? null : value;

async function draw(source) {
  const engine = new PineTS(provider, job.symbol, job.timeframe);
  const pictures = [];
  let seen = 0;
  for await (const context of engine.run(new Indicator(source, job.inputs), undefined, job.every)) {
    seen = Math.min(seen + job.every, count);
    const picture = { bars: seen };
    for (const channel of ["labels", "lines", "boxes", "tables"]) {
      const items = (context.plots[`__${channel}__`]?.data ?? []).at(-1)?.value ?? [];
      picture[channel] = items.filter((item) => !item._deleted);
    }
    pictures.push(JSON.parse(JSON.stringify(picture, plain)));
    if (seen >= count) break; // PineTS would wait for live bars
  }
  return pictures;
}

const drawn = [];
for (const source of job.sources) {
  try {
    drawn.push(await draw(source));
  } catch (error) {
    drawn.push({ error: String(error?.stack ?? error).slice(0, 2000) });
  }
}
const text = Buffer.from(JSON.stringify(drawn));
for (let at = 0; at < text.length; ) at += writeSync(1, text, at);
process.exit(0);
