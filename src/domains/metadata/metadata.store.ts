import { shopTable } from "../../storage/owned-table.ts";
import { statement } from "../../storage/statement.ts";
import { all, type Transaction } from "../../storage/transaction.ts";
import type { MetadataKind } from "./metadata.columns.ts";
import { type Metadata, sameMetadata } from "./metadata.schemas.ts";

export const metadataTables = [shopTable("metadata", "kind", "id")];

type Key = [shop: number, kind: MetadataKind, id: bigint];

const insert = statement<[...Key, pairs: string]>(
  "INSERT INTO metadata (shop, kind, id, pairs) VALUES ($1, $2, $3, $4)",
);
const set = statement<[...Key, pairs: string]>(
  `INSERT INTO metadata (shop, kind, id, pairs) VALUES ($1, $2, $3, $4)
   ON CONFLICT (shop, kind, id) DO UPDATE SET pairs = excluded.pairs`,
);
const remove = statement<Key>("DELETE FROM metadata WHERE shop = $1 AND kind = $2 AND id = $3");

/** The value of `has_metadata` in the row of a resource. */
export function metadataFlag(pairs: Metadata | undefined): 1 | null {
  return pairs === undefined ? null : 1;
}

/** The pairs of a resource, from the JSON of a read. */
export function readMetadata(json: string): Metadata {
  return JSON.parse(json) as Metadata;
}

/** Part of a transaction: stores the pairs of a new resource, if it has any. */
export function* insertMetadata(
  shop: number,
  kind: MetadataKind,
  id: bigint,
  pairs: Metadata | undefined,
): Transaction<void> {
  if (pairs) yield* all(insert, shop, kind, id, JSON.stringify(pairs));
}

/**
 * Part of a transaction: replaces the pairs of a resource, unless they are the same. The caller must set `metadataFlag`
 * in the row of the resource.
 */
export function* replaceMetadata(
  shop: number,
  kind: MetadataKind,
  id: bigint,
  before: Metadata | undefined,
  after: Metadata | undefined,
): Transaction<void> {
  if (sameMetadata(before, after)) return;
  if (after) yield* all(set, shop, kind, id, JSON.stringify(after));
  else yield* all(remove, shop, kind, id);
}
