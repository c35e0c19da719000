// Numbers as people read them.
/** @type {[number, string][]} */
const UNITS = [
  [1e12, "T"],
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "K"],
];

/** @param {number} value */
export function formatCompact(value) {
  const size = Math.abs(value);
  for (const [unit, letter] of UNITS)
    if (size >= unit * 0.9995) return `${+(value / unit).toPrecision(3)}${letter}`.replace("-", "−");
  return String(+value.toPrecision(4)).replace("-", "−");
}

/**
 * The decimals that a step of prices has: 0.25 has two.
 * @param {number} step
 */
export function decimalsOf(step) {
  const text = String(+step.toPrecision(10));
  return text.includes("e-") ? +text.split("e-")[1] : (text.split(".")[1] ?? "").length;
}

const formats = new Map();

/**
 * @param {number} value
 * @param {number} decimals
 */
export function formatNumber(value, decimals) {
  if (value === null || value === undefined || value !== value) return "–";
  if (!formats.has(decimals))
    formats.set(
      decimals,
      new Intl.NumberFormat("en-US", {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      }),
    );
  return formats.get(decimals).format(value).replace("-", "−");
}

/**
 * A value of a panel, with as many decimals as it needs.
 * @param {number} value
 */
export function formatValue(value) {
  const size = Math.abs(value);
  if (size >= 1e5) return formatCompact(value);
  return formatNumber(value, size >= 1000 ? 0 : size < 1 && size > 0 ? 4 : 2);
}
