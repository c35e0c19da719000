// The state board: what contracts read from the pacts on the chart, or why they refuse to.
import { post, Refusal } from "./api.js";
import { byId, el } from "./dom.js";

const MOST_FACTS = 3;
const UP = /BULL|HIGH|LONG|UP/i;
const DOWN = /BEAR|LOW|SHORT|DOWN/i;

export class Board {
  constructor(workbench) {
    this.workbench = workbench;
  }

  /** The contracts of the pacts on the chart, in their order. */
  contracts() {
    const { state, picker } = this.workbench;
    const names = state.indicators.filter((asked) => !asked.hidden).map(({ name }) => name);
    return [...new Set(names)].filter((name) => picker.known.get(name)?.source === "pact");
  }

  async load() {
    const contracts = this.contracts();
    byId("board-section").hidden = !contracts.length;
    const { symbol, timeframe } = this.workbench.state;
    const key = JSON.stringify([contracts, symbol, timeframe]);
    if (!contracts.length || key === this.key) return;
    this.key = key;
    try {
      const { readings } = await post(["state"], { contracts, symbol, timeframe });
      if (key !== this.key) return;
      this.write(contracts.map((name) => [name, readings[name]]));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.key = null;
      byId("board").replaceChildren(card("State", "Not read", error.message, "is-warn"));
    }
  }

  write(readings) {
    byId("board").replaceChildren(
      ...readings.map(([name, reading]) => {
        const title = this.workbench.picker.known.get(name)?.title ?? name;
        if (!reading.state) {
          const { violations } = reading;
          const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
          return card(title, "VIOLATION", (violations[0]?.message ?? "") + more, "is-warn");
        }
        const states = [...new Set((reading.tracks ?? []).map((track) => track.state))];
        const headline = states.slice(0, 2).join(" · ") || headlineOf(reading.state);
        const way = UP.test(headline) ? "is-up" : DOWN.test(headline) ? "is-down" : "";
        return card(title, headline, factsOf(reading.state), way, reading.as_of);
      }),
    );
  }
}

function card(title, state, facts, kind, asOf) {
  const when = asOf ? new Date(asOf).toISOString().slice(5, 16).replace("T", " ") : null;
  return el(
    "li",
    { class: kind, title: facts },
    el("h2", {}, title, when ? el("time", { datetime: new Date(asOf).toISOString() }, when) : null),
    el("p", { class: "st" }, state),
    el("p", { class: "wh" }, facts),
  );
}

/** The first words of a state that has no machines. */
function headlineOf(state) {
  const counts = Object.entries(state).flatMap(([name, value]) =>
    Array.isArray(value) ? [`${value.length} ${name.replaceAll("_", " ")}`] : [],
  );
  return counts.slice(0, 2).join(", ") || "Read";
}

/** A few plain values of a state, by their names. */
function factsOf(state) {
  const facts = [];
  const walk = (value, name) => {
    if (value === null || value === false || facts.length >= MOST_FACTS) return;
    if (Array.isArray(value)) facts.push(`${value.length} ${name}`);
    else if (typeof value === "object")
      for (const [key, inner] of Object.entries(value)) walk(inner, key.replaceAll("_", " "));
    else if (typeof value === "number" && value > 1e11)
      return; // a time
    else facts.push(value === true ? name : `${name} ${value}`);
  };
  walk(state, "");
  return facts.join(", ");
}
