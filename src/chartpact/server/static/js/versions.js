// The dialog of versions: those that are kept of a text, what has changed since, and a way back.
import { byId, el } from "./dom.js";

/**
 * Shows versions, the newest first, each with a number, a name, a source and its time.
 * `text` is what they are compared with, `saved` the source in force.
 */
export async function showVersions(versions, { text, saved, language, restore }) {
  const { showDiff } = await import("./editor.js"); // it is large, and loaded by who has a text
  const choose = (version) => {
    for (const row of byId("version-list").children)
      row.firstChild.setAttribute("aria-pressed", String(row.dataset.version === `${version.number}`));
    byId("diff").replaceChildren();
    showDiff(byId("diff"), version.source, text, language);
    byId("restore").onclick = () => restore(version);
    byId("restore").disabled = version.source === saved;
  };
  const rows = versions.map((version) => {
    const when = new Date(version.created_at).toLocaleString("en-GB");
    const button = el(
      "button",
      { type: "button", "aria-pressed": "false", onclick: () => choose(version) },
      el("b", {}, version.name),
      el("small", {}, when),
    );
    return el("li", { "data-version": version.number }, button);
  });
  byId("version-list").replaceChildren(...rows);
  byId("history").showModal();
  choose(versions[Math.min(1, versions.length - 1)]);
}
