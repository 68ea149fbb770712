import { change, type Statement } from "./statement.ts";

/** The maximum number of rows deleted in one transaction. It bounds how long one blocks others. */
export const DELETE_BATCH_SIZE = 500;

/** A table whose rows belong to shops or to accounts. They are deleted with their owner. */
export interface OwnedTable {
  readonly name: string;
  /** Deletes up to `DELETE_BATCH_SIZE` rows of the owner `$1`. Returns one row for each deleted row. */
  readonly deleteSome: Statement<[owner: number | string]>;
}

/** A table whose primary key is the shop, then the columns of `key`. Each domain lists its tables in `shopTables`. */
export function shopTable(name: string, ...key: [string, ...string[]]): OwnedTable {
  return ownedTable(name, "shop", key);
}

/** A table with the column `account_id`. `key` identifies a row within an account. Listed in `accountTables`. */
export function accountTable(name: string, ...key: [string, ...string[]]): OwnedTable {
  return ownedTable(name, "account_id", key);
}

function ownedTable(name: string, owner: string, key: readonly string[]): OwnedTable {
  const columns = key.join(", ");
  const deleteSome = change<[owner: number | string]>(
    `DELETE FROM ${name} WHERE ${owner} = $1 AND (${columns}) IN
       (SELECT ${columns} FROM ${name} WHERE ${owner} = $1 LIMIT ${DELETE_BATCH_SIZE})
     RETURNING ${owner}`,
  );
  return { name, deleteSome };
}
