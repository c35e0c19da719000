import assert from "node:assert/strict";
import { test } from "node:test";
import { addPart, readChart, widen } from "../../../../src/chartpact/server/static/js/columns.js";

/** An answer as the server packs it. */
function pack(head, ...columns) {
  const text = new TextEncoder().encode(JSON.stringify(head));
  const size = Math.ceil(text.length / 8) * 8;
  const buffer = new ArrayBuffer(8 + size + 8 * columns.flat().length);
  new Uint32Array(buffer, 0, 2).set([0x31504331, size]);
  new Uint8Array(buffer, 8, size).fill(32).set(text);
  new Float64Array(buffer, 8 + size).set(columns.flat());
  return buffer;
}
const column = (at, n) => ({ $: "f8", at: 8 * at, n });
const line = (at) => ({ kind: "line", color: "#112233", values: column(at, 2) });
const prices = (at) =>
  Object.fromEntries(["open", "high", "low", "close", "volume"].map((name) => [name, column(at, 2)]));

test("columns that are equal are kept once until earlier bars part them", () => {
  const bars = { time: column(0, 4), ...prices(4) };
  const indicators = [{ scene: { plots: [line(6), line(6)] } }];
  const chart = readChart(pack({ first: 2, count: 4, bars, indicators }, [0, 1, 2, 3], [9, 9], [7, 8]));
  const [one, other] = chart.indicators[0].scene.plots;
  assert.equal(one.values, other.values);
  const part = { first: 0, count: 4, bars: prices(0), indicators: [{ plots: [line(2), line(4)] }] };
  addPart(chart, pack(part, [9, 9], [1, 2], [3, 4]));
  assert.deepEqual([...one.values], [1, 2, 7, 8]);
  assert.deepEqual([...other.values], [3, 4, 7, 8]);
  assert.equal(chart.from, 0);
});

test("a part of other bars is refused", () => {
  const chart = { count: 4 };
  assert.throws(() => addPart(chart, pack({ first: 0, count: 5 })), /bars have changed/);
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
