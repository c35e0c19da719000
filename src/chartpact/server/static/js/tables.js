// Tables: cells sized by their texts, in nine places of a pane.
import { readable, visible } from "./colors.js";
import { block, cut, fit, fontOf, LINE_HEIGHT, meets, textSize, writeBlock } from "./texts.js";
import { align, TEXT_SIZES } from "./boxes.js";
const BASE = 100; // the size in which texts are measured, once for all sizes that are tried
const measured = new WeakMap();
/**
 * @param {Frame} f
 * @param {TableCell} cell
 * @param {number} asked
 */
function wordsOf(f, cell, asked) {
  const size = textSize(asked);
  const { text_formatting: formatting, text_font_family: family } = cell;
  let words = measured.get(cell);
  if (!words) measured.set(cell, (words = block(f, cell.text, BASE, formatting, family)));
  return {
    lines: words.lines,
    size,
    font: fontOf(size, formatting, family),
    width: (words.width * size) / BASE,
    height: words.lines.length * size * LINE_HEIGHT,
  };
}
/**
 * @param {Frame} f
 * @param {DrawnTable} table
 * @param {number} scale
 */
export function gridOf(f, table, scale, W = f.width, H = f.height) {
  const nc = Math.min(table.columns, 200),
    nr = Math.min(table.rows, 200),
    hidden = new Set(),
    endOf = (/** @type {number | null | undefined} */ end, /** @type {number} */ start, /** @type {number} */ n) =>
      end === null || end === undefined ? start : Math.min(Math.max(end, start), n - 1);
  const alive = table.cells.filter((/** @type {TableCell} */ c) => c.column < nc && c.row < nr);
  for (const c of alive)
    for (let i = c.column; i <= endOf(c.end_column, c.column, nc); i++)
      for (let r = c.row; r <= endOf(c.end_row, c.row, nr); r++)
        if (i !== c.column || r !== c.row) hidden.add(i * 1000 + r);
  const cells = alive
    .filter((/** @type {TableCell} */ c) => !hidden.has(c.column * 1000 + c.row))
    .map((/** @type {TableCell} */ cell) => {
      const points = typeof cell.size === "number" ? cell.size : TEXT_SIZES[cell.size];
      return {
        cell,
        words: wordsOf(f, cell, textSize(points || 12) * scale),
        c2: endOf(cell.end_column, cell.column, nc),
        r2: endOf(cell.end_row, cell.row, nr),
      };
    });
  if (!cells.length) return null;
  const columns = new Float64Array(nc),
    rows = new Float64Array(nr);
  /**
   * @param {Float64Array} sizes
   * @param {number} a
   * @param {number} b
   * @param {number} least
   * @param {boolean} whole
   */
  const stretch = (sizes, a, b, least, whole) => {
    if (a === b) {
      if (!whole) sizes[a] = Math.max(sizes[a], least);
    } else if (whole) {
      let sum = 0;
      for (let i = a; i <= b; i++) sum += sizes[i];
      const missing = least - sum;
      if (missing > 0) for (let i = a; i <= b; i++) sizes[i] += missing / (b + 1 - a);
    }
  };
  for (const whole of [false, true])
    for (const { cell, words, c2, r2 } of cells) {
      stretch(
        columns,
        cell.column,
        c2,
        Math.min(
          cell.width
            ? ((cell.width * W) / 100) * scale
            : Math.min(words.width, scale <= 0.35 ? W - 28 : Infinity) + 12 * scale,
          4 * W,
        ),
        whole,
      );
      stretch(
        rows,
        cell.row,
        r2,
        Math.min(
          cell.height
            ? ((cell.height * H) / 100) * scale
            : Math.max(words.height, words.size) + 6 * scale,
          4 * H,
        ),
        whole,
      );
    }
  const line = visible(table.border_color) ? Math.min(table.border_width, 32) : 0,
    frame = visible(table.frame_color) ? Math.min(table.frame_width, 32) : 0;
  /** @param {Float64Array} sizes */
  const sum = (sizes) => sizes.reduce((x, y) => x + y, 0);
  return {
    table,
    cells,
    columns,
    rows,
    line,
    frame,
    width: sum(columns) + line * (nc - 1) + 2 * frame,
    height: sum(rows) + line * (nr - 1) + 2 * frame,
  };
}
/**
 * @param {Frame} f
 * @param {DrawnTable} table
 * @param {number} share
 * @param {Area} area
 */
export function measure(f, table, share, area) {
  const W = area.right - area.left,
    H = area.bottom - area.top,
    grid = gridOf(f, table, share, W, H);
  if (!grid) return null;
  const fits = Math.min((W - 16) / grid.width, (H - 8) / grid.height, 1);
  return fits === 1 ? grid : gridOf(f, table, Math.max(share * fits * 0.97, 0.35), W, H);
}
/**
 * @param {Grid} grid
 * @param {Area} a
 */
export const place = (grid, a) => {
  const [row, column] = grid.table.position.split("_");
  return align(a, grid, column, row, 8, 8);
};
/**
 * Whether anything of a table can be seen.
 * @param {DrawnTable} table
 */
export const hasInk = (table) =>
  visible(table.bgcolor) ||
  (visible(table.frame_color) && table.frame_width > 0) ||
  (visible(table.border_color) && table.border_width > 0) ||
  table.cells.some((cell) => visible(cell.bgcolor) || (cell.text.trim() !== "" && visible(cell.text_color)));

const BETWEEN = 6; // pixels between tables of one corner

