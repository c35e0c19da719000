// Bundles what the web page takes from others, with versions from the lock file in the names, and the
// chart as an MCP App, which is one file with all that it needs.
// Usage: node build.mjs FOLDER, or node build.mjs --check FOLDER to compare it with what is there.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compress } from "wawoff2";

const here = dirname(fileURLToPath(import.meta.url));
const isCheck = process.argv[2] === "--check";
const out = resolve(process.argv.at(-1));
process.chdir(here);

const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
const versionOf = (name) => lock.packages[`node_modules/${name}`].version;
const manifest = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));

const BUNDLES = { "lightweight-charts": "lightweight-charts", codemirror: "@codemirror/view" };
// Packages that say their licence in package.json alone.
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN
NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,
WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;
const WITHOUT_FILE = { "fancy-canvas": `MIT License\n\nCopyright (c) the authors of fancy-canvas\n\n${MIT}` };
const NOTICES = {
  "lightweight-charts":
    "TradingView Lightweight Charts™\nCopyright (c) 2025 TradingView, Inc. https://www.tradingview.com/\n",
};

if (!isCheck) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
}
const hashes = {};
const bundled = new Set();
for (const [name, named] of Object.entries(BUNDLES)) {
  const result = await bundle(`bundles/${name}.js`, "esm");
  const packages = Object.keys(result.metafile.inputs)
    .map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1])
    .filter(Boolean);
  packages.forEach((one) => bundled.add(one));
  const parts = [...new Set(packages)]
    .sort()
    .map((one) => `${one} ${versionOf(one)} (${manifest(one).license})`);
  const banner = `/* ${parts.join(", ")}; see THIRD_PARTY_NOTICES.txt */\n// @ts-nocheck\n`;
  write(`${name}-${versionOf(named)}.js`, banner + result.outputFiles[0].text);
}
const notices = [...bundled].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(folder, file), "utf8") : WITHOUT_FILE[name];
  if (!text) throw new Error(`${name} has no licence file: add its licence to build.mjs`);
  const notice = NOTICES[name] ? `${NOTICES[name]}\n` : "";
  return `== ${name} ${versionOf(name)} ==\n\n${notice}${text.trim()}\n`;
});
write("THIRD_PARTY_NOTICES.txt", notices.join("\n"));

// The fonts of the pictures, as browsers want them.
const fonts = "../src/chartpact/render/fonts";
for (const file of readdirSync(fonts).filter((name) => name.endsWith(".ttf")))
  write(file.replace(".ttf", ".woff2"), Buffer.from(await compress(readFileSync(join(fonts, file)))));

// The app has the page's own modules, which take the bundles above.
const app = await bundle("../src/chartpact/server/static/js/app.js", "iife");
write("chart-app.js", app.outputFiles[0].text);
const lines = Object.entries(hashes).map(([name, hash]) => `${hash}  ${name}\n`);
if (!isCheck) writeFileSync(join(out, "SHA256SUMS"), lines.sort().join(""));

function bundle(entry, format) {
  return build({
    entryPoints: [entry],
    absWorkingDir: here, // esbuild takes the folder of its import otherwise
    bundle: true,
    format,
    minify: true,
    target: ["es2022"],
    legalComments: "none",
    charset: "utf8",
    write: false,
    metafile: true,
    define: { "process.env.NODE_ENV": '"production"' },
  });
}

function write(name, text) {
  if (!isCheck) writeFileSync(join(out, name), text);
  else if (!readFileSync(join(out, name)).equals(Buffer.from(text))) {
    console.error(`${name} is not what its sources make: run make web`);
    process.exit(1);
  }
  hashes[name] = createHash("sha256").update(text).digest("hex");
}
