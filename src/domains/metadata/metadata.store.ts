import type { ShopNumber } from "../../contract/caller.ts";
import { insertAll } from "../../storage/combined-steps.ts";
import type { AttachedColumn } from "../../storage/pages.ts";
import type { StoredField } from "../../storage/row-mapping.ts";
import { change } from "../../storage/statement.ts";
import { enumeration, insertInto, integer, table, text } from "../../storage/table.ts";
import { all, type Change } from "../../storage/transaction.ts";
import { type Metadata, sameMetadata } from "./metadata.schemas.ts";

/** The kinds of resources that can have metadata. */
const kinds = ["pet", "category", "order"] as const;
export type MetadataKind = (typeof kinds)[number];

/**
 * The pairs of a resource as a JSON object. `has_metadata` in the row of the resource is 1 where there are any, and null
 * otherwise: most resources have none, and are then read without a look-up.
 */
export const metadataTable = table(
  "metadata",
  { shop: integer, kind: enumeration(...kinds), id: integer, pairs: text },
  { key: ["shop", "kind", "id"] },
);

/** A column with the metadata of a resource as JSON. It is looked up only if there is any. */
export function metadataColumn(kind: MetadataKind, from: string): string {
  return `CASE WHEN ${from}.has_metadata = 1 THEN ${pairsOf(kind, from, `${from}.shop`)} END AS metadata`;
}

/**
 * The same for `readPage`; `$1` is the shop. The rows of a page with scanned conditions lack the column `has_metadata`, so metadata is
 * looked up for each of them.
 */
export function attachedMetadata(kind: MetadataKind): AttachedColumn<"metadata"> {
  return {
    name: "metadata",
    of: (from, hasColumns) =>
      hasColumns ? `CASE WHEN ${from}.has_metadata = 1 THEN ${pairsOf(kind, from)} END` : pairsOf(kind, from),
  };
}

/** The pairs of a resource, as a value in SQL. */
export function pairsOf(kind: MetadataKind, from: string, shop = "$1"): string {
  return `(SELECT pairs FROM metadata WHERE metadata.shop = ${shop} AND kind = '${kind}' AND metadata.id = ${from}.id)`;
}

type Key = [shop: ShopNumber, kind: MetadataKind, id: bigint];

const columns = ["shop", "kind", "id", "pairs"] as const;
const insert = insertInto(metadataTable, columns);
const set = insertInto(metadataTable, columns, {
  end: "ON CONFLICT (shop, kind, id) DO UPDATE SET pairs = excluded.pairs",
});
const remove = change<Key>("DELETE FROM metadata WHERE shop = $1 AND kind = $2 AND id = $3");

/** What the row of a resource has of its pairs, which `metadataColumn` reads. */
export const metadataField: StoredField<
  Metadata | undefined,
  { readonly metadata: string | null },
  { readonly has_metadata: bigint | null }
> = {
  write: {},
  search: { has_metadata: (pairs) => (pairs ? 1n : null) },
  read: ({ metadata }) => (metadata === null ? undefined : (JSON.parse(metadata) as Metadata)),
};

/** Part of a transaction: stores the pairs of new resources that have any. */
export function insertMetadata(
  shop: ShopNumber,
  kind: MetadataKind,
  resources: readonly { readonly id: bigint; readonly metadata?: Metadata | undefined }[],
): Change<unknown> {
  const rows = resources.flatMap(({ id, metadata }): [...Key, string][] =>
    metadata ? [[shop, kind, id, JSON.stringify(metadata)]] : [],
  );
  return insertAll(insert, rows);
}

/**
 * Part of a transaction: replaces the pairs of a resource, unless they are the same. The caller must write
 * `metadataField` in the row of the resource.
 */
export function* replaceMetadata(
  shop: ShopNumber,
  kind: MetadataKind,
  id: bigint,
  before: Metadata | undefined,
  after: Metadata | undefined,
): Change<void> {
  if (sameMetadata(before, after)) return;
  if (after) yield* all(set, shop, kind, id, JSON.stringify(after));
  else yield* all(remove, shop, kind, id);
}
