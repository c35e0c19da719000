// The colours of plots: one, one for each bar, or by direction.

/**
 * The colours of a plot, and which of them each bar has.
 * @param {Paint | null} paint
 * @param {Theme} theme
 * @param {(bar: number) => boolean} rising
 * @returns {Painter}
 */
export function painter(paint, theme, rising) {
  if (paint && typeof paint === "object") {
    const { palette, codes } = paint;
    const last = codes.length - 1;
    return { palette, code: (i) => codes[i < last ? i : last] };
  }
  if (paint === "auto")
    return { palette: [null, theme.up, theme.down], code: (i) => (rising(i) ? 1 : 2) };
  return { palette: [null, paint], code: () => 1 };
}

/**
 * The one colour of a plot that has no more.
 * @param {{ color: Paint }} plot
 * @param {Theme} theme
 */
export function onlyColor(plot, theme) {
  if (typeof plot.color === "object")
    return plot.color.palette.find((color) => color) ?? "#00000000";
  return plot.color === "auto" ? theme.up : plot.color;
}
