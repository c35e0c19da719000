// The editor's library: the one place that names its version.
import * as bundle from "../vendor/codemirror-6.43.15.js";

export const cm = /** @type {typeof import("bundles/codemirror.js")} */ (
  /** @type {unknown} */ (bundle)
);
