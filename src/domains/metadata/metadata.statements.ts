import { shopTable } from "../../storage/owned-table.ts";
import type { PageSelection } from "../../storage/page-query.ts";

/** The kinds of resources that can have metadata. */
export type MetadataKind = "pet" | "category" | "order";

export const metadataTables = [shopTable("metadata", "kind", "id")];

/** A column with the pairs of a resource as JSON; `$1` is the shop. The pairs are looked up only if there are any. */
export function pairsColumn(kind: MetadataKind, table: string): string {
  return `CASE WHEN ${table}.has_metadata = 1 THEN ${lookUp(kind, table)} END AS metadata`;
}

/** The same for a page of a list. */
export function attachedPairs(kind: MetadataKind): NonNullable<PageSelection["attached"]> {
  return {
    name: "metadata",
    of: (from, hasColumns) =>
      hasColumns ? `CASE WHEN ${from}.has_metadata = 1 THEN ${lookUp(kind, from)} END` : lookUp(kind, from),
  };
}

function lookUp(kind: MetadataKind, from: string): string {
  return `(SELECT pairs FROM metadata WHERE metadata.shop = $1 AND kind = '${kind}' AND metadata.id = ${from}.id)`;
}
