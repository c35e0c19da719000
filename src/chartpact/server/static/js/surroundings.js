// What surrounds the chart: parts whose modules need not delay the first one.
import { BarsDrop } from "./barsdrop.js";
import { Board } from "./board.js";
import { Comparison } from "./compare.js";
import { Commands } from "./commands.js";
import { Contracts } from "./contracts.js";
import { Desk } from "./desk.js";
import { byId } from "./dom.js";
import { Live } from "./live.js";
import { Palette } from "./palette.js";
import { Replay } from "./replay.js";
import { Splitter } from "./splitter.js";

export class Surroundings {
  /** @param {Workbench} workbench */
  constructor(workbench) {
    this.board = new Board(workbench);
    this.commands = new Commands(workbench);
    this.palette = new Palette((kind, typed) => this.commands.list(kind, typed));
    this.desk = new Desk(workbench);
    this.barsDrop = new BarsDrop(workbench);
    this.contracts = new Contracts(workbench);
    this.comparison = new Comparison(workbench);
    this.replay = new Replay(workbench);
    this.live = new Live(workbench);
    this.splitter = new Splitter(() => workbench.keepLayout());
  }

  /** @param {any} layout */
  async start(layout) {
    this.splitter.set(layout?.side);
    await Promise.all([this.board.start(), this.comparison.show()]);
    this.live.wait();
  }

  /** What the layout keeps of these parts. */
  layout() {
    return { side: this.splitter.width };
  }

  closeSide() {
    if (!byId("desk").hidden) this.desk.close();
    else if (!byId("contract").hidden) this.contracts.close();
    else this.board.panel.close();
  }
}
