// The parameters of an indicator as controls, by what its schema declares.
import { el, handle } from "./dom.js";

const TIMEFRAMES = ["", "1m", "5m", "15m", "30m", "1h", "2h", "4h", "1D", "1W", "1M"];
const SOURCES = ["open", "high", "low", "close", "hl2", "hlc3", "ohlc4", "hlcc4", "volume"];

/** @param {any} value */
const isColor = (value) => /^#[0-9a-f]{6}([0-9a-f]{2})?$/i.test(value);

/**
 * @param {Param} param
 * @param {any} value
 */
function numberInput(param, value) {
  const step = param.step ?? (param.type === "int" ? 1 : "any");
  const { min, max } = param;
  return el("input", { type: "number", value, min, max, step, required: true });
}

/**
 * @param {any[]} options
 * @param {any} value
 */
function select(options, value) {
  const known = options.some((/** @type {any} */ option) => String(option) === String(value));
  const all = known ? options : [value, ...options];
  return el(
    "select",
    {},
    ...all.map((/** @type {any} */ option) =>
      el(
        "option",
        { value: option, selected: String(option) === String(value) },
        option === "" ? "Chart" : String(option),
      ),
    ),
  );
}

/** @param {any} value */
function timeInput(value) {
  const at = value ? new Date(Number(value)).toISOString().slice(0, 16) : "";
  return el("input", { type: "datetime-local", value: at });
}

// A control for each type, and how its value is read.
/** @type {Record<string, (param: Param, value: any) => any>} */
const CONTROLS = {
  int: numberInput,
  float: numberInput,
  price: numberInput,
  bool: (/** @type {Param} */ _, /** @type {any} */ value) => {
    const checked = value === true || value === "true";
    return el("input", { type: "checkbox", role: "switch", class: "switch", checked });
  },
  choice: (/** @type {Param} */ param, /** @type {any} */ value) => select(param.options ?? [], value),
  timeframe: (/** @type {Param} */ _, /** @type {any} */ value) => select(TIMEFRAMES, value ?? ""),
  source: (/** @type {Param} */ _, /** @type {any} */ value) => select(SOURCES, value),
  color: (/** @type {Param} */ _, /** @type {any} */ value) =>
    isColor(value)
      ? el("input", { type: "color", value: value.slice(0, 7) })
      : el("input", { type: "text", value }),
  session: (/** @type {Param} */ _, /** @type {any} */ value) =>
    el("input", { type: "text", value, placeholder: "0930-1600", spellcheck: "false" }),
  symbol: (/** @type {Param} */ _, /** @type {any} */ value) =>
    el("input", { type: "text", value: value ?? "", placeholder: "its pair", list: "symbols" }),
  time: (/** @type {Param} */ _, /** @type {any} */ value) => timeInput(value),
};

/** @type {Record<string, (input: any) => any>} */
const READ = {
  int: (/** @type {any} */ input) => input.valueAsNumber,
  float: (/** @type {any} */ input) => input.valueAsNumber,
  price: (/** @type {any} */ input) => input.valueAsNumber,
  bool: (/** @type {any} */ input) => input.checked,
  time: (/** @type {any} */ input) => (input.value ? Date.parse(`${input.value}Z`) : null),
};

/**
 * The value of a control; undefined where it is not valid.
 * @param {Param} param
 * @param {any} input
 * @param {boolean} before
 */
function readValue(param, input, before) {
  if (!input.checkValidity()) return undefined;
  if (param.type === "choice")
    return (param.options ?? []).find((/** @type {any} */ option) => String(option) === input.value) ?? input.value;
  if (param.type === "color" && isColor(String(before)) && String(before).length === 9)
    return input.value + String(before).slice(7); // a colour keeps its transparency
  const value = (READ[param.type] ?? ((/** @type {any} */ control) => control.value))(input);
  return Number.isNaN(value) ? undefined : value;
}

/**
 * `wt_channel_length` is "Wt channel length"; what it means stands in the tooltip.
 * @param {Param} param
 */
const labelOf = ({ name }) => {
  const words = name.replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
};

/**
 * @param {Param} param
 * @param {any} value
 * @param {string} id
 * @param {(name: string, value: any) => unknown} change
 */
function control(param, value, id, change) {
  const make = CONTROLS[param.type] ?? ((_, text) => el("input", { type: "text", value: text }));
  const input = make(param, value);
  input.id = id;
  input.dataset.key = param.name;
  input.title = param.tooltip || param.desc || "";
  handle(input, "change", ({ currentTarget }) => {
    const read = readValue(param, currentTarget, value);
    currentTarget.setAttribute("aria-invalid", String(read === undefined));
    if (read !== undefined) change(param.name, read);
    else currentTarget.reportValidity();
  });
  return input;
}

/**
 * Controls for parameters, grouped; those of one `inline` share a line.
 * @param {Param[] | null} params null: they are not known yet
 * @param {Params} values
 * @param {string} prefix
 * @param {(name: string, value: any) => unknown} change
 */
export function paramControls(params, values, prefix, change) {
  const form = el("div", { class: "params" });
  let group = null;
  let line = null;
  for (const param of params ?? []) {
    if ((param.group ?? null) !== group) {
      group = param.group ?? null;
      line = null;
      if (group) form.append(el("h3", { "data-key": group }, group));
    }
    const id = `${prefix}-${param.name}`;
    const input = control(param, values[param.name] ?? param.default, id, change);
    const title = param.tooltip || param.desc || "";
    const label = el("label", { for: id, title, "data-key": `of ${param.name}` }, labelOf(param));
    if (param.inline && line?.dataset.inline === param.inline) {
      line.append(label, input);
      continue;
    }
    const attributes = { class: "param", "data-inline": param.inline, "data-key": param.name };
    line = el("div", attributes, label, input);
    form.append(line);
  }
  if (params && !params.length) form.append(el("p", { class: "quiet" }, "It has no parameters."));
  return form;
}
