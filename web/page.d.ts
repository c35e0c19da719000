// What the page's modules hand to each other. Nothing of this is shipped: the compiler alone reads it.

type Color = string; // #rrggbb or #rrggbbaa
type Channel = "labels" | "lines" | "boxes" | "cells" | "tables" | "polylines" | "linefills";
type Span = [low: number, high: number];

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Theme {
  name: "dark" | "light";
  background: Color;
  grid: Color;
  frame: Color;
  text: Color;
  muted: Color;
  up: Color;
  down: Color;
  volumeUp: Color;
  volumeDown: Color;
  line: Color;
  warning: Color;
}

interface Bars {
  time: Float64Array;
  open: Float64Array;
  high: Float64Array;
  low: Float64Array;
  close: Float64Array;
  volume: Float64Array;
  length: number;
}

/** A place on the time axis: a bar's number, or a time in UTC ms. */
interface Anchor {
  bar?: number | null;
  time?: number | null;
}

// --------------------------------------------------------------------------------------- plots

/** A colour for each bar: the colours, and which of them each bar has. Code 0 is none. */
interface CodedPaint {
  palette: (Color | null)[];
  codes: Uint16Array;
}
type Paint = Color | CodedPaint;

interface LinePlot {
  kind: "line";
  title: string;
  values: Float64Array;
  color: Paint;
  width: number;
  style: string;
}
interface BarsPlot {
  kind: "bars";
  title: string;
  values: Float64Array;
  base: number;
  color: Paint;
}
interface FillPlot {
  kind: "fill";
  a: Float64Array;
  b: Float64Array;
  color: Paint;
  alpha: number;
}
interface CandlesPlot extends Prices {
  kind: "candles";
  title: string;
  color: Paint;
  wick_color: Paint | null;
  border_color: Paint | null;
}
interface DotPlot {
  kind: "dot";
  x: Float64Array;
  y: Float64Array;
  size: Float64Array;
  color: Paint;
  label: (string | null)[];
}
interface ShapePlot {
  kind: "shape";
  x: Float64Array;
  y: Float64Array;
  text: (string | null)[];
  color: Paint;
  text_color: Color | null;
  shape: string;
  location: "abovebar" | "belowbar" | "top" | "bottom" | "absolute";
  size: string;
  lines?: number; // of its longest text, counted when it is first drawn
}
interface HlinePlot {
  kind: "hline";
  title: string;
  y: number;
  color: Color;
  style: string;
}
interface HbarPlot {
  kind: "hbar";
  y: number;
  height: number;
  width: number;
  offset: number;
  side: "left" | "right";
  color: Color;
}
interface DivlinePlot {
  kind: "divline";
  title: string;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
  color: Color;
  style: string;
}
interface BackgroundPlot {
  kind: "background";
  color: Paint;
}
interface BarColorPlot {
  kind: "bar_color";
  color: Paint;
}
type Plot =
  | LinePlot
  | BarsPlot
  | FillPlot
  | CandlesPlot
  | DotPlot
  | ShapePlot
  | HlinePlot
  | HbarPlot
  | DivlinePlot
  | BackgroundPlot
  | BarColorPlot;

interface Prices {
  open: Float64Array;
  high: Float64Array;
  low: Float64Array;
  close: Float64Array;
}

// ------------------------------------------------------------------------------------- objects

interface DrawnLabel {
  id: number;
  x: Anchor;
  y: number | null;
  yloc: "price" | "abovebar" | "belowbar";
  text: string;
  style: string;
  size: string | number;
  color: Color | null;
  text_color: Color | null;
  text_align: CanvasTextAlign;
  text_formatting: string;
  text_font_family: string;
  force_overlay?: boolean;
}
interface DrawnLine {
  id: number;
  x1: Anchor;
  y1: number | null;
  x2: Anchor;
  y2: number | null;
  color: Color | null;
  width: number;
  style: string;
  extend: string;
  force_overlay?: boolean;
}
interface DrawnBox {
  id: number;
  left: Anchor;
  top: number | null;
  right: Anchor;
  bottom: number | null;
  extend: string;
  bgcolor: Color | null;
  border_color: Color | null;
  border_width: number;
  border_style: string;
  text: string;
  text_color: Color | null;
  text_size: string | number;
  text_halign: string;
  text_valign: string;
  text_wrap: string;
  text_formatting: string;
  text_font_family: string;
  force_overlay?: boolean;
}
interface TableCell {
  column: number;
  row: number;
  end_column?: number | null;
  end_row?: number | null;
  text: string;
  text_color: Color | null;
  text_halign: string;
  text_valign: "top" | "center" | "bottom";
  text_formatting: string;
  text_font_family: string;
  bgcolor: Color | null;
  size: string | number;
  width: number;
  height: number;
}
interface DrawnTable {
  id: number;
  position: string;
  columns: number;
  rows: number;
  cells: TableCell[];
  bgcolor: Color | null;
  border_color: Color | null;
  border_width: number;
  frame_color: Color | null;
  frame_width: number;
  force_overlay?: boolean;
}
interface DrawnPolyline {
  id: number;
  points: { bar: number; y: number }[];
  curved: boolean;
  closed: boolean;
  line_color: Color | null;
  line_width: number;
  line_style: string;
  fill_color: Color | null;
  force_overlay?: boolean;
}
interface DrawnFill {
  line1: number;
  line2: number;
  color: Color | null;
}
interface Linefill {
  one: DrawnLine;
  other: DrawnLine;
  color: Color | null;
}
/** Any object that was drawn, as a contract's reading names it. */
type DrawnRecord = Record<string, any>;

