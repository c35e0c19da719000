// Straight lines, polylines, and fills between lines.
import { visible } from "./colors.js";
import { stroke } from "./frame.js";
/**
 * @param {Frame} f
 * @param {number} x
 * @param {number} y
 * @param {number} toX
 * @param {number} toY
 * @param {boolean} before
 * @param {boolean} after
 */
export function cut(f, x, y, toX, toY, before, after) {
  const dx = toX - x,
    dy = toY - y;
  let low = before ? -Infinity : 0,
    high = after ? Infinity : 1;
  if (![x, y, dx, dy].every(Number.isFinite) || (dx === 0 && dy === 0 && (before || after)))
    return null;
  for (const [speed, room] of [
    [-dx, x],
    [dx, f.width - x],
    [-dy, y],
    [dy, f.height - y],
  ]) {
    if (speed === 0) {
      if (room < 0) return null;
    } else if (speed < 0) low = Math.max(low, room / speed);
    else high = Math.min(high, room / speed);
  }
  return low > high ? null : [x + low * dx, y + low * dy, x + high * dx, y + high * dy, low, high];
}
/**
 * @param {Frame} f
 * @param {number} ax
 * @param {number} ay
 * @param {number} bx
 * @param {number} by
 * @param {string | null} color
 * @param {number} width
 */
export function straight(f, ax, ay, bx, by, color, width, style = "solid", extend = "none") {
  if (!visible(color) || width <= 0) return;
  width = Math.min(width, 64);
  const before = extend === "left" || extend === "both",
    after = extend === "right" || extend === "both";
  const seen = cut(f, ax, ay, bx, by, before, after);
  if (!seen) return;
  let [x1, y1, x2, y2, low, high] = seen;
  const { ctx } = f,
    /** @type {number[][]} */
    tips = [];
  /**
   * @param {number} sx
   * @param {number} sy
   * @param {number} tx
   * @param {number} ty
   */
  const head = (sx, sy, tx, ty) => {
    const length = Math.hypot(tx - sx, ty - sy) || 1,
      ux = (tx - sx) / length,
      uy = (ty - sy) / length;
    const long = Math.min(5 + 2.5 * width, Math.max(length, 2)),
      half = long * 0.42,
      hx = tx - ux * long,
      hy = ty - uy * long;
    tips.push([tx, ty, hx - uy * half, hy + ux * half, hx + uy * half, hy - ux * half]);
    return [tx - ux * long * 0.8, ty - uy * long * 0.8];
  };
  if ((style === "arrow_left" || style === "arrow_both") && !before && low === 0)
    [x1, y1] = head(bx, by, ax, ay);
  if ((style === "arrow_right" || style === "arrow_both") && !after && high === 1)
    [x2, y2] = head(ax, ay, bx, by);
  const odd = Math.round(width) % 2 ? 0.5 : 0;
  if (x1 === x2 && Math.abs(y1 - y2) >= 1) x1 = x2 = Math.floor(x1) + odd;
  else if (y1 === y2 && Math.abs(x1 - x2) >= 1) y1 = y2 = Math.floor(y1) + odd;
  stroke(
    ctx,
    color,
    Math.max(width, 1),
    style === "dashed" || style === "dotted" ? style : "solid",
  );
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
  ctx.fillStyle = color;
  for (const t of tips) {
    ctx.beginPath();
    ctx.moveTo(t[0], t[1]);
    ctx.lineTo(t[2], t[3]);
    ctx.lineTo(t[4], t[5]);
    ctx.fill();
  }
}

/**
 * A line through many points, which may be curved, closed and filled.
 * @param {Frame} f
 * @param {DrawnPolyline} drawn
 */
export function polyline(f, drawn) {
  const points = drawn.points.map((point) => /** @type {Point} */ ([f.x(point.bar), f.y(point.y)]));
  if (points.length < 2) return;
  const { ctx } = f;
  const path = new Path2D();
  path.moveTo(...points[0]);
  if (drawn.curved) curve(path, points, drawn.closed);
  else for (const point of points.slice(1)) path.lineTo(...point);
  if (drawn.closed) path.closePath();
  if (visible(drawn.fill_color)) {
    ctx.fillStyle = drawn.fill_color;
    ctx.fill(path);
  }
  if (visible(drawn.line_color) && drawn.line_width) {
    stroke(ctx, drawn.line_color, drawn.line_width, drawn.line_style);
    ctx.stroke(path);
  }
}

/**
 * @param {Path2D} path
 * @param {Point[]} points
 * @param {boolean} closed
 */
function curve(path, points, closed) {
  const count = points.length;
  /** @param {number} i */
  const at = (i) =>
    closed ? points[(i + count) % count] : points[Math.min(Math.max(i, 0), count - 1)];
  for (let i = 0; i < count - 1 + (closed ? 1 : 0); i++) {
    const [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    path.bezierCurveTo(
      b[0] + (c[0] - a[0]) / 6,
      b[1] + (c[1] - a[1]) / 6,
      c[0] - (d[0] - b[0]) / 6,
      c[1] - (d[1] - b[1]) / 6,
      c[0],
      c[1],
    );
  }
}

/**
 * The area between two lines, extended as the lines are.
 * @param {Frame} f
 * @param {Linefill} linefill
 */
export function linefill(f, { one, other, color }) {
  const ends = [one, other].map((line) => endsOf(f, line));
  if (!visible(color) || !ends[0] || !ends[1]) return;
  const { ctx } = f;
  const corners = [...ends[0], ...ends[1].reverse()];
  ctx.fillStyle = color;
  ctx.beginPath();
  corners.forEach(([x, y]) => ctx.lineTo(x, y));
  ctx.fill();
}

/**
 * @param {Frame} f
 * @param {DrawnLine} line
 */
function endsOf(f, line) {
  const [one, other] = [f.clock.bar(line.x1), f.clock.bar(line.x2)];
  if (one === null || other === null || line.y1 === null || line.y2 === null) return null;
  /** @type {Point} */
  const first = [f.x(one), f.y(line.y1)];
  /** @type {Point} */
  const second = [f.x(other), f.y(line.y2)];
  const before = line.extend === "left" || line.extend === "both";
  const after = line.extend === "right" || line.extend === "both";
  const start = before ? extend(f, second, first) : first;
  const end = after ? extend(f, first, second) : second;
  return start[0] <= end[0] ? [start, end] : [end, start];
}

/**
 * Where the line from `start` through `end` has left the pane at a side.
 * @param {Frame} f
 * @param {Point} start
 * @param {Point} end
 */
function extend(f, start, end) {
  const dx = end[0] - start[0];
  const dy = end[1] - start[1];
  if (!dx && !dy) return end;
  const margin = 50;
  const turns = dx
    ? ((dx > 0 ? f.width + margin : -margin) - end[0]) / dx
    : ((dy > 0 ? f.height + margin : -margin) - end[1]) / dy;
  return [end[0] + dx * Math.max(turns, 0), end[1] + dy * Math.max(turns, 0)];
}
