import {
  type Append,
  type Appended,
  lockStatement,
  type Row,
  type SqlParameter,
  type Statement,
  statement,
} from "../../storage/storage.ts";
import { isCurrent, setTime } from "../shops/shops.statements.ts";
import type { ListFilters, Pet, PetStatus } from "./pets.operations.ts";

export interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus | null;
}
export interface CountRow extends Row {
  figure: bigint;
}

export const columns = "id, name, category_id, status";

export const byId = statement<PetRow>(`SELECT ${columns} FROM pets WHERE shop = $1 AND id = $2`);
export const rowsAfter = statement<PetRow>(
  `SELECT ${columns} FROM pets WHERE shop = $1 AND id > $2 ORDER BY id LIMIT $3`,
);
// Twice in the list: only the index by status then gives the order. See docs/decisions/postgresql.md.
export const rowsAfterByStatus = statement<PetRow>(
  `SELECT ${columns} FROM pets WHERE shop = $1 AND status IN ($2, $2) AND id > $3 ORDER BY status, id LIMIT $4`,
);
export const setStatus = statement("UPDATE pets SET status = $1 WHERE shop = $2 AND id = $3");
export const setFields = statement(
  "UPDATE pets SET name = $1, category_id = $2, status = $3 WHERE shop = $4 AND id = $5",
);
export const remove = statement("DELETE FROM pets WHERE shop = $1 AND id = $2");
export const countByCategory = statement<CountRow>(
  "SELECT animals AS figure FROM category_animals WHERE shop = $1 AND category_id = $2",
);
export const moveCategory = statement("UPDATE pets SET category_id = $1 WHERE shop = $2 AND category_id = $3");
/** `$1` is how many animals fewer, or more, the category has. An added animal is counted by a trigger. */
export const countFewer = statement(
  "UPDATE category_animals SET animals = animals - $1 WHERE shop = $2 AND category_id = $3",
);
export const countMore = statement(
  `INSERT INTO category_animals (shop, category_id, animals) VALUES ($1, $2, $3)
   ON CONFLICT (shop, category_id) DO UPDATE SET animals = category_animals.animals + excluded.animals`,
);
export const firstUnnamedCategory = statement<CountRow>(`
  WITH RECURSIVE candidate (figure) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT figure + 1 FROM candidate
    WHERE EXISTS (SELECT 1 FROM category_animals WHERE shop = $2 AND category_id = candidate.figure AND animals > 0)
  )
  SELECT max(figure) AS figure FROM candidate
`);

const given = "(fields->>0) AS name, CAST(fields->>1 AS BIGINT) AS category_id, (fields->>2) AS status";
/** Adds animals: their values are name, category, status. */
export const add: Append = {
  count: lockStatement<Appended>(
    `UPDATE shops SET last_pet_id = last_pet_id + 1, ${setTime} WHERE ${isCurrent}
     RETURNING last_pet_id AS id, last_at AS at`,
  ),
  insert: statement("INSERT INTO pets (shop, id, added_at, name, category_id, status) VALUES ($1, $2, $3, $4, $5, $6)"),
  insertAll: statement<Appended>(
    `WITH counted AS (
       UPDATE shops SET ${setTime}, last_pet_id = last_pet_id + $3 WHERE ${isCurrent}
       RETURNING last_pet_id - $3 AS before, last_at AS at
     ), added AS (
       INSERT INTO pets (shop, id, added_at, name, category_id, status)
       SELECT $2, before + number, at, ${given}
       FROM counted, json_array_elements(CAST(CAST($4 AS TEXT) AS JSON)) WITH ORDINALITY AS given (fields, number)
     )
     SELECT before + 1 AS id, at FROM counted`,
  ),
};

export function toPet({ id, name, category_id, status }: PetRow): Pet {
  return status === null ? { id, name, categoryId: category_id } : { id, name, categoryId: category_id, status };
}

/** How many animals one page of a category looks through: a bound on its cost, about a millisecond. */
const SCAN_LIMIT = 10_000;

