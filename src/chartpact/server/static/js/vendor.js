// The one place that names the version of the charts' library.
export * from "../vendor/lightweight-charts-5.2.1.js";
