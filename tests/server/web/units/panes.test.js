import assert from "node:assert/strict";
import { test } from "node:test";
import { panesOf, rangeOf } from "../../../../src/chartpact/server/static/js/panes.js";
import { Clock } from "../../../../src/chartpact/server/static/js/timescale.js";

const column = (...values) => Float64Array.from(values);
const bars = {
  time: column(0, 1, 2),
  open: column(10, 11, 12),
  high: column(11, 12, 13),
  low: column(9, 10, 11),
  close: column(10, 12, 11),
  volume: column(5, 6, 7),
  length: 3,
};
const scene = (plots, more = {}) => ({ plots, y_range: null, label: "", linefills: [], labels: [], lines: [], boxes: [], tables: [], polylines: [], ...more });
const line = (...values) => ({ kind: "line", values: column(...values), title: "", color: "#fff", width: 1, style: "line" });
const chart = (...indicators) => ({ bars, count: 3, indicators });

test("the panes are price, volume, then each panel and each failure in order", () => {
  const panes = panesOf(chart(
    { name: "a", overlay: true, scene: scene([]) },
    { name: "b", overlay: false, scene: scene([]) },
    { name: "c", error: { message: "no" } },
  ));
  assert.deepEqual(panes.map(({ kind }) => kind), ["price", "volume", "panel", "error"]);
  assert.equal(panesOf(chart(), false).length, 1);
});

test("an object that is forced over the price leaves its panel", () => {
  const box = { left: { bar: 0 }, right: { bar: 1 }, top: 1, bottom: 0, force_overlay: true };
  const [price, , panel] = panesOf(chart({ name: "b", overlay: false, scene: scene([], { boxes: [box] }) }));
  assert.deepEqual([price.boxes.length, panel.boxes.length], [1, 0]);
});

test("an overlay stretches the prices by two fifths at the most", () => {
  const [price] = panesOf(chart({ name: "a", overlay: true, scene: scene([line(1000, 1000, 1000)]) }));
  const [low, high] = rangeOf(price, chart(), new Clock(bars), 0, 2);
  assert.equal(low, 9);
  assert.ok(Math.abs(high - (13 + 0.4 * 4)) < 1e-9);
});

test("a flat panel has room, and a fixed one its own range", () => {
  const of = (drawn) => panesOf(chart({ name: "b", overlay: false, scene: drawn }))[2];
  assert.deepEqual(rangeOf(of(scene([line(0, 0, 0)])), chart(), new Clock(bars), 0, 2), [-1, 1]);
  assert.deepEqual(rangeOf(of(scene([line(1, 2, 3)], { y_range: [0, 100] })), chart(), new Clock(bars), 0, 2), [0, 100]);
});
