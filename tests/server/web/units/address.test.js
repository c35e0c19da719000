import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRequest, parseRequest, readAddress, writeAddress } from "../../../../src/chartpact/server/static/js/address.js";

const STATE = {
  symbol: "sample:es-5m",
  timeframe: "1h",
  zone: "America/New_York",
  indicators: [
    { name: "rsi", params: { period: "7" }, hidden: false },
    { name: "vwap", params: {}, hidden: false },
  ],
};

test("a chart is read again from the address that was written for it", () => {
  assert.deepEqual(readAddress(`?${writeAddress(STATE)}`), STATE);
});

test("a hidden indicator is not in the address", () => {
  const indicators = [{ name: "rsi", params: {}, hidden: true }];
  assert.equal(writeAddress({ ...STATE, timeframe: null, zone: "UTC", indicators }), "symbol=sample:es-5m");
});

test("an address without a symbol asks for nothing", () => {
  assert.equal(readAddress("?theme=dark"), null);
});

for (const value of ["plain", "a, b", 'he said "no"', "back\\slash", "", "x:y", "ünï", "a=b,c=d"])
  test(`the value ${JSON.stringify(value)} survives a request`, () => {
    const asked = { name: "mine", params: { text: value, other: "1" } };
    assert.deepEqual(parseRequest(formatRequest(asked)), asked);
  });
