// The dialog that begins a follow: which contract, on which chart, with which settings, how often.
import { get, post, Refusal } from "./api.js";
import { byId, el, render, toast } from "./dom.js";

const EVERY = { "every 5 s": 5, "every 30 s": 30, "every minute": 60, "every 5 min": 300, "every hour": 3600 };

export class FollowForm {
  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    byId("follow-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit();
    });
  }

  /** Opens the dialog for a contract, or for any; the source is the chart on the page. 
   * @param {any} follow
   */
  async open({ contract } = {}) {
    const { workbench } = this.board;
    byId("follow-problem").hidden = true;
    const { contracts } = await get("contracts");
    const granted = workbench.me.tradingview ?? [];
    const symbols = workbench.symbols.map((/** @type {SymbolRow} */ { symbol }) => symbol);
    const { symbol, timeframe } = workbench.state;
    /**
     * @param {string[]} values
     * @param {any} chosen
     */
    const options = (values, chosen, label = (/** @type {any} */ value) => value) =>
      values.map((/** @type {any} */ value) => el("option", { value, selected: value === chosen }, label(value)));
    const about = new Map(contracts.map((/** @type {any} */ one) => [one.name, one]));
    render(byId("follow-contract"),       ...options([...about.keys()], contract, (name) => {
        const { title, source } = about.get(name);
        return source === "user" ? `${title} (yours)` : title;
      }),
    );
    render(byId("follow-source"),       el("optgroup", { label: "Charts" }, ...options([...new Set([symbol, ...symbols])], symbol)),
      ...(granted.length
        ? [el("optgroup", { label: "TradingView" }, ...options(granted, symbol))]
        : []),
    );
    byId("follow-timeframe").value = timeframe ?? "";
    render(byId("follow-every"),       ...Object.entries(EVERY).map(([label, value]) =>
        el("option", { value, selected: value === 60 }, label),
      ),
    );
    byId("follow-config").value = "";
    byId("follow-dialog").showModal();
  }

  /** The lines of the settings as a config: KEY=VALUE, values as JSON where they are. */
  readConfig() {
    /** @type {Params} */
    const config = {};
    for (const line of byId("follow-config").value.split("\n")) {
      if (!line.trim()) continue;
      const at = line.indexOf("=");
      if (at < 1) throw new Refusal(0, { kind: "value", message: `“${line}” is no setting`, hint: "write KEY=VALUE" });
      config[line.slice(0, at).trim()] = readValue(line.slice(at + 1).trim());
    }
    return config;
  }

  async submit() {
    const contract = byId("follow-contract").value;
    const symbol = byId("follow-source").value;
    const isGranted = (this.board.workbench.me.tradingview ?? []).includes(symbol);
    const begin = byId("follow-submit");
    begin.disabled = true;
    try {
      const { follows } = await post(["my", "follows"], {
        contracts: [contract],
        symbol,
        timeframe: isGranted ? null : byId("follow-timeframe").value.trim() || null,
        config: { [contract]: this.readConfig() },
        every: Number(byId("follow-every").value),
      });
      byId("follow-dialog").close();
      toast(`${this.board.titleOf(contract)} is followed`);
      await this.board.lookAgain();
      const follow = this.board.follows.get(follows[0].id);
      if (follow) this.board.panel.open(follow);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const problem = byId("follow-problem");
      problem.hidden = false;
      problem.textContent = [error.message, error.hint].filter(Boolean).join(". ");
    } finally {
      begin.disabled = false;
    }
  }
}

/** @param {string} text */
function readValue(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? text : value;
  } catch {
    return text;
  }
}
