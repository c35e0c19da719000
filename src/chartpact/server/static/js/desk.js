// @ts-nocheck
// The desk: a script, what the checker says of it, its versions, and what it cost to run.
import { get, patch, post, put, Refusal, remove } from "./api.js";
import { byId, debounce, el, icon, iconButton, toast } from "./dom.js";
import { Drafts } from "./drafts.js";
import { SCRIPT_NAME, STEPS } from "./facts.js";
import { showVersions } from "./versions.js";

const NAME = new RegExp(`^(?:${SCRIPT_NAME})$`);
const DRAW_MS = 250; // from a good verdict to the drawing
const TEMPLATE = `PARAMS = [
    {"name": "n", "type": "int", "default": 20, "min": 1, "desc": "Bars"},
]
META = {"title": "My average", "overlay": True}


def compute(ohlcv, params, chart):
    average = ta.ema(ohlcv.close, params["n"])
    chart.line(average, title="Average", color="orange", width=2)

    # A labelled dot is a signal.
    up = ta.crossover(ohlcv.close, average)
    chart.dot(up, ohlcv.low, color="#00c853", size=6, label="cross_up")
`;

export class Desk {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.workbench = workbench;
    this.drafts = new Drafts(workbench.me.user);
    this.name = null;
    this.saved = null; // the source that the server has; null: none
    this.own = new Map();
    this.keepLater = debounce(() => this.keep(), 300);
    this.drawLater = debounce(() => this.draw(), DRAW_MS);
    addEventListener("pagehide", () => this.keep());
    document.addEventListener("visibilitychange", () => document.hidden && this.keep());
    byId("script-menu").addEventListener("click", () => this.openMenu());
    byId("versions").addEventListener("click", () => this.openVersions());
    byId("prove").addEventListener("click", () => this.prove());
    byId("run").addEventListener("click", () => this.save());
    byId("reference-toggle").addEventListener("click", () => this.toggleReference());
    byId("close-desk").addEventListener("click", () => this.close());
    byId("reference-find").addEventListener("input", () => this.writeReference());
  }

  /** Loads the editor, which is large, when it is needed for the first time. */
  async prepare() {
    this.preparing ??= (async () => {
      const [{ Editor, proposal }, { entries }] = await Promise.all([
        import("./editor.js"),
        get("reference"),
      ]);
      this.proposal = proposal;
      this.reference = entries;
      this.editor = new Editor(byId("code"), {
        reference: entries,
        check: (/** @type {string} */ source) => this.check(source),
        onChange: () => this.changed(),
      });
    })();
    await this.preparing;
  }

  get isDirty() {
    return this.editor !== undefined && this.editor.text !== this.saved;
  }

  // -------------------------------------------------------------------------------------- opening

  async listOwn() {
    const { indicators } = await get("my", "indicators");
    this.own = new Map(indicators.map((/** @type {any} */ script) => [script.name, script]));
    return indicators;
  }

  /**
   * Opens a script: the draft of it in this browser where there is one, else what is saved.
   * @param {string} name
   */
  async open(name, source = null) {
    await this.prepare();
    this.keep();
    await this.listOwn();
    this.saved = this.own.has(name) ? (await get("my", "indicators", name)).source : null;
    const draft = this.drafts.get(name);
    this.name = name;
    this.show();
    const text = source ?? draft?.text ?? this.saved ?? TEMPLATE;
    this.lastGood = source ?? draft?.good ?? this.saved;
    this.editor.load(text);
    this.isChangedElsewhere = Boolean(draft && draft.base !== this.saved && draft.text === text);
    if (source !== null) this.keep();
    this.write();
    if (this.isChangedElsewhere)
      toast("This is your unsaved text; the saved script has changed since you began it.");
    else if (draft && draft.text === text && text !== this.saved)
      toast("Your unsaved text is back.");
    this.workbench.rememberOpen(name);
  }

  /**
   * Whether a script is saved, or typed in this browser.
   * @param {string} name
   */
  async has(name) {
    await this.listOwn();
    return this.own.has(name) || this.drafts.get(name) !== null;
  }

  /** @param {string} wish */
  newName(wish) {
    let name = wish;
    /** @param {Matched} one */
    const taken = (one) => this.own.has(one) || this.drafts.names().includes(one);
    for (let number = 2; taken(name); number++) name = `${wish}_${number}`;
    return name;
  }

  async create() {
    await this.prepare();
    await this.listOwn();
    const name = this.newName("my_script");
    this.workbench.drafts.set(name, TEMPLATE); // so that the chart knows it at once
    await this.open(name, TEMPLATE);
    if (!this.isOnChart()) await this.workbench.add(name);
    this.editor.focus();
  }

  /**
   * A copy of a shipped indicator under a name of one's own, in its place on the chart.
   * @param {string} builtin
   */
  async fork(builtin) {
    const { source } = await get("forks", builtin);
    await this.prepare();
    await this.listOwn();
    const name = this.newName(`my_${builtin}`);
    this.workbench.drafts.set(name, source);
    await this.open(name, source);
    void this.workbench.replace(builtin, name);
    toast(`Your copy is ${name}. Change a number, and see it on the chart.`);
  }

  show() {
    this.workbench.showSide("desk");
  }

  close() {
    this.keep();
    this.workbench.showSide(null);
    this.workbench.rememberOpen(null);
  }

  // -------------------------------------------------------------------------------------- editing

  changed() {
    this.write();
    byId("verdict").textContent = "Checking…";
    byId("verdict").className = "quiet";
    this.keepLater();
  }

  /** Keeps what was typed in this browser; what is saved needs no draft. */
  keep() {
    if (!this.editor || !this.name) return;
    const { text } = this.editor;
    if (text === this.saved) this.drafts.remove(this.name);
    else if (!this.drafts.put(this.name, text, this.saved, this.lastGood))
      toast("This browser has no room for unsaved text: save soon.", "bad");
  }

  /** @param {string} source */
  async check(source) {
    this.checking?.abort();
    const checking = (this.checking = new AbortController());
    try {
      const verdict = await post(["check"], { source }, { signal: checking.signal });
      this.verdict(verdict, source);
      return verdict;
    } catch (error) {
      if (error.name === "AbortError") return {};
      if (!(error instanceof Refusal)) throw error;
      this.couldNotCheck(error);
      return {};
    }
  }

  /**
   * @param {any} verdict
   * @param {string} source
   */
  verdict(verdict, source) {
    const errors = verdict.errors ?? [];
    if (source !== this.editor.text) return;
    const place = byId("verdict");
    place.className = errors.length ? "bad" : "ok";
    if (errors.length) {
      const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
      place.textContent = this.lastGood ? `${count} · the chart shows what last ran` : count;
    } else place.textContent = "No problems";
    this.writeProblems(errors, verdict.warnings);
    byId("steps").textContent = errors.length
      ? ""
      : `${verdict.steps_at_5000.toLocaleString("en")} steps at 5,000 bars`;
    byId("budget").value = errors.length ? 0 : verdict.steps_at_5000;
    byId("budget").max = STEPS;
    byId("ms").textContent = `${verdict.ms} ms`;
    if (errors.length) return;
    this.params = verdict.params;
    this.lastGood = source;
    this.drawLater();
  }

  /**
   * Shows what the run of the open script took, once it is on the chart.
   * @param {ChartData} data
   */
  writeRun(data) {
    const drawn = data.indicators.find((/** @type {any} */ { name }) => name === this.name);
    if (drawn?.steps === undefined) return;
    byId("steps").textContent =
      `${drawn.steps.toLocaleString("en")} steps on ${data.count.toLocaleString("en")} bars`;
    byId("budget").value = drawn.steps;
    byId("budget").max = STEPS;
    byId("ms").textContent = `${drawn.cpu_ms} ms`;
  }

  /** @param {any} error */
  couldNotCheck(error) {
    byId("verdict").className = "bad";
    byId("verdict").textContent = error.message;
    const again = () => this.editor.recheck();
    setTimeout(again, 1000 * Math.min(error.retryAfter ?? 3, 30));
  }

  /**
   * @param {Problem[]} errors
   * @param {Problem[]} warnings
   */
  writeProblems(errors, warnings) {
    /**
     * @param {string} kind
     * @param {Problem} problem
     */
    const item = (kind, problem) => {
      const fix = this.proposal(problem);
      const at = problem.line ? `${problem.line}:${problem.column ?? 1}` : "";
      const go = el(
        "button",
        { type: "button", onclick: () => this.editor.goTo(problem) },
        icon(kind === "error" ? "error" : "warn"),
        el("p", {}, el("span", { class: "hush" }, `${kind}: `), problem.message),
        el("span", { class: "at" }, at),
        problem.hint ? el("small", {}, problem.hint) : null,
      );
      const use = fix
        ? el(
            "button",
            { type: "button", class: "fix", onclick: () => this.editor.fix(problem, fix) },
            `Use ${fix}`,
          )
        : null;
      return el("li", { class: kind }, go, use);
    };
    byId("problems").replaceChildren(
      ...errors.map((/** @type {Problem} */ problem) => item("error", problem)),
      ...warnings.map((/** @type {Problem} */ problem) => item("warning", problem)),
    );
  }

  isOnChart() {
    return this.workbench.state.indicators.some((/** @type {Asked} */ asked) => asked.name === this.name);
  }

  /** Draws the text as it is, without saving it. */
  async draw() {
    const { workbench, name, lastGood } = this;
    if (!lastGood) return;
    this.keep();
    if (lastGood === this.saved) workbench.drafts.delete(name);
    else workbench.drafts.set(name, lastGood);
    if (this.isOnChart()) await workbench.load();
  }

  // --------------------------------------------------------------------------------------- saving

  async save() {
    if (!this.editor) return;
    const { name } = this;
    const source = this.editor.text;
    this.keep();
    const run = byId("run");
    run.disabled = true;
    try {
      const isKept = this.own.has(name);
      const outcome = await (isKept ? patch : put)(["my", "indicators", name], { source });
      if (!outcome.ok) {
        this.writeProblems(outcome.errors, []);
        toast(`Not saved: ${outcome.errors[0].message}`, "bad");
        return;
      }
      this.saved = source;
      this.lastGood = source;
      this.workbench.drafts.delete(name);
      this.keep();
      await Promise.all([this.listOwn(), this.workbench.loadIndicators()]);
      if (this.isOnChart()) await this.workbench.load();
      else await this.workbench.add(name);
      this.write();
      toast(`Saved ${name}`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(`Not saved: ${error.message}. ${error.hint}`, "bad");
    } finally {
      run.disabled = false;
    }
  }

  async prove() {
    const button = byId("prove");
    button.disabled = true;
    const { symbol, timeframe } = this.workbench.state;
    const place = byId("proof");
    place.hidden = false;
    place.className = "proof";
    place.replaceChildren("Running it on prefixes of the bars…");
    try {
      const proof = await post(["prove"], { symbol, timeframe, source: this.editor.text });
      place.classList.add(proof.ok ? "ok" : "bad");
      const hide = iconButton("x", "Close", () => (place.hidden = true));
      place.replaceChildren(icon(proof.ok ? "state" : "warn"), el("p", {}, proof.sentence), hide);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      place.classList.add("bad");
      place.replaceChildren(icon("warn"), el("p", {}, error.message));
    } finally {
      button.disabled = false;
    }
  }

  write() {
    byId("script-name").textContent = this.name ?? "";
    byId("dirty").hidden = !this.isDirty;
    byId("versions").hidden = !this.own.has(this.name);
  }

  // ----------------------------------------------------------------------------------------- menu

  async openMenu() {
    await this.listOwn();
    const names = [...new Set([...this.own.keys(), ...this.drafts.names()])].sort();
    const dialog = byId("scripts");
    const rows = names.map((name) => {
      const isDraft = this.drafts.get(name) !== null;
      const choose = () => {
        dialog.close();
        void this.open(name);
      };
      return el(
        "li",
        {},
        el(
          "button",
          { type: "button", onclick: choose, "aria-current": name === this.name && "true" },
          el("b", {}, name),
          el("small", {}, isDraft ? "unsaved changes" : (this.own.get(name)?.title ?? "")),
        ),
        iconButton("trash", `Delete ${name}`, () => this.askToDelete(name)),
      );
    });
    if (!rows.length) rows.push(el("li", { class: "quiet empty" }, "No script yet."));
    byId("script-list").replaceChildren(...rows);
    byId("new-script").onclick = () => {
      dialog.close();
      void this.create();
    };
    const rename = byId("rename");
    rename.hidden = !this.name;
    byId("new-name").value = this.name ?? "";
    rename.onsubmit = (event) => {
      event.preventDefault();
      void this.rename(byId("new-name").value.trim());
    };
    if (!dialog.open) dialog.showModal();
  }

  /**
   * The script under another name: saved there, then taken out of use under the old one.
   * @param {string} to
   */
  async rename(to) {
    const from = this.name;
    if (to === from) return;
    if (!NAME.test(to) || this.own.has(to)) {
      toast(this.own.has(to) ? `${to} is taken` : "A name has small letters, digits and _, and begins with a letter", "bad");
      return;
    }
    const source = this.editor.text;
    if (this.own.has(from)) {
      const outcome = await put(["my", "indicators", to], { source: this.saved });
      if (!outcome.ok) {
        toast(outcome.errors[0].message, "bad");
        return;
      }
      await remove("my", "indicators", from);
    }
    this.drafts.remove(from);
    this.workbench.drafts.delete(from);
    byId("scripts").close();
    for (const asked of this.workbench.state.indicators) if (asked.name === from) asked.name = to;
    this.name = to;
    this.keep();
    if (source !== this.saved || !this.own.has(from)) this.workbench.drafts.set(to, source);
    await this.listOwn();
    await Promise.all([this.workbench.loadIndicators(), this.workbench.load()]);
    this.write();
    toast(`${from} is ${to} now`);
  }

  /** @param {string} name */
  askToDelete(name) {
    const dialog = byId("confirm");
    byId("confirm-text").textContent =
      `${name} is taken off the chart and out of your library. Its versions stay: a script saved under this name has them.`;
    byId("confirm-yes").onclick = async () => {
      dialog.close();
      if (this.own.has(name)) await remove("my", "indicators", name);
      this.drafts.remove(name);
      this.workbench.drafts.delete(name);
      const { state } = this.workbench;
      state.indicators = state.indicators.filter((/** @type {Asked} */ asked) => asked.name !== name);
      if (name === this.name) {
        this.name = null;
        this.close();
      }
      await this.listOwn();
      await Promise.all([this.workbench.loadIndicators(), this.workbench.load()]);
      byId("scripts").close();
      toast(`Deleted ${name}`);
    };
    dialog.showModal();
  }

  // ------------------------------------------------------------------------------------- versions

  async openVersions() {
    const { versions } = await get("my", "indicators", this.name, "versions");
    const named = versions.map((/** @type {any} */ kept) => ({ ...kept, number: kept.version, name: `v${kept.version}` }));
    await showVersions(named, {
      text: this.editor.text,
      saved: this.saved,
      restore: (/** @type {any} */ version) => this.restore(version),
    });
  }

  /** @param {any} version */
  async restore(version) {
    const outcome = await post(["my", "indicators", this.name, "restore"], {
      version: version.number,
    });
    if (!outcome.ok) {
      toast(outcome.errors[0].message, "bad");
      return;
    }
    byId("history").close();
    this.saved = version.source;
    this.editor.load(version.source);
    this.workbench.drafts.delete(this.name);
    this.keep();
    this.write();
    await this.workbench.load();
    toast(`Version ${version.number} is in force again`);
  }

  // ------------------------------------------------------------------------------------ reference

  toggleReference() {
    const drawer = byId("reference");
    drawer.hidden = !drawer.hidden;
    byId("reference-toggle").setAttribute("aria-expanded", String(!drawer.hidden));
    if (drawer.hidden) return;
    this.writeReference();
    byId("reference-find").focus();
  }

  writeReference() {
    const words = byId("reference-find").value.toLowerCase().split(/\s+/).filter(Boolean);
    /** @param {ReferenceEntry} referenceEntry */
    const fits = ({ name, doc }) =>
      words.every((/** @type {string} */ word) => `${name} ${doc}`.toLowerCase().includes(word));
    /** @param {any} given */
    const rank = ({ name }) => (name.split(".")[1].startsWith(words[0] ?? "") ? 0 : 1);
    const found = (this.reference ?? []).filter(fits).sort((/** @type {any} */ a, /** @type {any} */ b) => rank(a) - rank(b));
    byId("reference-list").replaceChildren(
      ...found
        .slice(0, 60)
        .map((/** @type {ReferenceEntry} */ { signature, doc, example }) =>
          el(
            "li",
            {},
            el("code", {}, signature),
            el("p", {}, doc.split("\n\n")[0].replaceAll("`", "")),
            example ? el("pre", {}, example) : null,
          ),
        ),
    );
  }
}
