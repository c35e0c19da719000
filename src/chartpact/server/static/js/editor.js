// The script editor: CodeMirror in a shadow root, where its styles are constructed sheets. In the
// page itself they would need a nonce, or 'unsafe-inline'.
import { cm } from "./codemirror.js";
import { el } from "./dom.js";

const { EditorState, EditorView, tags } = cm;
/** Lets the linter run again on a text that has not changed. */
const again = cm.StateEffect.define();
const CHECK_MS = 350; // after the last key
const KEYWORDS =
  "def return for in if elif else lambda and or not pass break continue True False None PARAMS META";

const colors = cm.HighlightStyle.define([
  {
    tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.operatorKeyword],
    color: "var(--c-key)",
  },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--c-str)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--c-num)" },
  { tag: tags.comment, color: "var(--c-com)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: "var(--c-fun)",
  },
  { tag: tags.definition(tags.variableName), color: "var(--ink)" },
  { tag: tags.propertyName, color: "var(--c-prop)" },
]);

const MONO = '"Chartpact Mono", ui-monospace, monospace';
/** @param {string} color */
const wavy = (color) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy var(${color}) 1px`,
  textUnderlineOffset: "3px",
});
const look = EditorView.theme({
  "&": { flex: "1", minWidth: "0", height: "100%", fontSize: "12px", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: MONO,
    lineHeight: "1.55",
    overflow: "auto",
    scrollbarWidth: "thin",
    scrollbarColor: "var(--edge) transparent",
  },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px 0 6px" },
  ".cm-gutters": {
    backgroundColor: "var(--panel)",
    color: "var(--quiet)",
    border: "0",
    paddingLeft: "4px",
  },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 6px 0 4px", minWidth: "26px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--c-line)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground":
    { backgroundColor: "var(--accent-wash)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutter-lint": { width: "14px" },
  ".cm-lint-marker": {
    width: "9px",
    height: "9px",
    marginTop: "5px",
    content: "none",
    borderRadius: "50%",
  },
  ".cm-lint-marker-error": { backgroundColor: "var(--down)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--warn)" },
  ".cm-lintRange-error": wavy("--down"),
  ".cm-lintRange-warning": wavy("--warn"),
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--edge)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: MONO,
    fontSize: "12px",
    maxHeight: "210px",
    padding: "4px",
  },
  ".cm-tooltip-autocomplete ul li": { padding: "3px 8px", borderRadius: "5px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--accent-ink)",
  },
  ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal", marginLeft: "10px" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionInfo": { padding: "10px 12px", maxWidth: "330px" },
  ".doc": {
    padding: "10px 12px",
    maxWidth: "380px",
    fontFamily: '"Chartpact Sans", sans-serif',
    fontSize: "12.5px",
    lineHeight: "1.45",
  },
  ".doc code": {
    display: "block",
    marginBottom: "5px",
    whiteSpace: "pre-wrap",
    fontFamily: MONO,
    fontSize: "12px",
    color: "var(--ink)",
  },
  ".cm-diagnostic": { padding: "8px 12px", borderLeft: "0" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--accent-wash)",
    outline: "none",
  },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", border: "0" },
  ".cm-panels input, .cm-panels button": {
    background: "var(--panel)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "5px",
  },
  ".cm-changedLine": { backgroundColor: "var(--accent-wash) !important" },
  ".cm-changedText": { background: "var(--accent-wash) !important" },
  ".cm-collapsedLines": { background: "var(--raised)", color: "var(--quiet)" },
  // The signs around their number are in none of our fonts.
  ".cm-collapsedLines::before, .cm-collapsedLines::after": { content: "none" },
});

/**
 * A shadow root with the styles that CodeMirror's own do not give.
 * @param {HTMLElement} host
 */
function rootOf(host) {
  if (host.shadowRoot) {
    host.shadowRoot.replaceChildren();
    return host.shadowRoot;
  }
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    ":host { display: flex; flex: 1; min-width: 0; min-height: 0; } .cm-editor, .cm-mergeView { flex: 1; min-width: 0; } .cm-mergeView { overflow: auto; height: 100%; }",
  );
  root.adoptedStyleSheets = [sheet];
  return root;
}

const language = () => [
  new cm.LanguageSupport(cm.pythonLanguage),
  cm.syntaxHighlighting(colors),
  look,
];

/**
 * What helps to write a script: its language, completion and hover help.
 * @param {ReferenceEntry[]} reference
 */
const scripting = (reference) => [
  ...language(),
  cm.autocompletion({ override: [completion(reference)] }),
  hover(reference),
];

/** @param {ReferenceEntry} referenceEntry */
function explain({ signature, doc }) {
  const text = doc.split("\n\n")[0].replaceAll("`", "");
  return el("div", { class: "doc" }, el("code", {}, signature), text);
}

