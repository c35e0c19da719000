// Colours: the themes of a chart, transparency, contrast.
export { THEMES } from "./facts.js";

/** @param {number} n */
const hex = (n) =>
  Math.max(0, Math.min(255, Math.round(n)))
    .toString(16)
    .padStart(2, "0");
/** @param {string} c */
export const rgb = (c) => [
  parseInt(c.slice(1, 3), 16),
  parseInt(c.slice(3, 5), 16),
  parseInt(c.slice(5, 7), 16),
];
/** @param {string} c */
export const opacity = (c) => (c.length === 9 ? parseInt(c.slice(7, 9), 16) / 255 : 1);
/**
 * Whether a colour leaves any ink.
 * @param {string | null | undefined} c
 * @returns {c is string}
 */
export const visible = (c) => !!c && (c.length === 7 || !c.endsWith("00"));
/**
 * @param {string} c
 * @param {number} share
 */
export const faded = (c, share) =>
  c.slice(0, 7) + hex(255 * opacity(c) * Math.min(Math.max(share, 0), 1));
/**
 * @param {string} c
 * @param {string} ground
 */
export const over = (c, ground) => {
  const s = opacity(c),
    a = rgb(c),
    b = rgb(ground);
  return "#" + a.map((v, i) => hex(s * v + (1 - s) * b[i])).join("");
};
/** @param {string} c */
const luminance = (c) => {
  const [r, g, b] = rgb(c).map((v) => {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
/**
 * @param {string} c
 * @param {string} g
 */
export const contrast = (c, g) => {
  const [a, b] = [luminance(c), luminance(g)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
};
const memo = new Map();
/**
 * @param {string} color
 * @param {string} ground
 */
export function legible(color, ground, least = 3) {
  const key = color + ground + least;
  let known = memo.get(key);
  if (known) return known;
  const solid = over(color, ground),
    target = luminance(ground) < 0.18 ? "#ffffff" : "#000000";
  known = target;
  for (let share = 0; share <= 10; share++) {
    const mixed = over(target + hex(25.5 * share), solid);
    if (contrast(mixed, ground) >= least) {
      known = mixed;
      break;
    }
  }
  memo.set(key, known);
  return known;
}
/**
 * @param {string} color
 * @param {string} background
 * @param {...(string | null | undefined)} grounds
 */
export function readable(color, background, ...grounds) {
  let under = background;
  for (const g of grounds) if (g) under = over(g, under);
  const last = grounds.at(-1);
  return last && opacity(last) > 0.9 ? color : legible(color, under, 4);
}
/** @param {string} ground */
export const ink = (ground) => (contrast("#ffffff", ground) >= 3 ? "#ffffff" : "#131722");