interface Objects {
  labels: DrawnLabel[];
  lines: DrawnLine[];
  boxes: DrawnBox[];
  tables: DrawnTable[];
  polylines: DrawnPolyline[];
}

// -------------------------------------------------------------------------------------- charts

interface Scene extends Objects {
  plots: Plot[];
  y_range: Span | null;
  label: string;
  linefills: DrawnFill[];
}

interface Problem {
  kind: string;
  message: string;
  hint?: string;
  line?: number | null;
  column?: number | null;
  path?: string;
  step?: string;
}

type Params = Record<string, any>;

/** An indicator that was drawn, or its error. */
interface Drawn {
  id: string;
  name: string;
  params: Params;
  title: string;
  steps?: number;
  cpu_ms?: number;
  error?: Problem | null;
  overlay: boolean;
  legend: string;
  scene?: Scene;
  hidden?: boolean;
}

interface ChartData {
  first: number;
  from: number; // the first bar whose values are known
  count: number;
  symbol: string;
  timeframe: string;
  synthetic: boolean;
  source: string;
  tick_size: number | null;
  trend: string;
  bars: Bars;
  indicators: Drawn[];
  order?: number[]; // where each asked indicator stands among them; -1: it is hidden
}

/** An indicator as it is asked for. */
interface Asked {
  name: string;
  params: Params;
  hidden: boolean;
  styles?: Record<string, PlotStyle>; // by the titles of its plots
}
interface PlotStyle {
  color?: Color;
  width?: number;
  style?: string;
  hidden?: boolean;
}
/** How the prices are drawn. */
interface Look {
  scale?: "linear" | "log" | "percent";
  candles?: "candles" | "hollow" | "bars" | "line" | "area" | "heikin";
  noVolume?: boolean;
  heights?: Record<string, number>; // of panes that were dragged, by what they show
  compared?: string[];
}

interface ChartState {
  symbol: string;
  timeframe: string | null;
  zone: string;
  indicators: Asked[];
  to?: number | null; // replayed: the bars after this moment are not there
  look?: Look;
  view?: [from: number, to: number] | null; // the times in view, where a link says so
}
/** A bar that has not closed. */
interface Forming {
  time: number;
  open: number;
  high: number;
  low: number;
  close: number;
}
/** Another symbol on the chart, by the bars of the first. */
interface Compared {
  symbol: string;
  color: Color;
  close: Float64Array;
}

interface Pane extends Objects {
  kind: "price" | "volume" | "panel" | "error";
  scenes: Scene[];
  indicators: Drawn[];
  linefills: Linefill[];
  failed?: Drawn;
}

type Point = [x: number, y: number];

interface Words {
  lines: string[];
  size: number;
  font: string;
  width: number;
  height: number;
}

interface PlacedLabel {
  label: DrawnLabel;
  x: number;
  y: number;
  box: Area;
  words: Words;
  mute?: boolean;
  moved?: boolean;
}

interface Grid {
  table: DrawnTable;
  cells: { cell: TableCell; words: Words; c2: number; r2: number }[];
  columns: Float64Array;
  rows: Float64Array;
  line: number;
  frame: number;
  width: number;
  height: number;
}
interface PlacedTable {
  grid: Grid;
  spot: Area;
}
interface Placed {
  labels: PlacedLabel[];
  tables: PlacedTable[];
}

/** The geometry of a picture that a chart takes over, for comparisons. */
interface ExactPane {
  top: number;
  bottom: number;
  low: number;
  high: number;
  from: number;
  to: number;
}
interface Exact {
  panes: ExactPane[];
  shift: number;
}

// ------------------------------------------------------------------------- what the server says

