import { type Statement, statement } from "./statement.ts";

/** Rows deleted in one transaction: a bound on how long it blocks others. */
export const DELETE_BATCH_SIZE = 500;

/** A table whose rows belong to shops, or to accounts: they are deleted together with their owner. */
export interface OwnedTable {
  readonly name: string;
  /** Deletes rows of an owner, `$1`: up to `DELETE_BATCH_SIZE`. Returns one row for each. */
  readonly deleteSome: Statement;
}

/** A table whose primary key is the shop and then the columns of `key`. A domain lists its own in `shopTables`. */
export function shopTable(name: string, ...key: [string, ...string[]]): OwnedTable {
  return ownedTable(name, "shop", key);
}

/** A table with the column `account_id`, in which `key` tells the rows of one account. Listed in `accountTables`. */
export function accountTable(name: string, ...key: [string, ...string[]]): OwnedTable {
  return ownedTable(name, "account_id", key);
}

function ownedTable(name: string, owner: string, key: readonly string[]): OwnedTable {
  const columns = key.join(", ");
  const deleteSome = statement(
    `DELETE FROM ${name} WHERE ${owner} = $1 AND (${columns}) IN
       (SELECT ${columns} FROM ${name} WHERE ${owner} = $1 LIMIT ${DELETE_BATCH_SIZE})
     RETURNING ${owner}`,
  );
  return { name, deleteSome };
}
