// Written by docs/generate.py from the code: run `make docs`.

/**
 * What a script may be called.
 * @type {string}
 */
export const SCRIPT_NAME = "[a-z][a-z0-9_]{0,63}";

/**
 * What a run may cost.
 * @type {number}
 */
export const STEPS = 10000000;

/**
 * What the page opens with.
 * @type {{ symbol: string, indicators: string[] }}
 */
export const FIRST_CHART = {
  "symbol": "sample:btc-4h",
  "indicators": [
    "supertrend",
    "cipher_b",
    "rsi"
  ]
};

/**
 * The colours of a chart.
 * @type {Record<string, Theme>}
 */
export const THEMES = {
  "dark": {
    "name": "dark",
    "background": "#131722",
    "grid": "#1f2431",
    "frame": "#2f3441",
    "text": "#d9dce3",
    "muted": "#9a9ea9",
    "up": "#089981",
    "down": "#f23645",
    "volumeUp": "#08998199",
    "volumeDown": "#f2364599",
    "line": "#2962ff",
    "warning": "#ff9800"
  },
  "light": {
    "name": "light",
    "background": "#ffffff",
    "grid": "#eff1f6",
    "frame": "#d6dae3",
    "text": "#131722",
    "muted": "#676b76",
    "up": "#089981",
    "down": "#f23645",
    "volumeUp": "#08998180",
    "volumeDown": "#f2364580",
    "line": "#2962ff",
    "warning": "#c25700"
  }
};

/**
 * The series of each plot that have a value for each bar.
 * @type {Record<string, string[]>}
 */
export const BY_BAR = {
  "line": [
    "values"
  ],
  "bars": [
    "values"
  ],
  "fill": [
    "a",
    "b"
  ],
  "candles": [
    "open",
    "high",
    "low",
    "close"
  ]
};

/**
 * Fields of plots with one colour, or one for each bar.
 * @type {string[]}
 */
export const PAINTS = [
  "color",
  "wick_color",
  "border_color"
];
