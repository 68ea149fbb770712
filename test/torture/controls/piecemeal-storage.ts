import type { Transaction } from "../../../src/storage/storage.ts";
import { EarlyStorage } from "./early-storage.ts";

/** How long a transaction stays half done, in milliseconds: long enough that a kill often finds it so. */
const HALF_DONE = 2;

/** A store that breaks its word: it commits each statement of a transaction by itself. */
export class PiecemealStorage extends EarlyStorage {
  override async write<T>(body: () => Transaction<T>): Promise<T> {
    return this.run(body, () => Bun.sleepSync(HALF_DONE));
  }
}
