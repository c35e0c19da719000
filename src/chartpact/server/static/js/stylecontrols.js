// How the plots of an indicator look, as controls: colour, width, style, and whether they are drawn.
import { el } from "./dom.js";
import { onlyColor } from "./paint.js";
import { plotsOf } from "./styles.js";

const STYLES = ["line", "stepline", "area", "columns", "histogram", "circles", "cross"];

/**
 * @param {Drawn | undefined} drawn
 * @param {Asked} asked
 * @param {string} prefix of the ids
 * @param {Theme} theme
 * @param {(styles: Record<string, PlotStyle>) => unknown} change
 */
export function styleControls(drawn, asked, prefix, theme, change) {
  const plots = plotsOf(drawn);
  if (!plots.length) return null;
  const styles = asked.styles ?? {};
  /**
   * @param {string} title
   * @param {PlotStyle} more
   */
  const set = (title, more) => change({ ...styles, [title]: { ...styles[title], ...more } });
  const rows = plots.map((plot, at) => {
    const { title } = plot;
    const own = styles[title] ?? {};
    const id = `${prefix}-${at}`;
    const color = own.color ?? onlyColor(plot, theme).slice(0, 7);
    const width = plot.kind === "line" ? (own.width ?? plot.width) : null;
    const style = plot.kind === "line" ? (own.style ?? plot.style) : null;
    return el(
      "div",
      { class: "plot-style", role: "group", "aria-label": `Look of ${title}`, "data-key": title },
      el("input", {
        type: "checkbox",
        id,
        "data-key": "shown",
        checked: !own.hidden,
        onchange: (/** @type {any} */ event) => set(title, { hidden: !event.currentTarget.checked }),
      }),
      el("label", { for: id, title, "data-key": "label" }, title),
      el("input", {
        type: "color",
        value: color,
        "data-key": "color",
        "aria-label": `Colour of ${title}`,
        onchange: (/** @type {any} */ event) => set(title, { color: event.currentTarget.value }),
      }),
      width !== null &&
        el("input", {
          type: "number",
          min: 1,
          max: 8,
          value: Math.round(width),
          "data-key": "width",
          "aria-label": `Width of ${title}`,
          onchange: (/** @type {any} */ { currentTarget: input }) =>
            input.checkValidity() && set(title, { width: input.valueAsNumber }),
        }),
      style !== null &&
        el(
          "select",
          {
            "aria-label": `Style of ${title}`,
            onchange: (/** @type {any} */ event) => set(title, { style: event.currentTarget.value }),
          },
          ...(STYLES.includes(style) ? STYLES : [style, ...STYLES]).map((one) =>
            el("option", { value: one, selected: one === style }, one.replaceAll("_", " ")),
          ),
        ),
    );
  });
  return el(
    "details",
    { class: "look", "data-key": "look" },
    el("summary", {}, "Colours and lines"),
    ...rows,
    Object.keys(styles).length > 0 &&
      el("button", { type: "button", class: "link", onclick: () => change({}) }, "As it draws itself"),
  );
}
