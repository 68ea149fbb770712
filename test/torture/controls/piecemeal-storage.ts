import type { Change } from "../../../src/storage/transaction.ts";
import { EarlyStorage } from "./early-storage.ts";

/** How long a transaction stays half done, in milliseconds: long enough that a kill often finds it so. */
const HALF_DONE = 5;
/** An animal's status changes first and its order next: a kill between the two shows most. */
const changesStatus = /\bUPDATE pets SET status\b/;

/** A store that breaks its word: it commits each statement of a transaction by itself. */
export class PiecemealStorage extends EarlyStorage {
  override async write<T>(body: () => Change<T>): Promise<T> {
    return this.run(body, (sql) => {
      if (changesStatus.test(sql)) Bun.sleepSync(HALF_DONE);
    });
  }
}
