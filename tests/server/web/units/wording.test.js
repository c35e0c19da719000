import assert from "node:assert/strict";
import { test } from "node:test";
import * as wording from "../../../../src/chartpact/server/static/js/wording.js";

const TIME = Date.UTC(2024, 2, 12, 14, 30);

test("plain values are written as people read them", () => {
  const written = [null, true, false, -1.5, 5004.5, "HUNT_LOW", TIME].map((value) => wording.formatPlain(value, "UTC"));
  assert.deepEqual(written, ["none", "yes", "no", "−1.5", "5,004.5", "HUNT_LOW", "12 Mar 14:30"]);
});

test("a headline that names both ways points neither", () => {
  assert.deepEqual(["BULL", "BEAR_SWEEP", "BULL or BEAR", "NONE"].map(wording.wayOf), ["is-up", "is-down", "", ""]);
});

test("a drawn object is said with its text, prices and time, and a long text is cut", () => {
  const box = { left: { time: TIME }, right: { time: TIME + 1 }, top: 10, bottom: 9, text: "x".repeat(100) };
  const said = wording.describeObject(box, "America/New_York");
  assert.match(said, /^box “x{60}…” at 10 – 9 from 12 Mar 10:30$/);
});

test("a violation comes before any state, with how many more there are", () => {
  const violations = [{ message: "no element claims this", object: [] }, { message: "second" }];
  const { state, facts, kind } = wording.summariseReading({ violations }, [], "UTC");
  assert.equal(state, "VIOLATION");
  assert.equal(facts, "no element claims this (and 1 more)");
  assert.equal(kind, "is-warn");
});

test("changes of a journal are sentences", () => {
  const change = { machine: "hunt", from: "NONE", to: "HUNT_LOW", kind: "started" };
  assert.equal(wording.describeChange(change), "hunt NONE → HUNT_LOW (stood there when the follow began)");
  assert.equal(wording.describeChange({ type: "refused" }), "Could not be read: violations");
});
