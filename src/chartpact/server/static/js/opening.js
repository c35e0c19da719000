// The chart that the page opens with: asked for at once, while the other modules are loaded.
import { readAddress } from "./address.js";
import { get, getSeries, writeAsk } from "./api.js";
import { Drafts } from "./drafts.js";
import { FIRST_CHART } from "./facts.js";

export const PHONE = matchMedia("(max-width: 760px)");
export const BARS_SHOWN = PHONE.matches ? 60 : 130;
const FIRST = {
  ...FIRST_CHART,
  timeframe: null,
  zone: "UTC",
  indicators: FIRST_CHART.indicators.map((name) => ({ name, params: {}, hidden: false })),
};

/**
 * The chart of the address, else the one that was left, else the first one.
 * @param {any} layout
 */
export function chooseChart(layout) {
  const left = location.search ? null : layout?.chart;
  return readAddress(location.search) ?? { ...structuredClone(FIRST), ...left };
}

async function begin() {
  const [me, { layout }] = await Promise.all([get("me"), get("my", "layout")]);
  const state = chooseChart(layout);
  const drafts = new Drafts(me.user).listGood();
  const series = getSeries(writeAsk(state, drafts, BARS_SHOWN));
  series.catch(() => {}); // who awaits it hears of its failure
  return { me, layout, state, drafts, series };
}

export const opening = begin();
opening.catch(() => {}); // likewise
