// The plots of a scene on a canvas, by the same rules as the pictures of the server.
import { faded, legible, visible } from "./colors.js";
import { onlyColor, painter } from "./paint.js";
import { barsPerGroup, bodyWidth, stroke, THICKEST, THINNEST } from "./frame.js";
import { straight } from "./lines.js";
import { block, clean, holds, write } from "./texts.js";
import { drawCandles } from "./candles.js";
// ---------------------------------------------------------------------------------------- columns
/**
 * @param {Frame} f
 * @param {Float64Array} values
 * @param {number} base
 * @param {Painter} paint
 * @param {number} [width]
 */
export function columnsOf(f, values, base, paint, width) {
  const k = f.dpr,
    size = barsPerGroup(f.step),
    wide = width ? Math.round(width * k) : bodyWidth(f.step * size * k),
    { ctx } = f,
    half = wide >> 1;
  const floor = Math.round(Math.min(Math.max(f.y(base), -4), f.height + 4) * k);
  const first = Math.max(0, Math.floor(f.first / size) * size),
    last = Math.min(f.last, values.length - 1);
  /** @type {number[][]} */
  const byCode = [];
  /**
   * @param {number} at
   * @param {number} i
   */
  const put = (at, i) => {
    const code = paint.code(at),
      x = Math.floor(f.x(Math.floor(i / size) * size + (size - 1) / 2) * k) - half;
    const y = Math.round(Math.min(Math.max(f.y(values[at]), -4), f.height + 4) * k);
    let height = Math.abs(y - floor);
    if (!height && values[at] !== base) height = 1;
    if (height) (byCode[code] ??= []).push(x, Math.min(y, floor), height);
  };
  for (let i = first; i <= last; i += size) {
    let tall = -1,
      deep = -1;
    for (let n = i; n < i + size && n < values.length; n++) {
      const v = values[n];
      if (v !== v || !paint.palette[paint.code(n)]) continue;
      if (v >= base) {
        if (tall < 0 || v > values[tall]) tall = n;
      } else if (deep < 0 || v < values[deep]) deep = n;
    }
    if (tall >= 0) put(tall, i);
    if (deep >= 0) put(deep, i);
  }
  byCode.forEach((list, code) => {
    if (!visible(paint.palette[code])) return;
    ctx.fillStyle = paint.palette[code];
    for (let i = 0; i < list.length; i += 3)
      ctx.fillRect(list[i] / k, list[i + 1] / k, wide / k, list[i + 2] / k);
  });
}

// ----------------------------------------------------------------------------------------- lines
/**
 * @param {Frame} f
 * @param {Float64Array} values
 */
export function outline(f, values) {
  // the bars of a line that matter, in view
  const size = barsPerGroup(f.step),
    kept = [];
  const first = Math.max(0, (Math.floor(f.first / size) - 1) * size),
    last = Math.min(f.last + size, values.length - 1);
  if (size === 1) {
    for (let i = first; i <= last; i++) kept.push(i);
    return kept;
  }
  for (let i = first; i <= last; i += size) {
    let lo = -1,
      hi = -1;
    for (let k = i; k < i + size && k < values.length; k++) {
      const v = values[k];
      if (v !== v) continue;
      if (lo < 0 || v < values[lo]) lo = k;
      if (hi < 0 || v > values[hi]) hi = k;
    }
    if (lo < 0) kept.push(i);
    else if (lo === hi) kept.push(lo);
    else if (lo < hi) kept.push(lo, hi);
    else kept.push(hi, lo);
  }
  return kept;
}

// A crowded line is one upright bar a group, from its lowest to its highest value, joined to its neighbour:
// stroking thousands of steep segments costs a software rasteriser 20 ms a line, these rectangles 1 ms.
/**
 * @param {Frame} f
 * @param {Float64Array} values
 * @param {Painter} paint
 */
export function columnsOfLine(f, values, paint) {
  const size = barsPerGroup(f.step),
    { ctx, dpr: k } = f,
    wide = Math.max(1, Math.floor((f.step * size * k) / 2)) / k; // half a group: what lies behind shows through, as between the strokes of a line
  const first = Math.max(0, Math.floor(f.first / size) * size),
    last = Math.min(f.last, values.length - 1);
  /** @type {number[][]} */
  const byCode = [];
  let before = NaN;
  for (let i = first; i <= last; i += size) {
    let lo = Infinity,
      hi = -Infinity,
      end = NaN,
      at = -1;
    for (let n = i; n < i + size && n < values.length; n++) {
      const v = values[n];
      if (v === v) {
        if (v < lo) lo = v;
        if (v > hi) hi = v;
        end = v;
        at = n;
      }
    }
    if (at < 0) {
      before = NaN;
      continue;
    }
    if (before < lo) lo = before;
    else if (before > hi) hi = before;
    before = end;
    const top = f.y(hi),
      bottom = f.y(lo);
    (byCode[paint.code(at)] ??= []).push(
      Math.floor(f.x(i) * k) / k,
      top - 0.6,
      Math.max(bottom - top + 1.2, THINNEST),
    );
  }
  byCode.forEach((list, code) => {
    if (!visible(paint.palette[code])) return;
    ctx.fillStyle = paint.palette[code];
    for (let i = 0; i < list.length; i += 3) ctx.fillRect(list[i], list[i + 1], wide, list[i + 2]);
  });
}

