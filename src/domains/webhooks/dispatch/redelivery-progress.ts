import type { RedeliveryRow } from "./dispatch.statements.ts";
import { EventWindow } from "./event-window.ts";

/** The progress of a redelivery, which sends events again, or of a test. The event of a test is not in the log. */
export class RedeliveryProgress {
  readonly row: RedeliveryRow;
  readonly window: EventWindow;
  /** The last saved position. */
  saved: bigint;

  constructor(row: RedeliveryRow) {
    this.row = row;
    this.window = new EventWindow(row.next_event - 1n);
    this.saved = this.window.position;
  }

  /** True if all its events have been read. */
  get isRead(): boolean {
    return this.window.readUpTo >= this.row.last_event;
  }

  get isFinished(): boolean {
    return this.isRead && this.window.oldest === undefined;
  }
}