/**
 * Completion of the names of the language, and of the script's own parameters.
 * @param {ReferenceEntry[]} reference
 */
function completion(reference) {
  const spaces = new Map();
  for (const entry of reference) {
    const [space, name] = entry.name.split(".");
    if (!spaces.has(space)) spaces.set(space, []);
    const isCalled = entry.signature.includes("(");
    spaces.get(space).push({
      label: name,
      type: isCalled ? "function" : "property",
      detail: entry.signature.slice(entry.name.length, entry.name.length + 34),
      info: () => explain(entry),
      apply: isCalled ? `${name}(` : name,
    });
  }
  const words = [
    ...[...spaces.keys(), "params"].map((label) => ({ label, type: "namespace" })),
    ...KEYWORDS.split(" ").map((label) => ({ label, type: "keyword" })),
  ];
  const validFor = /^\w*$/;
  return (/** @type {any} */ context) => {
    const member = context.matchBefore(/\b\w+\.\w*$/);
    if (member) {
      const space = member.text.split(".")[0];
      const options = spaces.get(space);
      return options ? { from: member.from + space.length + 1, options, validFor } : null;
    }
    const param = context.matchBefore(/params\["\w*$/);
    if (param) {
      const names = context.state.doc.toString().matchAll(/"name":\s*"(\w+)"/g);
      const options = [...names].map(([, label]) => ({ label, type: "property" }));
      return { from: param.from + 8, options, validFor };
    }
    const word = context.matchBefore(/\w+$/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: words, validFor };
  };
}

/** @param {ReferenceEntry[]} reference */
function hover(reference) {
  const byName = new Map(reference.map((/** @type {ReferenceEntry} */ entry) => [entry.name, entry]));
  return cm.hoverTooltip(
    (view, pos) => {
      const { from, text } = view.state.doc.lineAt(pos);
      let start = pos - from;
      let end = start;
      while (start > 0 && /[\w.]/.test(text[start - 1])) start--;
      while (end < text.length && /\w/.test(text[end])) end++;
      const entry = byName.get(text.slice(start, end));
      if (!entry) return null;
      const dom = explain(entry);
      return { pos: from + start, end: from + end, above: true, create: () => ({ dom }) };
    },
    { hoverTime: 250 },
  );
}

/**
 * Where a problem stands. The server counts characters, CodeMirror UTF-16 units.
 * @param {any} doc
 * @param {Problem} problem
 */
function placeOf(doc, { line, column }) {
  if (!line) return [0, 0];
  const { from, to, text } = doc.line(Math.min(line, doc.lines));
  const units = [...text].slice(0, (column ?? 1) - 1).join("").length;
  const start = Math.min(from + units, to);
  const word = /^[\w.]+/.exec(text.slice(start - from))?.[0].length ?? 1;
  return [start, Math.min(start + word, to)];
}

/**
 * The name that a hint proposes, if it proposes one.
 * @param {Problem} problem
 */
export const proposal = (problem) => /^did you mean '?([\w.]+)'?\?/.exec(problem.hint ?? "")?.[1];

export class Editor {
  /**
   * `check` gives the problems of a text; `onChange` hears every change of it. A text that is no
   * script brings extensions of its own as `language`.
   * @param {HTMLElement} host
   * @param {{ reference?: ReferenceEntry[], check: (text: string) => Promise<{errors?: Problem[], warnings?: Problem[]}>, onChange: (text: string) => void, language?: any, label?: string }} given
   */
  constructor(host, { reference, check, onChange, language = null, label = "Script" }) {
    this.root = rootOf(host);
    const lint = cm.linter(
      async (view) => {
        const { errors = [], warnings = [] } = await check(view.state.doc.toString());
        /** @param {"error" | "warning"} severity */
        const diagnose = (severity) => (/** @type {Problem} */ problem) => this.diagnose(problem, severity);
        return [...errors.map(diagnose("error")), ...warnings.map(diagnose("warning"))];
      },
      {
        delay: CHECK_MS,
        needsRefresh: ({ transactions }) =>
          transactions.some(({ effects }) => effects.some((effect) => effect.is(again))),
      },
    );
    const listener = EditorView.updateListener.of((update) => {
      if (update.docChanged && !this.isLoading) onChange(update.state.doc.toString());
    });
    this.extensions = [
      cm.lineNumbers(),
      EditorView.lineWrapping,
      cm.lintGutter(),
      cm.highlightActiveLine(),
      cm.highlightActiveLineGutter(),
      cm.history(),
      cm.drawSelection(),
      cm.indentOnInput(),
      cm.bracketMatching(),
      cm.closeBrackets(),
      cm.highlightSelectionMatches(),
      cm.indentUnit.of("    "),
      ...(language ? [language, look] : scripting(reference ?? [])),
      lint,
      listener,
      EditorView.contentAttributes.of({
        "aria-label": label,
        spellcheck: "false",
        tabindex: "0",
      }),
      cm.keymap.of([
        ...cm.closeBracketsKeymap,
        ...cm.defaultKeymap,
        ...cm.searchKeymap,
        ...cm.historyKeymap,
        ...cm.completionKeymap,
        ...cm.lintKeymap,
      ]),
    ];
    this.view = new EditorView({ parent: this.root, root: this.root, state: this.state("") });
  }

  /** @param {any} doc */
  state(doc) {
    return EditorState.create({ doc, extensions: this.extensions });
  }

  /**
   * @param {Problem} problem
   * @param {"error" | "warning"} severity
   */
  diagnose(problem, severity) {
    const [from, to] = placeOf(this.view.state.doc, problem);
    const meant = proposal(problem);
    /**
     * @param {any} view
     * @param {number} start
     * @param {number} end
     */
    const apply = (view, start, end) =>
      view.dispatch({ changes: { from: start, to: end, insert: meant } });
    return {
      from,
      to,
      severity,
      message: problem.message + (problem.hint ? `\n${problem.hint}` : ""),
      source: problem.step,
      actions: meant ? [{ name: `Use ${meant}`, apply }] : [],
    };
  }

  get text() {
    return this.view.state.doc.toString();
  }

  /**
   * Another text, without the history of the one before.
   * @param {string} text
   */
  load(text) {
    this.isLoading = true;
    this.view.setState(this.state(text));
    this.isLoading = false;
    cm.forceLinting(this.view);
  }

  recheck() {
    this.view.dispatch({ effects: again.of(null) });
    cm.forceLinting(this.view);
  }

  /**
   * @param {Problem} problem
   * @param {string} text
   */
  fix(problem, text) {
    const [from, to] = placeOf(this.view.state.doc, problem);
    this.view.dispatch({ changes: { from, to, insert: text } });
    this.view.focus();
  }

  /** @param {Problem} problem */
  goTo(problem) {
    const [anchor] = placeOf(this.view.state.doc, problem);
    this.view.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: "center" }),
    });
    this.view.focus();
  }

  /** @param {string} text */
  insert(text) {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.view.focus();
  }

  focus() {
    this.view.focus();
  }
}

/**
 * Two texts side by side, what differs marked; scripts, or texts that bring their extensions.
 * @param {HTMLElement} host
 * @param {string} before
 * @param {string} after
 * @param {any} [extensions]
 */
export function showDiff(host, before, after, extensions = null) {
  const root = rootOf(host);
  extensions = extensions ? [extensions, look] : language();
  extensions = [cm.lineNumbers(), extensions, EditorView.editable.of(false)];
  return new cm.MergeView({
    parent: root,
    root,
    a: { doc: before, extensions },
    b: { doc: after, extensions },
    collapseUnchanged: { margin: 2 },
  });
}