/**
 * A level stroke for each run of equal values, from half a bar before to half a bar after.
 * @param {Frame} f
 * @param {any} given
 * @param {Painter} paint
 */
function levels(f, { values, width }, paint) {
  const size = barsPerGroup(f.step);
  const { ctx } = f;
  const first = Math.max(0, Math.floor(f.first / size) * size);
  const last = Math.min(f.last + size, values.length - 1);
  ctx.lineWidth = Math.min(Math.max(THINNEST, width), THICKEST);
  ctx.lineCap = "butt";
  ctx.setLineDash([]);
  for (let i = first; i <= last;) {
    let end = i + size;
    while (end <= last && values[end] === values[i] && paint.code(end) === paint.code(i))
      end += size;
    const color = paint.palette[paint.code(i)];
    if (values[i] === values[i] && visible(color)) {
      const y = Math.floor(f.y(values[i])) + 0.5;
      ctx.strokeStyle = color;
      ctx.beginPath();
      ctx.moveTo(f.x(i - 0.5), y);
      ctx.lineTo(f.x(Math.min(end, values.length) - 0.5), y);
      ctx.stroke();
    }
    i = end;
  }
}

/**
 * @param {Frame} f
 * @param {LinePlot} plot
 */
export function line(f, plot) {
  const { values, style } = plot,
    { ctx, theme } = f;
  const paint = painter(plot.color, theme, (/** @type {number} */ i) => !(values[i] < values[Math.max(i - 1, 0)]));
  if (style === "histogram" || style === "columns")
    return columnsOf(
      f,
      values,
      0,
      paint,
      style === "histogram" ? Math.round(Math.min(Math.max(plot.width, 1), THICKEST)) : undefined,
    );
  if (style === "levels") return levels(f, plot, paint);
  const kept = outline(f, values),
    crowded = barsPerGroup(f.step) > 1;
  if (style === "circles" || style === "cross") {
    const w = Math.min(Math.max(plot.width, 1), THICKEST);
    for (const i of kept) {
      const y = f.y(values[i]),
        color = paint.palette[paint.code(i)];
      if (y !== y || !visible(color)) continue;
      const x = f.x(i);
      if (style === "circles") {
        ctx.fillStyle = color;
        ctx.beginPath();
        ctx.arc(x, y, 1 + w * 0.8, 0, 7);
        ctx.fill();
      } else {
        const a = 2 + w;
        ctx.strokeStyle = color;
        ctx.lineWidth = 1.25;
        ctx.setLineDash([]);
        ctx.beginPath();
        ctx.moveTo(x - a, y);
        ctx.lineTo(x + a, y);
        ctx.moveTo(x, y - a);
        ctx.lineTo(x, y + a);
        ctx.stroke();
      }
    }
    return;
  }
  if (crowded && !style.startsWith("area")) {
    let travel = 0,
      was = NaN;
    for (const i of kept) {
      const y = f.y(values[i]),
        d = Math.abs(y - was);
      if (d === d) travel += d;
      was = y;
    }
    if (travel > 10 * f.width) return columnsOfLine(f, values, paint);
  }
  const stepped = style.startsWith("stepline"),
    area = style.startsWith("area");
  const wide = Math.min(Math.max(THINNEST, crowded ? 0 : plot.width), THICKEST);
  let floor = f.y(0);
  if (!(floor > 0 && floor < f.height)) floor = f.height;
  // A stretch takes the colour of the bar it goes to; it ends where a value is missing.
  /** @type {Path2D | null} */
  let path = null;
  /** @type {Path2D | null} */
  let shade = null;
  let code = -1,
    px = 0,
    py = NaN,
    startX = 0,
    alone = true,
    was = -1;
  const flush = () => {
    if (!path) return;
    const color = paint.palette[code];
    if (visible(color)) {
      if (shade) {
        shade.lineTo(px, floor);
        shade.lineTo(startX, floor);
        shade.closePath();
        ctx.fillStyle = faded(color, 0.25);
        ctx.fill(shade);
      }
      if (plot.width > 0) {
        ctx.strokeStyle = color;
        ctx.stroke(path);
      }
    }
    path = shade = null;
  };
  ctx.lineWidth = wide;
  ctx.lineJoin = crowded ? "bevel" : "round";
  ctx.lineCap = crowded ? "butt" : "round";
  ctx.setLineDash([]);
  for (const i of kept) {
    const y = f.y(values[i]),
      x = f.x(i);
    if (y !== y) {
      flush();
      const own = paint.palette[was];
      if (py === py && alone && visible(own)) {
        ctx.fillStyle = own;
        ctx.beginPath();
        ctx.arc(px, py, wide / 2, 0, 7);
        ctx.fill();
      }
      py = NaN;
      alone = true;
      continue;
    }
    if (py === py) {
      const now = paint.code(i);
      if (!path || now !== code) {
        flush();
        code = now;
        path = new Path2D();
        path.moveTo(px, py);
        startX = px;
        if (area) {
          shade = new Path2D();
          shade.moveTo(px, py);
        }
      }
      if (stepped) path.lineTo(x, py);
      path.lineTo(x, y);
      shade?.lineTo(x, y);
      alone = false;
    }
    px = x;
    py = y;
    was = paint.code(i);
  }
  flush();
  if (style === "stepline_diamond")
    for (const i of kept) {
      const y = f.y(values[i]),
        x = f.x(i),
        a = 2.5 + plot.width,
        color = paint.palette[paint.code(i)];
      if (y === y && visible(color)) {
        ctx.fillStyle = color;
        ctx.beginPath();
        ctx.moveTo(x - a, y);
        ctx.lineTo(x, y - a);
        ctx.lineTo(x + a, y);
        ctx.lineTo(x, y + a);
        ctx.fill();
      }
    }
}

