// The dialog that asks before something is taken away.
import { say } from "./api.js";
import { byId } from "./dom.js";

/** @param {{ title: string, text: string, yes: string, no: string, act: () => unknown }} question */
export function confirm({ title, text, yes, no, act }) {
  const dialog = byId("confirm");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-no").textContent = no;
  byId("confirm-yes").textContent = yes;
  byId("confirm-yes").onclick = async () => {
    dialog.close();
    try {
      await act();
    } catch (error) {
      say(error);
    }
  };
  dialog.showModal();
}
