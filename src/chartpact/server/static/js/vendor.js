// The charts' library: the one place that names its version.
import * as bundle from "../vendor/lightweight-charts-5.2.1.js";

const library = /** @type {typeof import("bundles/lightweight-charts.js")} */ (
  /** @type {unknown} */ (bundle)
);
export const { createChartEx, CrosshairMode, defaultHorzScaleBehavior, LineSeries } = library;
export const { PriceScaleMode, TickMarkType } = library;