/**
 * @param {Frame} f
 * @param {FillPlot} plot
 */
export function fill(f, plot) {
  const { a, b } = plot,
    { ctx, theme } = f,
    n = Math.min(a.length, b.length),
    size = barsPerGroup(f.step);
  const paint = painter(plot.color, theme, (/** @type {number} */ i) => a[i] >= b[i]),
    auto = plot.color === "auto";
  const first = Math.max(0, (Math.floor(f.first / size) - 1) * size),
    last = Math.min(f.last + size, n - 1);
  /** @type {number[]} */
  let upper = [];
  /** @type {number[]} */
  let lower = [];
  let code = -1;
  const flush = () => {
    const color = paint.palette[code];
    if (upper.length > 2 && visible(color)) {
      ctx.fillStyle = faded(color, plot.alpha);
      ctx.beginPath();
      ctx.moveTo(upper[0], upper[1]);
      for (let i = 2; i < upper.length; i += 2) ctx.lineTo(upper[i], upper[i + 1]);
      for (let i = lower.length - 2; i >= 0; i -= 2) ctx.lineTo(lower[i], lower[i + 1]);
      ctx.closePath();
      ctx.fill();
    }
    upper = [];
    lower = [];
  };
  let lastA = NaN,
    lastB = NaN,
    lastX = 0;
  for (let i = first; i <= last; i += size) {
    let va = a[i],
      vb = b[i],
      x = f.x(i),
      at = i;
    if (size > 1) {
      // the outermost value of either in the group
      va = NaN;
      vb = NaN;
      let sum = 0;
      for (let k = i; k < i + size && k < n; k++)
        if (a[k] === a[k] && b[k] === b[k]) {
          sum += a[k] - b[k];
          at = k;
        }
      const up = sum >= 0;
      for (let k = i; k < i + size && k < n; k++)
        if (a[k] === a[k] && b[k] === b[k]) {
          if (va !== va || (up ? a[k] > va : a[k] < va)) va = a[k];
          if (vb !== vb || (up ? b[k] < vb : b[k] > vb)) vb = b[k];
        }
      x = f.x(i + (Math.min(size, n - i) - 1) / 2);
    }
    if (va !== va || vb !== vb) {
      flush();
      lastA = NaN;
      continue;
    }
    const now = auto ? (va >= vb ? 1 : 2) : paint.code(at);
    if (lastA === lastA) {
      if (auto && now !== code && code >= 0) {
        // where they cross
        const gap = lastA - lastB,
          share = gap / (gap - (va - vb)),
          cx = lastX + share * (x - lastX),
          cy = f.y(lastA + share * (va - lastA));
        upper.push(cx, cy);
        lower.push(cx, cy);
        flush();
        upper.push(cx, cy);
        lower.push(cx, cy);
      } else if (now !== code) {
        const n2 = upper.length;
        const [ux, uy, lx, ly] = [upper[n2 - 2], upper[n2 - 1], lower[n2 - 2], lower[n2 - 1]];
        flush();
        if (n2) {
          upper.push(ux, uy);
          lower.push(lx, ly);
        }
      }
    }
    code = now;
    upper.push(x, f.y(va));
    lower.push(x, f.y(vb));
    lastA = va;
    lastB = vb;
    lastX = x;
  }
  flush();
}

