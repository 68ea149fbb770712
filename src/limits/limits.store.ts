import { type Mode, modes, type ShopName } from "../contract/caller.ts";
import { together } from "../storage/combined-steps.ts";
import { change, query } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { enumeration, table, text } from "../storage/table.ts";
import { all, first, type Query } from "../storage/transaction.ts";
import type { MaybePromise } from "../timing/maybe-promise.ts";
import type { SavedWindow, Windows } from "./windows.ts";

/** Windows of shops, as JSON: see `SavedWindow`. Unused on PostgreSQL: several processes would save different ones. */
export const windowTable = table(
  "limit_windows",
  { account_id: text, mode: enumeration(...modes), windows: text },
  { key: ["account_id", "mode"], owner: "account_id" },
);

type Shop = [accountId: string, mode: Mode];

const readWindows = query<Shop, { windows: string }>(
  "SELECT windows FROM limit_windows WHERE account_id = $1 AND mode = $2",
);
const writeWindows = change<[...Shop, windows: string]>(
  `INSERT INTO limit_windows (account_id, mode, windows) VALUES ($1, $2, $3)
   ON CONFLICT (account_id, mode) DO UPDATE SET windows = excluded.windows`,
);

/** The most shops for one call of `save`. It bounds how long the transaction blocks others. */
export const SAVE_BATCH = 250;

/** The windows of shops in the embedded store. Other stores have none. */
export class LimitStore {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  windows(shop: ShopName): MaybePromise<readonly SavedWindow[] | undefined> {
    return this.#storage.read(windowsOf(shop));
  }

  async save(mode: Mode, shops: readonly Pick<Windows, "owner" | "saved">[]): Promise<void> {
    const write = ({ owner, saved }: Pick<Windows, "owner" | "saved">) =>
      all(writeWindows, owner, mode, JSON.stringify(saved));
    await this.#storage.write(() => together(shops.map(write)));
  }
}

function* windowsOf({ accountId, mode }: ShopName): Query<readonly SavedWindow[] | undefined> {
  const row = yield* first(readWindows, accountId, mode);
  return row && (JSON.parse(row.windows) as SavedWindow[]);
}
