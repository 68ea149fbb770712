import type { PageSelection } from "../../storage/page-query.ts";

/** The kinds of resources that can have metadata. */
export type MetadataKind = "pet" | "category" | "order";

/** A column with the metadata of a resource as JSON; `$1` is the shop. It is looked up only if there is any. */
export function metadataColumn(kind: MetadataKind, table: string): string {
  return `CASE WHEN ${table}.has_metadata = 1 THEN ${pairsOf(kind, table)} END AS metadata`;
}

/**
 * The same for `pageQuery`. The rows of a page with scanned conditions lack the column `has_metadata`, so metadata is
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
