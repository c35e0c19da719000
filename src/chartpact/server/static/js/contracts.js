// Contracts: read, written, checked and registered, drafted from a snapshot, and tried on one.
import { ask, get, isAborted, loadModule, post, put, Refusal, remove } from "./api.js";
import { confirm } from "./confirm.js";
import { byId, debounce, el, icon, render, toast } from "./dom.js";
import { Drafts } from "./drafts.js";
import { writeViolation } from "./followpanel.js";
import { ObjectTable } from "./objects.js";
import { showVersions } from "./versions.js";
import { summariseReading, writeState } from "./wording.js";

const FILE = "a snapshot file…";
const NEW = "new contract"; // the name of a draft that has none yet

export class Contracts {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    this.drafts = new Drafts(`contracts of ${workbench.me.user}`);
    /** @type {string | null} */
    this.name = null;
    /** @type {string | null} */
    this.saved = null;
    /** @type {any[]} */
    this.known = [];
    /** @type {{ name: string, data: any } | null} */
    this.snapshot = null;
    /** @type {any} */
    this.outcome = {};
    /** @type {symbol | null} */
    this.turn = null;
    /** @type {any} */
    this.language = null;
    /** @type {Promise<void> | null} */
    this.preparing = null;
    /** @type {import("./editor.js").Editor} */
    this.editor = /** @type {any} */ (undefined); // until prepare()
    /** @type {AbortController | null} */
    this.checking = null;
    this.table = new ObjectTable((/** @type {any} */ one) => this.chooseObject(one));
    this.keepLater = debounce(() => this.keep(), 300);
    this.input = el("input", { type: "file", accept: ".json", hidden: true, "aria-label": "Snapshot file" });
    document.body.append(this.input);
    this.input.addEventListener("change", () => {
      const [file] = this.input.files ?? [];
      if (file) void this.takeFile(file);
    });
    byId("contracts-open").addEventListener("click", () => void this.open());
    byId("contract-pick").addEventListener("change", () => void this.load(byId("contract-pick").value));
    byId("contract-source").addEventListener("change", () => {
      if (byId("contract-source").value === FILE) this.chooseFile();
    });
    byId("contract-try").addEventListener("click", () => void this.tryOut());
    byId("contract-save").addEventListener("click", () => void this.save());
    byId("contract-delete").addEventListener("click", () => void this.remove());
    byId("contract-versions").addEventListener("click", () => void this.openVersions());
    byId("contract-close").addEventListener("click", () => void this.close());
    byId("contract-draft").addEventListener("click", () => void this.openDraft());
    byId("draft-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.draft();
    });
    byId("draft-file").addEventListener("click", () => void this.chooseFile());
    addEventListener("pagehide", () => this.keep());
  }

  async prepare() {
    this.preparing ??= (async () => {
      const [{ Editor }, { yaml }] = await loadModule(() =>
        Promise.all([import("./editor.js"), import("./yaml.js")]),
      );
      this.language = yaml;
      this.editor = new Editor(byId("contract-code"), {
        language: yaml,
        label: "Contract",
        check: (/** @type {string} */ source) => this.check(source),
        onChange: () => this.keepLater(),
      });
    })();
    try {
      await this.preparing;
    } catch (error) {
      this.preparing = null; // what failed is tried again
      throw error;
    }
  }

  // -------------------------------------------------------------------------------------- opening

  /** Opens a contract by its name, or the one that was open, or the first. */
  async open(name = this.name) {
    this.workbench.showSide("contract");
    try {
      await this.prepare(); // what can be chosen is listed once the editor is there
      await this.list();
      await this.load(name ?? this.known[0].name);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(error);
    }
  }

  close() {
    this.keep();
    this.workbench.view.highlights.clear();
    this.workbench.showSide(null);
  }

  async list() {
    ({ contracts: this.known } = await get("contracts"));
    /**
     * @param {string} label
     * @param {string} source
     */
    const group = (label, source) => {
      const some = this.known.filter((/** @type {any} */ one) => one.source === source);
      const options = some.map((/** @type {any} */ { name }) => el("option", { value: name }, name));
      if (source === "user" && this.drafts.get(NEW)) options.push(el("option", { value: NEW }, NEW));
      return options.length ? el("optgroup", { label }, ...options) : "";
    };
    render(byId("contract-pick"), group("Yours", "user"), group("Shipped", "pact"));
    const sources = ["this chart", ...(this.workbench.me.tradingview ?? [])];
    if (this.snapshot) sources.push(this.snapshot.name);
    render(byId("contract-source"),       ...[...sources, FILE].map((value) => el("option", { value }, value)),
    );
    if (this.snapshot) byId("contract-source").value = this.snapshot.name;
  }

  /** @param {string} name */
  isOwn(name) {
    return this.known.some((/** @type {any} */ one) => one.name === name && one.source === "user");
  }

  /**
   * Loads a contract; of several that were chosen only the last counts.
   * @param {string} name
   */
  async load(name, text = null) {
    this.keep();
    const turn = (this.turn = Symbol());
    const saved = name === NEW ? null : (await get("contracts", name)).text;
    if (turn !== this.turn) return;
    Object.assign(this, { name, saved });
    byId("contract-pick").value = name;
    byId("contract-delete").hidden = byId("contract-versions").hidden = !this.isOwn(name);
    const kept = this.drafts.get(name);
    this.editor.load(text ?? kept?.text ?? this.saved ?? "");
    render(byId("contract-result"),       el("p", { class: "quiet" }, "Try it on the chart or on a recorded snapshot: what it reads, and which element each object matched, stands here."),
    );
    this.workbench.view.highlights.clear();
    this.keep();
  }

  /** Keeps what was typed in this browser; what is saved needs no draft. */
  keep() {
    if (!this.editor || !this.name) return;
    const { text } = this.editor;
    if (text === this.saved || !text.trim()) this.drafts.remove(this.name);
    else this.drafts.put(this.name, text, this.saved, null);
  }

  // ------------------------------------------------------------------------------------- checking

  /**
   * Checks a text; of several checks only the last counts, and one that was refused is made again.
   * @param {string} source
   */
  async check(source) {
    this.checking?.abort();
    const checking = (this.checking = new AbortController());
    let outcome;
    try {
      outcome = await ask(["contracts", "check"], { source }, { signal: checking.signal });
    } catch (error) {
      if (isAborted(error)) return {};
      if (!(error instanceof Refusal)) throw error;
      byId("contract-verdict").className = "bad";
      byId("contract-verdict").textContent = error.message;
      setTimeout(() => this.editor.recheck(), 1000 * Math.min(error.retryAfter ?? 20, 60));
      return {};
    }
    const { errors = [], warnings = [] } = outcome;
    this.outcome = outcome;
    this.writeProblems(errors, warnings);
    return { errors, warnings: [] };
  }

  /**
   * @param {Problem[]} errors
   * @param {any[]} warnings
   */
  writeProblems(errors, warnings) {
    const verdict = byId("contract-verdict");
    verdict.className = errors.length ? "bad" : "ok";
    verdict.textContent = errors.length
      ? `${errors.length} ${errors.length === 1 ? "error" : "errors"}`
      : `${this.outcome.contract} ${this.outcome.version}: every proof holds`;
    render(byId("contract-problems"),       ...errors.map((/** @type {Problem} */ problem) =>
        el(
          "li",
          { class: "error" },
          el(
            "button",
            { type: "button", onclick: () => this.editor.goTo(problem) },
            icon("error"),
            el("p", {}, problem.message),
            el("span", { class: "at" }, problem.line ? `line ${problem.line}` : ""),
            el("small", {}, [problem.path, problem.hint].filter(Boolean).join(" · ")),
          ),
        ),
      ),
      ...warnings.map((/** @type {string} */ text) => el("li", { class: "warning" }, el("p", {}, text))),
    );
  }

  // --------------------------------------------------------------------------------------- saving

  async save() {
    const source = this.editor.text;
    const outcome = await this.attempt(async () => {
      const checked = await ask(["contracts", "check"], { source });
      if (!checked.ok) return checked;
      return put(["my", "contracts", checked.contract], { source });
    });
    if (await this.take(outcome)) toast(`Registered ${outcome.contract} ${outcome.version}`);
  }

  /**
   * Shows the contract that is registered now, or why it is not; whether it is.
   * @param {any} outcome
   */
  async take(outcome) {
    if (!outcome) return false;
    if (!outcome.ok) {
      this.outcome = outcome;
      this.writeProblems(outcome.errors, []);
      toast(`Not saved: ${outcome.errors[0].message}`, "bad");
      return false;
    }
    this.drafts.remove(this.name ?? "");
    this.name = null;
    await this.list();
    await this.load(outcome.contract);
    return true;
  }

  async openVersions() {
    const name = this.name ?? "";
    const reply = await this.attempt(() => get("my", "contracts", name, "versions"));
    if (!reply) return;
    const named = reply.versions.map((/** @type {any} */ kept) => ({ ...kept, name: kept.version }));
    await showVersions(named, {
      text: this.editor.text,
      saved: this.saved,
      language: this.language,
      restore: (/** @type {any} */ { number }) => this.restore(number),
    });
  }

  /** @param {number} number */
  async restore(number) {
    const parts = ["my", "contracts", this.name ?? "", "restore"];
    const outcome = await this.attempt(() => post(parts, { version: number }));
    byId("history").close();
    if (await this.take(outcome))
      toast(`${outcome.contract} ${outcome.version} is in force again`);
  }

  remove() {
    const { name } = this;
    if (!name) return;
    confirm({
      title: "Delete the contract?",
      text: `${name} is taken out of use, and follows of it stop. Its text stays here as a new contract.`,
      yes: "Delete",
      no: "Keep it",
      act: async () => {
        await remove("my", "contracts", name);
        this.drafts.put(NEW, this.editor.text, null, null); // a way back
        this.name = null;
        await this.list();
        await this.load(NEW);
        toast(`${name} is deleted; its text is still here`);
      },
    });
  }

  /**
   * What a call gives, or null where it was refused, which is said.
   * @param {() => Promise<any>} call
   */
  async attempt(call) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast([error.message, error.hint].filter(Boolean).join(". "), "bad");
      return null;
    }
  }

  // ------------------------------------------------------------------------------------- snapshots

  chooseFile() {
    this.input.value = "";
    this.input.click();
  }

  /**
   * Takes a recorded snapshot, to try contracts on and to draft from.
   * @param {File} file
   */
  async takeFile(file) {
    let data;
    try {
      data = JSON.parse(await file.text());
    } catch {
      toast(`${file.name} is no JSON, and a snapshot is`, "bad");
      return;
    }
    if (!Array.isArray(data?.studies)) {
      toast(`${file.name} has no studies: it is no snapshot`, "bad");
      return;
    }
    this.snapshot = { name: file.name, data };
    if (byId("contract").hidden) await this.open();
    else await this.list();
    if (byId("draft-dialog").open) this.writeDraftChoices(file.name);
    toast(`${file.name}: ${data.studies.length} studies`);
  }

  /**
   * Where the chosen source is: fields of a request.
   * @param {string} value
   */
  sourceOf(value) {
    const { symbol, timeframe } = this.workbench.state;
    if (value === this.snapshot?.name) return { snapshot: this.snapshot.data };
    if (value === "this chart") return { symbol, timeframe };
    return { symbol: value };
  }

  // ---------------------------------------------------------------------------------------- trying

  async tryOut() {
    const value = byId("contract-source").value;
    if (value === FILE) {
      this.chooseFile();
      return;
    }
    const result = byId("contract-result");
    result.setAttribute("aria-busy", "true");
    try {
      const found = await ask(["contracts", "match"], {
        source: this.editor.text,
        ...this.sourceOf(value),
        ...(value === "this chart" ? { indicators: this.workbench.chart.ask().indicators } : {}),
      });
      this.writeResult(found, value === "this chart");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.say(error);
    } finally {
      result.removeAttribute("aria-busy");
    }
  }

  /** @param {any} error */
  say(error) {
    render(byId("contract-result"),       el("section", { class: "trouble" }, icon("warn"), el("p", {}, error.message), el("p", { class: "quiet" }, error.hint)),
    );
  }

  /**
   * @param {any} given
   * @param {boolean} isOwnChart
   */
  writeResult({ reading, objects, left_out: leftOut }, isOwnChart) {
    const { zone } = this.workbench.state;
    const { state, kind } = summariseReading(reading, reading.tracks ?? [], zone);
    const { violations = [] } = reading;
    this.table.write(objects, zone, leftOut);
    const read = objects.filter((/** @type {Matched} */ { used, violations: wrong }) => used || wrong.length);
    this.workbench.view.highlights.show(read, reading.contract, isOwnChart);
    /** @param {DrawnRecord} record */
    const choose = (record) => this.chooseObject(this.table.find(record));
    render(byId("contract-result"),       el("section", { class: `headline ${kind}` }, el("p", { class: "st" }, state)),
      violations.length
        ? el("section", {}, el("ul", { class: "violations" }, ...violations.map((/** @type {any} */ one) => writeViolation(one, zone, choose))))
        : el("section", {}, el("h3", {}, "Typed state"), writeState(reading.state, zone)),
      el("section", {}, el("h3", {}, "What each object matched"), this.table.host),
    );
  }

  /** @param {any} one */
  chooseObject(one) {
    if (one) this.workbench.view.highlights.choose(one);
  }

  // -------------------------------------------------------------------------------------- drafting

  openDraft() {
    this.writeDraftChoices(this.snapshot?.name ?? "this chart");
    byId("draft-problem").hidden = true;
    byId("draft-dialog").showModal();
  }

  /** @param {string} chosen */
  writeDraftChoices(chosen) {
    const sources = ["this chart", ...(this.workbench.me.tradingview ?? [])];
    if (this.snapshot) sources.push(this.snapshot.name);
    const pick = byId("draft-source");
    render(pick,       ...sources.map((value) => el("option", { value, selected: value === chosen }, value)),
    );
    pick.onchange = () => this.writeStudies();
    this.writeStudies();
  }

  /** The studies of the chosen source; those of a TradingView chart are typed. */
  writeStudies() {
    const value = byId("draft-source").value;
    const names =
      value === "this chart"
        ? this.workbench.state.indicators.map((/** @type {any} */ { name }) => name)
        : value === this.snapshot?.name
          ? this.snapshot.data.studies.map((/** @type {any} */ study) => String(study.name))
          : [];
    render(byId("draft-studies"), ...names.map((/** @type {string} */ name) => el("option", { value: name })));
    byId("draft-study").value = names[0] ?? "";
  }

  async draft() {
    const source = this.sourceOf(byId("draft-source").value);
    delete source.timeframe;
    const problem = byId("draft-problem");
    problem.hidden = true;
    try {
      const { text } = await ask(["contracts", "draft"], {
        study: byId("draft-study").value,
        ...source,
      });
      byId("draft-dialog").close();
      this.drafts.put(NEW, text, null, null);
      await this.list();
      await this.load(NEW, text);
      toast("A starting contract; write meanings where it says TODO");
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problem.hidden = false;
      problem.textContent = [error.message, error.hint].filter(Boolean).join(". ");
    }
  }
}
