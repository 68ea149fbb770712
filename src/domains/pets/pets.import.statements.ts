import { type Row, statement } from "../../storage/statement.ts";
import type { PetStatus } from "./pets.schemas.ts";
import type { PetRow } from "./pets.statements.ts";

/** A line with a fault, and the number of all lines with this fault. */
export interface FaultyRow extends Row {
  line: bigint;
  total: bigint;
}
/** A line whose id cannot be kept. */
interface RefusedIdRow extends FaultyRow {
  id: bigint;
}
interface UnknownCategoryRow extends FaultyRow {
  category_id: bigint;
}
interface StagedRow extends Row, Pick<PetRow, "name" | "category_id" | "status" | "metadata"> {
  /** Null if the store assigns ids, in the order of lines. */
  id: bigint | null;
}
interface RangeRow extends Row {
  first: bigint;
  last: bigint;
}
interface StatusRow extends Row {
  status: PetStatus | null;
  animals: bigint;
}
export interface PartRow extends Row {
  line: bigint | null;
  animals: bigint;
}
/** The columns of `imports` are null if the import has not started. */
export interface PositionRow extends Row {
  last_id: bigint;
  line: bigint | null;
  animals: bigint | null;
  /** `Position.lastIdBefore`. */
  ids_above: bigint | null;
}

/** The table of staged animals. */
export const staged = {
  name: "staged_pets",
  columns: {
    line: "integer",
    id: "integer",
    name: "text",
    category_id: "integer",
    status: "text",
    name_folded: "text",
    metadata: "text",
    has_metadata: "integer",
  },
} as const;

export const insertWithIds = statement(`
  INSERT INTO pets (shop, id, name, category_id, status, name_folded, has_metadata, added_at)
  SELECT CAST($1 AS BIGINT), id, name, category_id, status, name_folded, has_metadata, CAST($2 AS BIGINT)
  FROM staged_pets WHERE line > $3 AND line <= $4 ORDER BY id
`);
export const insert = statement(`
  INSERT INTO pets (shop, id, name, category_id, status, name_folded, has_metadata, added_at)
  SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT) + row_number() OVER (ORDER BY line), name, category_id, status, name_folded,
    has_metadata, CAST($3 AS BIGINT)
  FROM staged_pets WHERE line > $4 AND line <= $5 ORDER BY line
`);
export const insertMetadataWithIds = statement(`
  INSERT INTO metadata (shop, kind, id, pairs)
  SELECT CAST($1 AS BIGINT), 'pet', id, metadata FROM staged_pets
  WHERE line > $2 AND line <= $3 AND has_metadata = 1
`);
export const insertMetadata = statement(`
  INSERT INTO metadata (shop, kind, id, pairs)
  SELECT CAST($1 AS BIGINT), 'pet', CAST($2 AS BIGINT) + number, metadata
  FROM (
    SELECT row_number() OVER (ORDER BY line) AS number, metadata, has_metadata FROM staged_pets
    WHERE line > $3 AND line <= $4
  ) AS numbered WHERE has_metadata = 1
`);
export const partAfter = statement<PartRow>(`
  SELECT max(line) AS line, count(*) AS animals
  FROM (SELECT line FROM staged_pets WHERE line > $1 ORDER BY line LIMIT $2) AS part
`);
/** The animals of a part, in the order of lines. */
export const petsOfPart = statement<StagedRow>(
  "SELECT id, name, category_id, status, metadata FROM staged_pets WHERE line > $1 AND line <= $2 ORDER BY line",
);
export const idsOf = statement<RangeRow>(
  "SELECT min(id) AS first, max(id) AS last FROM staged_pets WHERE line > $1 AND line <= $2",
);
/** A line beyond the first `$1`: a row if more than `$1` animals are staged. */
export const lineBeyond = statement("SELECT line FROM staged_pets ORDER BY line LIMIT 1 OFFSET $1");
export const countStaged = statement<StatusRow>(
  "SELECT status, count(*) AS animals FROM staged_pets WHERE line > $1 AND line <= $2 GROUP BY status",
);
export const advanceLastId = statement("UPDATE shops SET last_pet_id = last_pet_id + $1 WHERE shop = $2");
export const raiseLastId = statement(`
  UPDATE shops SET last_pet_id = (SELECT max(id) FROM staged_pets)
  WHERE shop = $1 AND last_pet_id < (SELECT max(id) FROM staged_pets)
`);
/** Lines after `$1` with an id of at most `$2`, which the shop has already assigned. */
export const assignedIds = statement<RefusedIdRow>(`
  SELECT line, id, count(*) OVER () AS total FROM staged_pets WHERE line > $1 AND id <= $2 ORDER BY line LIMIT $3
`);
/** Lines after `$1` up to `$2` whose category the shop `$3` does not have. */
export const unknownCategories = statement<UnknownCategoryRow>(`
  SELECT line, category_id, count(*) OVER () AS total FROM staged_pets
  WHERE line > $1 AND line <= $2
    AND NOT EXISTS (SELECT 1 FROM categories WHERE shop = $3 AND id = staged_pets.category_id)
  ORDER BY line LIMIT $4
`);
export const repeatedIds = statement<RefusedIdRow>(`
  SELECT staged_pets.line, staged_pets.id, count(*) OVER () AS total FROM staged_pets
  JOIN (SELECT id, min(line) AS line FROM staged_pets GROUP BY id HAVING count(*) > 1) AS earliest
    ON earliest.id = staged_pets.id AND earliest.line < staged_pets.line
  ORDER BY staged_pets.line LIMIT $1
`);
// A single statement, because the first part of an import changes both rows.
export const positionOf = statement<PositionRow>(`
  SELECT last_pet_id AS last_id, line, animals, ids_above
  FROM shops LEFT JOIN imports ON imports.shop = shops.shop AND digest = $1 WHERE shops.shop = $2
`);
export const savePosition = statement(`
  INSERT INTO imports (shop, digest, line, animals, ids_above) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (shop, digest) DO UPDATE SET line = excluded.line, animals = excluded.animals
`);
