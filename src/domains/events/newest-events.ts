import { acrossShops, type Row, type Statement } from "../../storage/statement.ts";
import type { Call } from "../../storage/transaction.ts";

interface NewestRow extends Row {
  shop: bigint;
  id: bigint;
}

/** Statements by their number of parameters. */
const statements = new Map<number, Statement<NewestRow>>();

/** The call that reads the id of the newest event of each of these shops, except deleted ones. `shops` must not be empty. */
export function newestEventsOf(shops: readonly number[]): Call & { readonly statement: Statement<NewestRow> } {
  // The list is padded, so that there are few statements: an engine prepares each once.
  const size = 2 ** Math.ceil(Math.log2(shops.length));
  const parameters = Array.from({ length: size }, (_, index) => shops[index] ?? (shops[0] as number));
  let statement = statements.get(size);
  if (!statement) {
    const list = parameters.map((_, index) => `$${index + 1}`).join(", ");
    statement = acrossShops<NewestRow>(
      `SELECT shop, last_event_id AS id FROM shops WHERE shop IN (${list}) AND account_id IS NOT NULL`,
    );
    statements.set(size, statement);
  }
  return { statement, parameters };
}
