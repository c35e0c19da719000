// Pine, recognised where it is pasted: it is another language, and much of it has a name here.
import { el, icon } from "./dom.js";

/** @type {[RegExp, string, string][]} */
const NAMES = [
  [/\bta\.(sma|ema|rma|wma|rsi|atr|stdev|highest|lowest|crossover|crossunder|macd|stoch)\b/, "ta.…", "ta.… – the same names, on ohlcv.close instead of close"],
  [/\b(open|high|low|close|volume|hl2|hlc3|ohlc4)\b/, "close, high, …", "ohlcv.close, ohlcv.high, …"],
  [/\binput(\.\w+)?\(/, "input.int(…)", 'PARAMS = [{"name": …, "type": "int"}], read as params["…"]'],
  [/\bplot\(/, "plot(…)", "chart.line(…)"],
  [/\bplotshape\(/, "plotshape(…)", "chart.shape(…)"],
  [/\bhline\(/, "hline(…)", "chart.hline(…)"],
  [/\blabel\.new\(/, "label.new(…)", "chart.new_label(…)"],
  [/\bline\.new\(/, "line.new(…)", "chart.new_line(…)"],
  [/\bbox\.new\(/, "box.new(…)", "chart.new_box(…)"],
  [/\bindicator\(|\bstudy\(/, "indicator(…)", 'META = {"title": …, "overlay": True}'],
];

/** @param {string} text */
export const looksLikePine = (text) =>
  /^\s*\/\/\s*@version\s*=/m.test(text) || /^\s*(indicator|strategy|study|library)\s*\(/m.test(text);

/** What stands above the problems of a Pine script, with the names that it uses. */
export function pineNotice() {
  return el(
    "li",
    { class: "notice", "data-key": "pine" },
    icon("warn"),
    el("p", {}, "This is Pine. chartpact has a language of its own, close to Python. "),
    el(
      "dl",
      { class: "typed" },
      ...NAMES.flatMap(([, theirs, ours]) => [el("dt", {}, theirs), el("dd", {}, ours)]),
    ),
    el("a", { class: "link", href: "/docs/language", target: "_blank", rel: "noopener" }, "Coming from Pine"),
  );
}
