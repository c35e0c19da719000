// Marks on the chart: the objects that a contract was read from, and the one that is chosen.
import { placeBox } from "./boxes.js";
import { faded } from "./colors.js";
import { pointOf } from "./labels.js";
import { straight } from "./lines.js";
import { cellArea, hasInk } from "./tables.js";
import { anchorsOf } from "./wording.js";

const PLACES = ["x", "x1", "x2", "left", "right"];
const RING = 7; // pixels around an anchor

/**
 * A record whose anchors name times alone: bars of another chart are numbered differently.
 * @param {DrawnRecord} record
 */
function byTime(record) {
  const placed = { ...record };
  for (const name of PLACES)
    if (record[name] && typeof record[name] === "object") placed[name] = { time: record[name].time };
  return placed;
}

export class Highlights {
  /** @param {ChartView} view */
  constructor(view) {
    this.view = view;
    /** @type {HighlightMark[]} */
    this.marks = [];
    /** @type {HighlightMark | null} */
    this.chosen = null;
    this.indicator = "";
  }

  /**
   * Marks objects, each {channel, object, violations}, that an indicator of that name drew.
   * @param {Matched[]} objects
   * @param {string} indicator
   * @param {boolean} isOwnChart
   */
  show(objects, indicator, isOwnChart) {
    this.indicator = indicator;
    this.marks = objects.map((/** @type {Matched} */ one) => ({
      channel: one.channel,
      record: isOwnChart ? one.object : byTime(one.object),
      isWrong: one.violations.length > 0,
      source: one,
    }));
    this.chosen = null;
    this.view.redraw();
  }

  clear() {
    this.marks = [];
    this.chosen = null;
    this.view.redraw();
  }

  /**
   * Marks one object more strongly, and moves the view to where it lies.
   * @param {Matched} source
   */
  choose(source) {
    this.chosen = this.marks.find((/** @type {HighlightMark} */ mark) => mark.source === source) ?? null;
    if (this.chosen) this.reveal(this.chosen.record);
    this.view.redraw();
    return this.chosen !== null;
  }

  /** @param {DrawnRecord} record */
  reveal(record) {
    const { view } = this;
    const bars = anchorsOf(record)
      .map((place) => view.clock.bar(place))
      .filter((bar) => bar !== null);
    if (!bars.length) return;
    const scale = view.chart.timeScale();
    const { from, to } = view.range;
    const [first, last] = [Math.min(...bars), Math.max(...bars)];
    if (first >= from && last <= to) return;
    const width = Math.max(to - from, (last - first) * 1.2);
    const middle = last - first < width ? (first + last) / 2 : first + width / 2;
    scale.setVisibleLogicalRange({ from: middle - width / 2, to: middle + width / 2 });
  }

  /**
   * Whether the marks stand on a pane: that of the indicator, or the prices.
   * @param {Pane} pane
   * @param {DrawnRecord} drawnRecord
   */
  isOn(pane, { force_overlay: forced }) {
    /** @param {Pane} pane */
    const has = ({ indicators }) => indicators.some((/** @type {any} */ { name }) => name === this.indicator);
    const owner = forced ? null : this.view.panes.find(has);
    return owner ? pane === owner : pane.kind === "price";
  }

  /**
   * @param {Frame} frame
   * @param {Pane} pane
   * @param {Placed} placed
   */
  draw(frame, pane, placed) {
    for (const mark of this.marks)
      // A table of many cells is marked by those that are seen, and lightly: what lies under it stays.
      if (mark !== this.chosen && this.isOn(pane, mark.record)) this.drawMark(frame, mark, placed);
    const { chosen } = this;
    if (chosen && this.isOn(pane, chosen.record)) this.drawMark(frame, chosen, placed, true);
  }

  /**
   * @param {Frame} frame
   * @param {HighlightMark} mark
   * @param {Placed} placed
   */
  drawMark(frame, { channel, record, isWrong }, placed, isChosen = false) {
    const { ctx, theme } = frame;
    const color = isWrong ? theme.warning : theme.line;
    const stroke = isChosen ? color : faded(color, isWrong ? 0.9 : 0.55);
    ctx.save();
    ctx.setLineDash([]);
    ctx.lineWidth = isChosen ? 2.5 : 1.25;
    ctx.strokeStyle = stroke;
    ctx.fillStyle = faded(color, isChosen ? 0.2 : 0.08);
    /**
     * @param {Area} area
     * @param {number} room
     */
    const outline = (area, room) => {
      const [x, y] = [area.left - room, area.top - room];
      const [width, height] = [area.right - area.left + 2 * room, area.bottom - area.top + 2 * room];
      ctx.beginPath();
      ctx.roundRect(x, y, width, height, 3);
      ctx.fill();
      ctx.stroke();
    };
    if (channel === "boxes") {
      const area = placeBox(frame, /** @type {DrawnBox} */ (record));
      if (area) outline(area, 1.5);
    } else if (channel === "lines") {
      const bars = [record.x1, record.x2].map((place) => place && frame.clock.bar(place));
      if (bars.every(Number.isFinite) && Number.isFinite(record.y1) && Number.isFinite(record.y2)) {
        const [left, top, right, bottom] = [frame.x(bars[0]), frame.y(record.y1), frame.x(bars[1]), frame.y(record.y2)];
        const shade = faded(color, isChosen ? 0.55 : 0.28);
        straight(frame, left, top, right, bottom, shade, isChosen ? 9 : 6, "solid", record.extend ?? "none");
      }
    } else if (channel === "labels") {
      const seen = placed.labels.find((/** @type {PlacedLabel} */ { label }) => isSame(label, record));
      const point = seen ? [seen.x, seen.y] : pointOf(frame, /** @type {any} */ ({ yloc: "price", ...record }));
      if (seen?.box && !seen.mute) outline(seen.box, 2);
      else if (point) {
        ctx.beginPath();
        ctx.arc(point[0], point[1], RING, 0, 2 * Math.PI);
        ctx.fill();
        ctx.stroke();
      }
    } else if (channel === "cells") {
      const table = placed.tables.find(({ grid }) => grid.table.id === record.table);
      const cell = table && cellArea(table, record.column, record.row);
      if (cell) outline(cell, 0);
    } else if (channel === "tables") {
      const table = placed.tables.find(({ grid }) => grid.table.id === record.id);
      if (table && hasInk(table.grid.table)) outline(table.spot, 2);
    }
    ctx.restore();
  }
}

/**
 * @param {DrawnLabel} label
 * @param {DrawnRecord} record
 */
const isSame = (label, record) => label.id === record.id && label.text === record.text;
