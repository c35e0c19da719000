import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, legible, over, visible } from "../../../../src/chartpact/server/static/js/colors.js";
import * as numbers from "../../../../src/chartpact/server/static/js/numbers.js";

test("a step of prices has its decimals", () => {
  assert.deepEqual([0.25, 1, 0.01, 1e-8, 0.1 + 0.2].map(numbers.decimalsOf), [2, 0, 2, 8, 1]);
});

test("large numbers are written short", () => {
  assert.deepEqual([999.4, 999_600, 1_500_000, -2e9].map(numbers.formatCompact), ["999.4", "1M", "1.5M", "−2B"]);
});

test("what is no number is a dash", () => {
  assert.deepEqual([NaN, null, undefined].map((value) => numbers.formatNumber(value, 2)), ["–", "–", "–"]);
});

test("a colour is made legible on every ground and stays as it is where it was", () => {
  for (const ground of ["#000000", "#131722", "#808080", "#ffffff"])
    for (const color of ["#ff0000", "#00ff00", "#0000ff", "#808080", "#13172280"])
      assert.ok(contrast(legible(color, ground, 4.5), ground) >= 4.5, `${color} on ${ground}`);
  assert.equal(legible("#ffffff", "#000000"), "#ffffff");
});

test("a colour without opacity is not seen and leaves its ground", () => {
  assert.deepEqual(["#ff000000", null, "#ff0000", "#ff000001"].map(visible), [false, false, true, true]);
  assert.equal(over("#ff000000", "#123456"), "#123456");
});
