import assert from "node:assert/strict";
import { test } from "node:test";
import { Clock, formatsIn, wallClock } from "../../../../src/chartpact/server/static/js/timescale.js";

const HOUR = 3_600_000;
const bars = (...time) => ({ time: Float64Array.from(time), length: time.length });

test("a bar's number is its own place", () => {
  assert.equal(new Clock(bars(0, HOUR)).bar({ bar: 7, time: 0 }), 7);
});

test("a time belongs to the bar that was open then, also across a gap", () => {
  const clock = new Clock(bars(0, HOUR, 2 * HOUR, 50 * HOUR));
  assert.equal(clock.bar({ time: HOUR + 1 }), 1);
  assert.equal(clock.bar({ time: 30 * HOUR }), 2);
});

test("times before the first and after the last bar are counted in bars", () => {
  const clock = new Clock(bars(0, HOUR, 2 * HOUR));
  assert.equal(clock.bar({ time: 4 * HOUR }), 4);
  assert.equal(clock.bar({ time: -HOUR }), -1);
  assert.equal(clock.timeOf(4), 4 * HOUR);
});

test("an anchor without a place has no bar", () => {
  assert.equal(new Clock(bars(0)).bar({ bar: null, time: null }), null);
});

for (const zone of ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"])
  test(`the wall clock of ${zone} is that of Intl, at each hour of a day that changes its offset`, () => {
    const wall = wallClock(zone);
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", hour: "2-digit", minute: "2-digit" });
    for (let ms = Date.UTC(2024, 2, 9); ms < Date.UTC(2024, 3, 8); ms += HOUR / 2)
      assert.equal(new Date(wall(ms)).toISOString().slice(11, 16), format.format(ms), new Date(ms).toISOString());
  });

test("times are written in their zone", () => {
  assert.equal(formatsIn("America/New_York").minute(Date.UTC(2024, 0, 5, 14, 30)), "09:30");
});