interface Param {
  name: string;
  type: string;
  default: any;
  min?: number | null;
  max?: number | null;
  step?: number;
  options?: any[] | null;
  desc?: string;
  tooltip?: string;
  group?: string;
  inline?: string;
}
interface Known {
  name: string;
  title: string;
  category: string;
  source: "builtin" | "user" | "pact";
  aliases?: string[];
  description?: string;
  params?: Param[];
  isUnsaved?: boolean;
}
interface SymbolRow {
  symbol: string;
  timeframe: string | null;
  source: string;
  synthetic: boolean;
}
interface Me {
  user: string;
  accounts: boolean;
  scripts: boolean;
  version: string;
  samples: string[];
  tradingview: string[];
}
interface Violation {
  kind: string;
  message: string;
  path?: string;
  field?: string;
  object?: DrawnRecord | DrawnRecord[];
}
interface Track {
  machine: string;
  key: any[];
  state: string;
  since?: number | null;
}
interface Reading {
  contract: string;
  as_of?: number | null;
  state?: any;
  tracks?: Track[];
  violations?: Violation[];
}
interface Matched {
  channel: Channel;
  number: number;
  object: DrawnRecord;
  elements: string[];
  used: boolean;
  part: string | null;
  fields: Record<string, any>;
  violations: number[];
}
interface Follow {
  id?: number; // undefined: a contract on the chart that nobody follows
  contract: string;
  symbol: string;
  timeframe: string | null;
  params?: Params;
  config?: Params;
  profile?: string | null;
  every?: number;
  created_at?: number;
  read_at?: number | null;
  paused?: boolean;
  error?: string | null;
  reading?: Reading | null;
  states?: Track[];
  changes?: any[];
}
interface ReferenceEntry {
  name: string;
  signature: string;
  doc: string;
  example: string;
}
interface Stroke {
  path: string;
  color: Color;
}

/** The elements of the page that are more than an HTMLElement, by their ids. */
interface ElementById {
  account: HTMLAnchorElement;
  bars: HTMLDialogElement;
  "bars-form": HTMLFormElement;
  budget: HTMLMeterElement;
  command: HTMLDialogElement;
  confirm: HTMLDialogElement;
  "confirm-yes": HTMLButtonElement;
  "contract-pick": HTMLSelectElement;
  "contract-source": HTMLSelectElement;
  "draft-dialog": HTMLDialogElement;
  "draft-form": HTMLFormElement;
  "draft-source": HTMLSelectElement;
  "draft-study": HTMLInputElement;
  find: HTMLInputElement;
  "follow-config": HTMLTextAreaElement;
  "follow-contract": HTMLSelectElement;
  "follow-dialog": HTMLDialogElement;
  "follow-every": HTMLSelectElement;
  "follow-source": HTMLSelectElement;
  "follow-submit": HTMLButtonElement;
  "follow-timeframe": HTMLInputElement;
  history: HTMLDialogElement;
  "keep-bars": HTMLButtonElement;
  "new-name": HTMLInputElement;
  "new-script": HTMLButtonElement;
  picture: HTMLAnchorElement;
  prove: HTMLButtonElement;
  "reference-find": HTMLInputElement;
  rename: HTMLFormElement;
  restore: HTMLButtonElement;
  run: HTMLButtonElement;
  say: HTMLInputElement;
  scripts: HTMLDialogElement;
  "sign-in-link": HTMLAnchorElement;
  "signed-out": HTMLDialogElement;
}

interface Candle {
  first: number;
  last: number;
  rising: boolean;
  x: number;
  high: number;
  low: number;
  top: number;
  bottom: number;
}
/** A plot's colours, and which of them a bar has. */
interface Painter {
  palette: (Color | null)[];
  code: (bar: number) => number;
}
interface Shapes {
  plot: ShapePlot;
  way: number;
  absolute: boolean;
  marks: ShapeMark[];
}
interface ShapeMark {
  x: number;
  y: number;
  color: Color;
  text: string | null;
}
/** A last value on an axis. */
interface Tag {
  value: number;
  text: string;
  ground: Color;
  ink: Color;
  first: boolean;
}
interface HighlightMark {
  channel: Channel;
  record: DrawnRecord;
  isWrong: boolean;
  source: Matched;
}
type Clock = import("../src/chartpact/server/static/js/timescale.js").Clock;
type Frame = import("../src/chartpact/server/static/js/frame.js").Frame;
type Taken = import("../src/chartpact/server/static/js/texts.js").Taken;
type ChartView = import("../src/chartpact/server/static/js/chartview.js").ChartView;
type Workbench = import("../src/chartpact/server/static/js/workbench.js").Workbench;
type Board = import("../src/chartpact/server/static/js/board.js").Board;

interface Window {
  workbench: Workbench; // for tests and the curious
}
