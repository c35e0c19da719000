// Starts the page.
import { Workbench } from "./workbench.js";

const workbench = new Workbench();
window.workbench = workbench;
await workbench.start();
