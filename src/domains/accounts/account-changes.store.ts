import { together } from "../../storage/combined-steps.ts";
import { change, query, type Row } from "../../storage/statement.ts";
import type { Followed } from "../../storage/storage.ts";
import { integer, onlyRow, table } from "../../storage/table.ts";
import { afterCommit, all, type Change } from "../../storage/transaction.ts";

// How processes learn which accounts have changed. Each change gets the next number, and the account keeps it. On
// PostgreSQL, the number stays locked until the commit, so no smaller one appears later.

/** The number of the last change. */
export const changeTable = table(
  "account_changes",
  { only_row: onlyRow, number: integer },
  { key: ["only_row"], rows: "(1, 0)" },
);

interface ChangeRow extends Row {
  number: bigint;
  account_id: string | null;
}

/** Called with an account that has changed, or without one if any may have. It must not use the store. */
export type AccountListener = (accountId?: string) => void;

const countChange = change("UPDATE account_changes SET number = number + 1");
const markAccount = change<[id: string]>(
  "UPDATE accounts SET changed = (SELECT number FROM account_changes) WHERE id = $1",
);

/**
 * Part of a transaction that changes what the keys of an account may do: its plan, its shops, or the keys themselves. All
 * processes know of it within 1 s, and `changed` is called after the commit. It comes before a change of the account's
 * row, and after the locks of shops.
 */
export function* noteAccountChange(accountId: string, changed: AccountListener): Change<void> {
  yield* together([all(countChange), all(markAccount, accountId)]);
  yield* afterCommit(() => changed(accountId));
}

/** The number of the last change, and the accounts that have changed after `$1`: at least one row. */
const changes = query<[after: bigint], ChangeRow>(
  // The order makes PostgreSQL use the index.
  `SELECT number, account_id FROM account_changes
   LEFT JOIN (SELECT id AS account_id FROM accounts WHERE changed > $1 ORDER BY changed) AS changes ON TRUE`,
);

/** Larger than any number: the last change is not known. */
const UNKNOWN = 2n ** 63n - 1n;

/** What a process knows of the changes of accounts. */
export class AccountChanges implements Followed {
  readonly statement = changes;
  readonly #changed: AccountListener;
  #last = UNKNOWN;

  constructor(changed: AccountListener) {
    this.#changed = changed;
  }

  get last(): bigint {
    return this.#last;
  }

  take(rows: readonly Row[]): void {
    const number = rows[0]?.["number"] as bigint;
    // The number is smaller in a database that has lost its last commits.
    if (number < this.#last) this.#changed();
    else for (const { account_id } of rows as ChangeRow[]) if (account_id !== null) this.#changed(account_id);
    this.#last = number;
  }

  miss(): void {
    this.#last = UNKNOWN;
    this.#changed();
  }
}