/** A statement with its parameters. */
export interface Query<R extends Row> {
  readonly statement: Statement<R>;
  readonly parameters: readonly SqlParameter[];
}

/** An animal of a page; or, where `reached` is not null, only where the page ended: see `pageQuery`. */
export interface PageRow extends PetRow {
  reached: bigint | null;
}

/**
 * The query of one page of a list with any filters: up to `limit` animals behind `after`. Where the page looks
 * through no more than `SCAN_LIMIT` animals and found fewer than `limit`, one more row tells the id of the last of
 * these animals, if there are so many. One statement, because between two of them others could add what both
 * leave out.
 */
export function pageQuery(
  shop: number,
  after: bigint | undefined,
  limit: number,
  filters: ListFilters,
): Query<PageRow> {
  const { status, categoryId, ids, sort } = filters;
  const parameters: SqlParameter[] = [];
  const bind = (value: SqlParameter) => `$${parameters.push(value)}`;
  const [direction, beyond] = sort === "-id" ? (["DESC", "<"] as const) : (["ASC", ">"] as const);
  const shops = bind(shop);
  // As with `rowsAfterByStatus`, but for given ids, which are looked up by themselves.
  const order = `${status === undefined || ids ? "" : `status ${direction}, `}id ${direction}`;
  const conditions = [
    `shop = ${shops}`,
    ...(status === undefined ? [] : [`status IN (${twice(bind(status))})`]),
    ...(after === undefined ? [] : [`id ${beyond} ${bind(after)}`]),
    ...(ids === undefined ? [] : [`id IN (${padded(ids).map(bind).join(", ")})`]),
    ...(ids === undefined || categoryId === undefined ? [] : [`category_id = ${bind(categoryId)}`]),
  ];
  const which = `WHERE ${conditions.join(" AND ")}`;
  if (categoryId === undefined || ids) {
    const sql = `SELECT ${columns}, NULL AS reached FROM pets ${which} ORDER BY ${order} LIMIT ${bind(limit)}`;
    return { statement: remembered(sql), parameters };
  }
  const looked = `FROM pets ${which} ORDER BY ${order}`;
  // No index leads from a category to its animals, so this scans one stretch: see docs/decisions/pets-and-categories.md.
  const found = `SELECT id, category_id, status FROM (SELECT id, category_id, status ${looked} LIMIT ${SCAN_LIMIT}) AS looked
    WHERE category_id = ${bind(categoryId)} ORDER BY ${order} LIMIT ${bind(limit)}`;
  // As a limit and not as a condition: the stretch is then not looked through again for a page that is full.
  const unlessFull = `SELECT CASE WHEN count(*) < $${parameters.length} THEN 1 ELSE 0 END FROM found`;
  // Names are not in the index by status. Each is looked up by its id: a join could read the table up to there.
  const sql = `
    WITH found (id, category_id, status) AS (${found}),
      places (id, category_id, status, reached) AS (
        SELECT id, category_id, status, NULL FROM found
        UNION ALL
        SELECT id, NULL, NULL, id FROM (SELECT id ${looked} LIMIT (${unlessFull}) OFFSET ${SCAN_LIMIT - 1}) AS last
      )
    SELECT id, (SELECT name FROM pets WHERE pets.shop = ${shops} AND pets.id = places.id) AS name, category_id, status, reached
    FROM places ORDER BY id ${direction}`;
  return { statement: remembered(sql), parameters };
}

function twice(parameter: string): string {
  return `${parameter}, ${parameter}`;
}

/** Each text makes one statement: there are few, and an engine prepares each once. */
const statements = new Map<string, Statement>();

function remembered<R extends Row>(sql: string): Statement<R> {
  let known = statements.get(sql);
  if (!known) statements.set(sql, (known = statement(sql)));
  return known as Statement<R>;
}

/** The ids, the last one repeated up to one of few lengths, so that there are few statements. */
function padded(ids: readonly bigint[]): readonly bigint[] {
  const length = [1, 10, 100].find((one) => one >= ids.length) ?? ids.length;
  return Array.from({ length }, (_, index) => ids[Math.min(index, ids.length - 1)] as bigint);
}
