// The desk: a script, what the checker says of it, its versions, and what it cost to run.
import { ask, get, isAborted, loadModule, patch, post, put, Refusal, remove } from "./api.js";
import { confirm } from "./confirm.js";
import { byId, debounce, el, icon, iconButton, render, toast } from "./dom.js";
import { Drafts } from "./drafts.js";
import { SCRIPT_NAME, STEPS } from "./facts.js";
import { looksLikePine, pineNotice } from "./pine.js";
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
    /** @type {string | null} */
    this.name = null;
    /** @type {string | null} */
    this.saved = null; // the source that the server has; null: none
    /** @type {string | null} */
    this.lastGood = null;
    this.isChangedElsewhere = false;
    /** @type {Map<string, any>} */
    this.own = new Map();
    /** @type {Param[] | null} */
    this.params = null;
    /** @type {ReferenceEntry[]} */
    this.reference = [];
    /** @type {Promise<void> | null} */
    this.preparing = null;
    /** @type {import("./editor.js").Editor} */
    this.editor = /** @type {any} */ (undefined); // until prepare()
    /** @type {(problem: Problem) => string | undefined} */
    this.proposal = () => undefined;
    /** @type {AbortController | null} */
    this.checking = null;
    this.keepLater = debounce(() => this.keep(), 300);
    this.drawLater = debounce(() => void this.draw(), DRAW_MS);
    addEventListener("pagehide", () => this.keep());
    document.addEventListener("visibilitychange", () => document.hidden && this.keep());
    byId("script-menu").addEventListener("click", () => void this.openMenu());
    byId("versions").addEventListener("click", () => void this.openVersions());
    byId("prove").addEventListener("click", () => void this.prove());
    byId("run").addEventListener("click", () => void this.save());
    workbench.on("data", (data) => this.writeRun(data));
    byId("reference-toggle").addEventListener("click", () => this.toggleReference());
    byId("close-desk").addEventListener("click", () => this.close());
    byId("reference-find").addEventListener("input", () => this.writeReference());
  }

  /** Loads the editor, which is large, when it is needed for the first time. */
  async prepare() {
    this.preparing ??= (async () => {
      const [{ Editor, proposal }, { entries }] = await Promise.all([
        loadModule(() => import("./editor.js")),
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
    try {
      await this.preparing;
    } catch (error) {
      this.preparing = null; // what failed is tried again
      throw error;
    }
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
   * @param {string | null} source
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
    /** @param {string} one */
    const taken = (one) => this.own.has(one) || this.drafts.names().includes(one);
    for (let number = 2; taken(name); number++) name = `${wish}_${number}`;
    return name;
  }

  async create() {
    await this.prepare();
    await this.listOwn();
    const name = this.newName("my_script");
    this.workbench.chart.setDraft(name, TEMPLATE); // so that the chart knows it at once
    await this.open(name, TEMPLATE);
    this.editor.focus();
    if (!this.isOnChart()) await this.workbench.chart.add(name);
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
    this.workbench.chart.setDraft(name, source);
    await this.open(name, source);
    await this.workbench.chart.replace(builtin, name);
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
      const verdict = await ask(["check"], { source }, { signal: checking.signal });
      this.verdict(verdict, source);
      return verdict;
    } catch (error) {
      if (isAborted(error)) return {};
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
    } else place.textContent = verdict.warnings?.length
        ? `${verdict.warnings.length} ${verdict.warnings.length === 1 ? "warning" : "warnings"}`
        : "No problems";
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

  /** @param {Refusal} error */
  couldNotCheck(error) {
    byId("verdict").className = "bad";
    byId("verdict").textContent = error.message;
    setTimeout(() => this.editor.recheck(), 1000 * Math.min(error.retryAfter ?? 20, 60));
  }

  /**
   * @param {Problem[]} errors
   * @param {Problem[]} warnings
   */
  writeProblems(errors, warnings) {
    const pine = errors.length > 0 && looksLikePine(this.editor.text);
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
    render(
      byId("problems"),
      pine && pineNotice(),
      ...errors.map((/** @type {Problem} */ problem) => item("error", problem)),
      ...warnings.map((/** @type {Problem} */ problem) => item("warning", problem)),
    );
  }

  /**
   * The parameters of the open script as it is typed; null where the list has them.
   * @param {string} name
   */
  paramsOf(name) {
    return this.name === name && this.workbench.chart.drafts.has(name) ? this.params : null;
  }

  isOnChart() {
    return this.workbench.chart.has(this.name ?? "");
  }

  /** Draws the text as it is, without saving it. */
  async draw() {
    const { workbench, name, lastGood } = this;
    if (!lastGood) return;
    this.keep();
    if (!name) return;
    workbench.chart.setDraft(name, lastGood === this.saved ? null : lastGood);
    if (this.isOnChart()) await workbench.chart.load();
  }

  // --------------------------------------------------------------------------------------- saving

  /**
   * Somebody, or another tab, has saved the script since it was opened here.
   * @param {string} name
   */
  askToReplace(name) {
    confirm({
      title: "It was saved elsewhere",
      text: `${name} was saved since you opened it here, by another tab or another device. Your text is kept in this browser. Both stay among the versions.`,
      yes: "Save mine",
      no: "Not now",
      act: () => this.save(true),
    });
  }

  async save(isOver = false) {
    if (!this.editor) return;
    const { name } = this;
    if (!name) return;
    const source = this.editor.text;
    this.keep();
    const run = byId("run");
    run.disabled = true;
    try {
      await this.listOwn();
      const isKept = this.own.has(name);
      if (!isOver && isKept && (await get("my", "indicators", name)).source !== this.saved) {
        this.askToReplace(name);
        return;
      }
      const outcome = await (isKept ? patch : put)(["my", "indicators", name], { source });
      if (!outcome.ok) {
        this.writeProblems(outcome.errors, []);
        toast(`Not saved: ${outcome.errors[0].message}`, "bad");
        return;
      }
      this.saved = source;
      this.lastGood = source;
      this.workbench.chart.setDraft(name, null);
      this.keep();
      await Promise.all([this.listOwn(), this.workbench.loadIndicators()]);
      if (this.isOnChart()) await this.workbench.chart.load();
      else await this.workbench.chart.add(name);
      this.write();
      toast(`Saved ${name}`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const hint = error.kind === "limit" || /at most/.test(error.message) ? "a script has at most 64 KB" : error.hint;
      toast(`Not saved: ${error.message}. ${hint}`, "bad");
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
    render(place, "Running it on prefixes of the bars…");
    try {
      const proof = await ask(["prove"], { symbol, timeframe, source: this.editor.text });
      place.classList.add(proof.ok ? "ok" : "bad");
      const hide = iconButton("x", "Close", () => (place.hidden = true));
      render(place, icon(proof.ok ? "state" : "warn"), el("p", {}, proof.sentence), hide);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      place.classList.add("bad");
      render(place, icon("warn"), el("p", {}, error.message));
    } finally {
      button.disabled = false;
    }
  }

  write() {
    byId("script-name").textContent = this.name ?? "";
    byId("dirty").hidden = !this.isDirty;
    byId("versions").hidden = !this.own.has(this.name ?? "");
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
    render(byId("script-list"), ...rows);
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
    if (to === from || !from) return;
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
    this.workbench.chart.setDraft(from, null);
    byId("scripts").close();
    this.name = to;
    this.keep();
    if (source !== this.saved || !this.own.has(from)) this.workbench.chart.setDraft(to, source);
    await this.listOwn();
    await this.workbench.loadIndicators();
    const { indicators } = this.workbench.state;
    const renamed = indicators.map((asked) => (asked.name === from ? { ...asked, name: to } : asked));
    await this.workbench.chart.change({ indicators: renamed }, false);
    this.write();
    toast(`${from} is ${to} now`);
  }

  /** @param {string} name */
  askToDelete(name) {
    const act = async () => {
      if (this.own.has(name)) await remove("my", "indicators", name);
      this.drafts.remove(name);
      this.workbench.chart.setDraft(name, null);
      if (name === this.name) {
        this.name = null;
        this.close();
      }
      const indicators = this.workbench.state.indicators.filter((asked) => asked.name !== name);
      await Promise.all([
        this.listOwn(),
        this.workbench.loadIndicators(),
        this.workbench.chart.change({ indicators }, false),
      ]);
      byId("scripts").close();
      toast(`Deleted ${name}`);
    };
    confirm({
      title: "Delete the script?",
      text: `${name} is taken off the chart and out of your library. Its versions stay: a script saved under this name has them.`,
      yes: "Delete",
      no: "Keep it",
      act,
    });
  }

  // ------------------------------------------------------------------------------------- versions

  async openVersions() {
    const { versions } = await get("my", "indicators", this.name ?? "", "versions");
    const named = versions.map((/** @type {any} */ kept) => ({ ...kept, number: kept.version, name: `v${kept.version}` }));
    await showVersions(named, {
      text: this.editor.text,
      saved: this.saved,
      restore: (/** @type {any} */ version) => this.restore(version),
    });
  }

  /** @param {any} version */
  async restore(version) {
    const outcome = await post(["my", "indicators", this.name ?? "", "restore"], {
      version: version.number,
    });
    if (!outcome.ok) {
      toast(outcome.errors[0].message, "bad");
      return;
    }
    byId("history").close();
    this.saved = version.source;
    this.editor.load(version.source);
    this.workbench.chart.setDraft(this.name ?? "", null);
    this.keep();
    this.write();
    await this.workbench.chart.load();
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
    render(byId("reference-list"),       ...found
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
