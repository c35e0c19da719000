import assert from "node:assert/strict";
import { test } from "node:test";
import { addPart, readChart, widen } from "../../../../src/chartpact/server/static/js/columns.js";

/** An answer as the server packs it. */
function pack(head, ...columns) {
  const shapes = columns.map((values) => ["d", values.length]);
  const text = new TextEncoder().encode(JSON.stringify([head, shapes]));
  const size = Math.ceil(text.length / 8) * 8;
  const buffer = new ArrayBuffer(24 + size + 8 * columns.flat().length);
  new Uint8Array(buffer, 0, 8).set(new TextEncoder().encode("cpact\0\u0001\n"));
  new BigUint64Array(buffer, 8, 2).set([BigInt(size), BigInt(8 * columns.flat().length)]);
  new Uint8Array(buffer, 24, size).fill(32).set(text);
  new Float64Array(buffer, 24 + size).set(columns.flat());
  return buffer;
}
const line = (number) => ({ kind: "line", color: "#112233", values: { $: number } });
const prices = (number) =>
  Object.fromEntries(["open", "high", "low", "close", "volume"].map((name) => [name, { $: number }]));

test("columns that are equal are kept once until earlier bars part them", () => {
  const bars = { time: { $: 0 }, ...prices(1) };
  const indicators = [{ scene: { plots: [line(2), line(2)] } }];
  const chart = readChart(pack({ first: 2, count: 4, bars, indicators }, [0, 1, 2, 3], [9, 9], [7, 8]));
  const [one, other] = chart.indicators[0].scene.plots;
  assert.equal(one.values, other.values);
  const part = { first: 0, count: 4, bars: prices(0), indicators: [{ plots: [line(1), line(2)] }] };
  addPart(chart, pack(part, [9, 9], [1, 2], [3, 4]));
  assert.deepEqual([...one.values], [1, 2, 7, 8]);
  assert.deepEqual([...other.values], [3, 4, 7, 8]);
  assert.equal(chart.from, 0);
});

test("a part of other bars is refused", () => {
  const chart = { count: 4 };
  assert.equal(addPart(chart, pack({ first: 0, count: 5 })), false);
});

test("what is no chart is refused", () => {
  assert.throws(() => readChart(new ArrayBuffer(16)), /not a chart/);
});

test("a range is widened as by each value, whichever blocks it spans", () => {
  const values = Float64Array.from({ length: 1500 }, (_, i) => Math.sin(i * i) * i);
  values[700] = NaN;
  for (const [first, last] of [[0, 1499], [5, 5], [200, 900], [255, 512], [-10, 2000], [1400, 1300]]) {
    const range = [Infinity, -Infinity];
    widen(range, values, first, last);
    const seen = [...values.slice(Math.max(0, first), Math.max(0, last + 1))].filter((v) => v === v);
    assert.deepEqual(range, [Math.min(...seen), Math.max(...seen)], `${first}–${last}`);
  }
});
