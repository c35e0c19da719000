// The dialog of versions: those that are kept of a text, what has changed since, and a way back.
import { byId, el, render } from "./dom.js";

/**
 * Shows versions, the newest first, each with a number, a name, a source and its time.
 * `text` is what they are compared with, `saved` the source in force.
 * @param {any[]} versions
 * @param {{ text: string, saved: string | null, language?: any, restore: (version: any) => unknown }} given
 */
export async function showVersions(versions, { text, saved, language, restore }) {
  const { showDiff } = await import("./editor.js"); // it is large, and loaded by who has a text
  /** @param {any} version */
  const choose = (version) => {
    for (const button of byId("version-list").querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset.version === `${version.number}`));
    render(byId("diff"), );
    showDiff(byId("diff"), version.source, text, language);
    byId("restore").onclick = () => restore(version);
    byId("restore").disabled = version.source === saved;
  };
  const rows = versions.map((/** @type {any} */ version) => {
    const when = new Date(version.created_at).toLocaleString("en-GB");
    const button = el(
      "button",
      { type: "button", "data-version": version.number, "aria-pressed": "false", onclick: () => choose(version) },
      el("b", {}, version.name),
      el("small", {}, when),
    );
    return el("li", {}, button);
  });
  render(byId("version-list"), ...rows);
  byId("history").showModal();
  choose(versions[Math.min(1, versions.length - 1)]);
}
