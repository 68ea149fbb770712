import { insertAll } from "../../storage/combined-steps.ts";
import { shopTable } from "../../storage/owned-table.ts";
import type { PageSelection } from "../../storage/pages.ts";
import { change } from "../../storage/statement.ts";
import { all, type Change } from "../../storage/transaction.ts";
import { type Metadata, sameMetadata } from "./metadata.schemas.ts";

/** The kinds of resources that can have metadata. */
export type MetadataKind = "pet" | "category" | "order";

/** A column with the metadata of a resource as JSON; `$1` is the shop. It is looked up only if there is any. */
export function metadataColumn(kind: MetadataKind, table: string): string {
  return `CASE WHEN ${table}.has_metadata = 1 THEN ${pairsOf(kind, table)} END AS metadata`;
}

/**
 * The same for `readPage`. The rows of a page with scanned conditions lack the column `has_metadata`, so metadata is
 * looked up for each of them.
 */
export function attachedMetadata(kind: MetadataKind): NonNullable<PageSelection["attached"]> {
  return {
    name: "metadata",
    of: (from, hasColumns) =>
      hasColumns ? `CASE WHEN ${from}.has_metadata = 1 THEN ${pairsOf(kind, from)} END` : pairsOf(kind, from),
  };
}

function pairsOf(kind: MetadataKind, from: string): string {
  return `(SELECT pairs FROM metadata WHERE metadata.shop = $1 AND kind = '${kind}' AND metadata.id = ${from}.id)`;
}

export const metadataTables = [shopTable("metadata", "kind", "id")];

type Key = [shop: number, kind: MetadataKind, id: bigint];

const insert = change<[...Key, pairs: string]>("INSERT INTO metadata (shop, kind, id, pairs) VALUES ($1, $2, $3, $4)");
const set = change<[...Key, pairs: string]>(
  `INSERT INTO metadata (shop, kind, id, pairs) VALUES ($1, $2, $3, $4)
   ON CONFLICT (shop, kind, id) DO UPDATE SET pairs = excluded.pairs`,
);
const remove = change<Key>("DELETE FROM metadata WHERE shop = $1 AND kind = $2 AND id = $3");

/** The value of `has_metadata` in the row of a resource. */
export function metadataFlag(pairs: Metadata | undefined): 1 | null {
  return pairs === undefined ? null : 1;
}

/** The pairs of a resource, from the JSON of a read. */
export function readMetadata(json: string): Metadata {
  return JSON.parse(json) as Metadata;
}

/** Part of a transaction: stores the pairs of new resources that have any. */
export function insertMetadata(
  shop: number,
  kind: MetadataKind,
  resources: readonly { readonly id: bigint; readonly metadata?: Metadata | undefined }[],
): Change<unknown> {
  const rows = resources.flatMap(({ id, metadata }): [...Key, string][] =>
    metadata ? [[shop, kind, id, JSON.stringify(metadata)]] : [],
  );
  return insertAll(insert, rows);
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
): Change<void> {
  if (sameMetadata(before, after)) return;
  if (after) yield* all(set, shop, kind, id, JSON.stringify(after));
  else yield* all(remove, shop, kind, id);
}