/**
 * @param {Frame} f
 * @param {HlinePlot} plot
 */
export function hline(f, plot) {
  const color = onlyColor(plot, f.theme);
  let y = f.y(plot.y);
  if (!(y >= 0 && y <= f.height) || !visible(color)) return;
  y = f.snap(y - 0.5) + (0.5 / f.dpr) * Math.max(1, Math.round(f.dpr)); // on the middle of a device pixel row
  const { ctx } = f;
  stroke(ctx, color, 1, plot.style);
  ctx.beginPath();
  ctx.moveTo(0, y);
  ctx.lineTo(f.width, y);
  ctx.stroke();
}
const TITLE_SIZE = 10;
/** @param {string} text */
const oneLine = (text) => clean(text).split(/\s+/).filter(Boolean).join(" ");

/**
 * A name at the first of the spots, left and top, that is free.
 * @param {Frame} f
 * @param {string} name
 * @param {Point[]} spots
 * @param {string} color
 * @param {Taken} taken
 */
function writeTitle(f, name, spots, color, taken) {
  const words = block(f, name, TITLE_SIZE);
  for (const [left, top] of spots) {
    const spot = { left, top, right: left + words.width, bottom: top + TITLE_SIZE + 2 };
    if (!holds(f.area, spot) || !taken.free(spot)) continue;
    taken.add(spot);
    const { background } = f.theme;
    const halo = faded(background, 0.75);
    const base = top + TITLE_SIZE;
    write(
      f,
      words.lines[0],
      left,
      base,
      TITLE_SIZE,
      legible(color, background),
      "left",
      words.font,
      halo,
    );
    return;
  }
}

/**
 * The name of a level above or below it; over the price where it covers no bars.
 * @param {Frame} f
 * @param {any} plot
 * @param {Taken} taken
 * @param {string} side
 * @param {boolean} overPrice
 */
export function levelTitle(f, plot, taken, side, overPrice) {
  const y = f.y(plot.y);
  const color = onlyColor(plot, f.theme);
  const name = oneLine(plot.title ?? "");
  if (!name || !(y >= 0 && y <= f.height) || !visible(color)) return;
  const words = block(f, name, TITLE_SIZE, "none", "default", f.width / 3);
  const room = f.width - 12 - words.width;
  const shares = overPrice ? [...Array.from({ length: 16 }, (_, i) => 0.04 * i), 1] : [0];
  const lefts = shares.map((share) =>
    side === "right" ? f.width - 6 - words.width - room * share : 6 + room * share,
  );
  /** @type {Point[]} */
  const spots = lefts.flatMap((left) => [
    [left, y - TITLE_SIZE - 4],
    [left, y + 3],
  ]);
  const off = spots.filter(([left, top]) => !overPrice || isOffBars(f, left, top, words.width));
  writeTitle(f, words.lines[0], [...off, ...spots.slice(0, 2)], color, taken);
}

/**
 * Whether a text there covers none of the chart's bars.
 * @param {Frame} f
 * @param {number} left
 * @param {number} top
 * @param {number} wide
 */
function isOffBars(f, left, top, wide) {
  const { high, low, length } = f.clock.bars;
  const first = Math.max(0, Math.floor((left - f.x(-0.5)) / f.step));
  const last = Math.min(length - 1, Math.floor((left + wide - f.x(-0.5)) / f.step));
  for (let bar = first; bar <= last; bar++)
    if (f.y(high[bar]) < top + TITLE_SIZE + 2 && f.y(low[bar]) > top) return false;
  return true;
}

/**
 * The name of a level that reaches the last bar, behind its right end, or above or below it.
 * @param {Frame} f
 * @param {any} plot
 * @param {Taken} taken
 */