/**
 * Places the tables that can be seen: those of one corner one after another, the first outermost.
 * @param {Frame} f
 * @param {DrawnTable[]} tables
 * @param {Area[]} taken
 */
export function arrangeTables(f, tables, taken) {
  const waiting = tables.filter(hasInk);
  /** @type {PlacedTable[]} */
  let found = [];
  for (const share of [1, 0.85, 0.7, 0.6, 0.5, 0.42, 0.35]) {
    found = [];
    for (const table of waiting) {
      const stacked = found.filter(({ grid }) => grid.table.position === table.position).map(({ spot }) => spot);
      const placed = placeTable(f, table, share, [...taken, ...stacked]);
      if (placed) found.push(placed);
    }
    if (!found.some((a, i) => found.slice(0, i).some((b) => meets(a.spot, b.spot)))) break;
  }
  return found;
}

/**
 * @param {Frame} f
 * @param {DrawnTable} table
 * @param {number} share of its own size
 * @param {Area[]} taken
 * @returns {PlacedTable | null}
 */
function placeTable(f, table, share, taken) {
  const isBelow = table.position.startsWith("bottom");
  let area = f.area;
  let grid = measure(f, table, share, area);
  for (let turn = 0; grid && turn < 8; turn++) {
    const spot = place(grid, area);
    const hit = taken.filter((a) => meets(a, spot));
    if (!hit.length) return { grid, spot };
    area = isBelow
      ? { ...area, bottom: Math.min(...hit.map((a) => a.top)) - BETWEEN + 4 }
      : { ...area, top: Math.max(...hit.map((a) => a.bottom)) + BETWEEN - 8 };
    grid = measure(f, table, share, area) ?? grid;
  }
  return grid && { grid, spot: place(grid, area) };
}

/**
 * Where a cell of a placed table lies; null where it is not drawn.
 * @param {PlacedTable} placed
 * @param {number} column
 * @param {number} row
 * @returns {Area | null}
 */
export function cellArea({ grid, spot }, column, row) {
  const found = grid.cells.find(({ cell }) => cell.column === column && cell.row === row);
  if (!found || !found.cell.text.trim() || !visible(found.cell.text_color)) return null;
  const sum = (/** @type {Float64Array} */ sizes, /** @type {number} */ end) =>
    sizes.slice(0, end).reduce((a, b) => a + b + grid.line, grid.frame);
  return {
    left: spot.left + sum(grid.columns, column),
    right: spot.left + sum(grid.columns, found.c2 + 1) - grid.line,
    top: spot.top + sum(grid.rows, row),
    bottom: spot.top + sum(grid.rows, found.r2 + 1) - grid.line,
  };
}

/**
 * @param {Frame} f
 * @param {PlacedTable} placed
 */
export function drawTable(f, { grid, spot }) {
  const { table, cells, columns, rows, line, frame } = grid,
    { ctx } = f;
  /**
   * @param {number} start
   * @param {Float64Array} sizes
   */
  const edges = (start, sizes) => {
    const at = [Math.round(start)];
    let v = start;
    for (const s of sizes) {
      v += s + line;
      at.push(Math.round(v));
    }
    return at;
  };
  const x = edges(spot.left + frame, columns),
    y = edges(spot.top + frame, rows);
  const whole = {
    left: Math.round(spot.left),
    top: Math.round(spot.top),
    right: x[columns.length] - line,
    bottom: y[rows.length] - line,
  };
  if (visible(table.bgcolor)) {
    ctx.fillStyle = table.bgcolor;
    ctx.fillRect(whole.left, whole.top, whole.right - whole.left, whole.bottom - whole.top);
  }
  /**
   * @param {Area} a
   * @param {number} w
   * @param {string | null} color
   */
  const border = (a, w, color) => {
    if (!color) return;
    ctx.strokeStyle = color;
    ctx.lineWidth = w;
    ctx.setLineDash([]);
    ctx.lineJoin = "miter";
    ctx.strokeRect(a.left - w / 2, a.top - w / 2, a.right - a.left + w, a.bottom - a.top + w);
  };
  const spots = [];
  for (const { cell, words: text, c2, r2 } of cells) {
    const at = {
      left: x[cell.column],
      top: y[cell.row],
      right: x[c2 + 1] - line,
      bottom: y[r2 + 1] - line,
    };
    if (at.left - line >= f.width || at.right + line <= 0) continue;
    if (at.top - line >= f.area.bottom || at.bottom + line <= f.area.top) continue;
    spots.push(at);
    if (visible(cell.bgcolor)) {
      ctx.fillStyle = cell.bgcolor;
      ctx.fillRect(at.left, at.top, at.right - at.left, at.bottom - at.top);
    }
    if (!text.lines.length || !visible(cell.text_color)) continue;
    const words = cut(text, at.bottom - at.top);
    if (words.width > f.width - 28)
      words.lines = words.lines.map((/** @type {string} */ l) => fit(f.ctx, l, words.font, f.width - 28));
    const grounds = [table.bgcolor, cell.bgcolor].filter(Boolean),
      color = readable(cell.text_color, f.theme.background, ...grounds);
    const top = {
      top: at.top + 3,
      center: (at.top + at.bottom - words.height) / 2,
      bottom: at.bottom - 3 - words.height,
    }[cell.text_valign];
    writeBlock(f, words, { left: at.left + 6, right: at.right - 6, top }, cell.text_halign, color);
  }
  if (line) for (const at of spots) border(at, line, table.border_color);
  if (frame) border(whole, frame, table.frame_color);
}
