// Starts the page.
import { opening } from "./opening.js";
import { Workbench } from "./workbench.js";

const workbench = new Workbench();
window.workbench = workbench;
await workbench.start(opening);