export function endTitle(f, plot, taken) {
  const last = f.clock.bars.length - 1;
  let bar;
  let value;
  let color;
  if (plot.kind === "line") {
    if (plot.style !== "levels" || !plot.values.length) return;
    bar = last;
    value = plot.values[last];
    const paint = painter(plot.color, f.theme, () => true);
    color = paint.palette[paint.code(last)];
  } else {
    if (plot.y1 !== plot.y2 || plot.x2 < last) return;
    [bar, value, color] = [plot.x2, plot.y2, onlyColor(plot, f.theme)];
  }
  const y = f.y(value);
  const name = oneLine(plot.title ?? "");
  if (!name || !color || !(y >= 0 && y <= f.height)) return;
  const words = block(f, name, TITLE_SIZE, "none", "default", f.width / 3);
  const x = f.x(bar + 0.5);
  /** @type {Point[]} */
  const spots = [
    [x + 4, y - TITLE_SIZE / 2 - 1],
    [x - words.width, y - TITLE_SIZE - 4],
    [x - words.width, y + 3],
  ];
  writeTitle(f, words.lines[0], spots, color, taken);
}

/**
 * @param {Frame} f
 * @param {HbarPlot} plot
 */
export function hbar(f, plot) {
  const color = onlyColor(plot, f.theme);
  let top = f.y(plot.y + plot.height / 2),
    bottom = f.y(plot.y - plot.height / 2);
  if (!(top === top && bottom === bottom) || !visible(color) || bottom < 0 || top > f.height)
    return;
  const start = plot.offset * f.width,
    long = plot.width * f.width;
  const left = plot.side === "right" ? f.width - start - long : start,
    right = Math.min(left + long, f.width);
  top = Math.max(top, 0);
  bottom = Math.min(bottom, f.height);
  f.ctx.fillStyle = color;
  f.ctx.fillRect(Math.max(left, 0), top, right - Math.max(left, 0), Math.max(bottom - top, 0.5));
}
/**
 * @param {Frame} f
 * @param {DotPlot} plot
 */
export function dots(f, plot) {
  const { ctx } = f;
  const { palette, code } = painter(plot.color, f.theme, () => true);
  const crowded = f.step < 1.5;
  let ink = "";
  for (let i = 0; i < plot.x.length; i++) {
    const bar = plot.x[i];
    if (bar < f.first - 2 || bar > f.last + 2) continue;
    const y = f.y(plot.y[i]);
    const color = palette[code(i)];
    if (!(y >= -50 && y <= f.height + 50) || !visible(color)) continue;
    const radius = Math.min(Math.max(plot.size[i], 0.5), 200) / 2 + 0.5;
    if (color !== ink) ctx.fillStyle = ink = color;
    if (crowded && radius < 3) {
      ctx.fillRect(f.x(bar) - radius, y - radius, 2 * radius, 2 * radius);
      continue;
    }
    ctx.beginPath();
    ctx.arc(f.x(bar), y, radius, 0, 7);
    ctx.fill();
  }
}

/**
 * @param {Frame} f
 * @param {DivlinePlot} p
 */
export function divline(f, p) {
  straight(f, f.x(p.x1), f.y(p.y1), f.x(p.x2), f.y(p.y2), onlyColor(p, f.theme), 1.75, p.style);
}
/**
 * A rectangle for each stretch of bars of one colour; one colour alone fills the pane.
 * @param {Frame} f
 * @param {BackgroundPlot} plot
 */
export function background(f, plot) {
  const { ctx } = f;
  if (typeof plot.color === "string") {
    if (!visible(plot.color)) return;
    ctx.fillStyle = plot.color;
    ctx.fillRect(0, 0, f.width, f.height);
    return;
  }
  const { codes, palette } = plot.color;
  const last = Math.min(f.last, codes.length - 1);
  for (let i = Math.max(0, f.first); i <= last;) {
    let end = i;
    while (end + 1 <= last && codes[end + 1] === codes[i]) end++;
    const color = palette[codes[i]];
    if (visible(color)) {
      const left = f.snap(f.x(i - 0.5));
      ctx.fillStyle = color;
      ctx.fillRect(left, 0, f.snap(f.x(end + 0.5)) - left, f.height);
    }
    i = end + 1;
  }
}

/** @type {Record<string, (f: Frame, plot: any) => void>} */
export const DRAW = {
  line,
  fill,
  hline,
  hbar,
  divline,
  dot: dots,
  background,
  bars: (/** @type {Frame} */ f, /** @type {any} */ p) =>
    columnsOf(
      f,
      p.values,
      p.base,
      painter(p.color, f.theme, (/** @type {number} */ i) => !(p.values[i] < p.base)),
    ),
  candles: drawCandles,
};
export const LAYERS = [
  "background",
  "fill",
  "hbar",
  "bars",
  "price",
  "candles",
  "hline",
  "line",
  "divline",
  "dot",
];
