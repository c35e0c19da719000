// How plots look: as the indicator says, as the user chose, and apart where an indicator is there twice.
const APART = ["#2962ff", "#ab47bc", "#26a69a", "#ef5350", "#7e57c2", "#66bb6a", "#42a5f5", "#ffca28"];

/**
 * The plots of an indicator that have a name and a style of their own.
 * @param {Drawn | undefined} drawn
 */
export function plotsOf(drawn) {
  /** @type {Map<string, LinePlot | BarsPlot>} */
  const found = new Map();
  for (const plot of drawn?.scene?.plots ?? [])
    if ((plot.kind === "line" || plot.kind === "bars") && plot.title && !found.has(plot.title))
      found.set(plot.title, plot);
  return [...found.values()];
}

/**
 * The indicators of a chart as they are to be drawn; their columns are shared.
 * @param {ChartData} data
 * @param {Asked[]} asked
 */
export function restyle(data, asked) {
  const shown = asked.filter(({ hidden }) => !hidden);
  return data.indicators.map((drawn, at) => {
    const before = shown.slice(0, at).filter(({ name }) => name === drawn.name).length;
    const styles = shown[at]?.styles;
    if (!drawn.scene || (!before && !styles)) return drawn;
    const names = plotsOf(drawn).map(({ title }) => title);
    const plots = drawn.scene.plots.flatMap((plot) => {
      const title = "title" in plot ? plot.title : "";
      const own = title ? styles?.[title] : undefined;
      if (own?.hidden) return [];
      const isApart = before > 0 && names.length === 1 && title === names[0];
      const color = own?.color ?? (isApart ? APART[(before - 1) % APART.length] : undefined);
      return [dress(plot, { ...own, ...(color ? { color } : {}) })];
    });
    return { ...drawn, scene: { ...drawn.scene, plots } };
  });
}

/**
 * @param {Plot} plot
 * @param {PlotStyle} style
 * @returns {Plot}
 */
function dress(plot, { color, width, style }) {
  const inked = color ? { color } : {};
  if (plot.kind === "line")
    return { ...plot, ...inked, ...(width ? { width } : {}), ...(style ? { style } : {}) };
  return plot.kind === "bars" ? { ...plot, ...inked } : plot;
}
