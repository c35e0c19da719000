// The look of YAML in the editor: keys, texts, numbers and comments, line by line.
import { cm } from "./codemirror.js";

/** @type {Record<string, any>} */
const marks = {
  comment: cm.Decoration.mark({ class: "y-com" }),
  key: cm.Decoration.mark({ class: "y-key" }),
  text: cm.Decoration.mark({ class: "y-str" }),
  number: cm.Decoration.mark({ class: "y-num" }),
};
const TOKENS =
  /(?<comment>(?<=^|\s)#.*)|(?<key>[A-Za-z_][\w.-]*(?=\s*:(?:\s|$)))|(?<text>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<number>(?<![\w.#])-?\d+(?:\.\d+)*\b)/g;

/** @param {any} view */
function decorate(view) {
  const builder = new cm.RangeSetBuilder();
  for (const { from, to } of view.visibleRanges)
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      for (const token of line.text.matchAll(TOKENS)) {
        const kinds = Object.entries(token.groups).filter(([, text]) => text !== undefined);
        const start = line.from + token.index;
        builder.add(start, start + token[0].length, marks[kinds[0][0]]);
      }
      at = line.to + 1;
    }
  return builder.finish();
}

const colored = cm.ViewPlugin.define(
  (view) => ({
    /** @type {any} */
    decorations: decorate(view),
    /** @param {{ docChanged: boolean, viewportChanged: boolean, view: any }} change */
    update(change) {
      if (change.docChanged || change.viewportChanged) this.decorations = decorate(change.view);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);

const look = cm.EditorView.theme({
  ".y-key": { color: "var(--c-prop)" },
  ".y-str": { color: "var(--c-str)" },
  ".y-num": { color: "var(--c-num)" },
  ".y-com": { color: "var(--c-com)", fontStyle: "italic" },
});

export const yaml = [colored, look];
