import { type Row, type SqlParameter, type Statement, statement } from "../../storage/storage.ts";
import type { ListFilters, Pet, PetStatus } from "./pets.operations.ts";

export interface PetRow extends Row {
  id: bigint;
  name: string;
  category_id: bigint;
  status: PetStatus | null;
}
export interface IdRow extends Row {
  id: bigint;
}
export interface CountRow extends Row {
  figure: bigint;
}

export const columns = "id, name, category_id, status";

export const byId = statement<PetRow>(`SELECT ${columns} FROM pets WHERE id = $1`);
export const rowsAfter = statement<PetRow>(`SELECT ${columns} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`);
// The category changes nothing, but only the index by status gives this order: see docs/decisions/postgresql.md.
export const rowsAfterByStatus = statement<PetRow>(
  `SELECT ${columns} FROM pets WHERE status = $1 AND id > $2 ORDER BY id, category_id LIMIT $3`,
);
export const insert = statement<IdRow>(
  "INSERT INTO pets (name, category_id, status, added_at, added_by) VALUES ($1, $2, $3, $4, $5) RETURNING id",
);
export const setStatus = statement("UPDATE pets SET status = $1 WHERE id = $2");
export const setFields = statement("UPDATE pets SET name = $1, category_id = $2, status = $3 WHERE id = $4");
export const remove = statement("DELETE FROM pets WHERE id = $1");
export const countByCategory = statement<CountRow>(
  "SELECT animals AS figure FROM category_animals WHERE category_id = $1",
);
export const moveCategory = statement("UPDATE pets SET category_id = $1 WHERE category_id = $2");
export const firstUnnamedCategory = statement<CountRow>(`
  WITH RECURSIVE candidate (figure) AS (
    SELECT CAST($1 AS BIGINT)
    UNION ALL
    SELECT figure + 1 FROM candidate WHERE EXISTS (SELECT 1 FROM category_animals WHERE category_id = candidate.figure AND animals > 0)
  )
  SELECT max(figure) AS figure FROM candidate
`);

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
export function pageQuery(after: bigint | undefined, limit: number, filters: ListFilters): Query<PageRow> {
  const { status, categoryId, ids, sort } = filters;
  const parameters: SqlParameter[] = [];
  const bind = (value: SqlParameter) => `$${parameters.push(value)}`;
  const [direction, beyond] = sort === "-id" ? (["DESC", "<"] as const) : (["ASC", ">"] as const);
  // As with `rowsAfterByStatus`, but for given ids, which are looked up by themselves.
  const order = `id ${direction}${status === undefined || ids ? "" : `, category_id ${direction}`}`;
  const conditions = [
    ...(status === undefined ? [] : [`status = ${bind(status)}`]),
    ...(after === undefined ? [] : [`id ${beyond} ${bind(after)}`]),
    ...(ids === undefined ? [] : [`id IN (${padded(ids).map(bind).join(", ")})`]),
    ...(ids === undefined || categoryId === undefined ? [] : [`category_id = ${bind(categoryId)}`]),
  ];
  const which = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
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
    SELECT id, (SELECT name FROM pets WHERE pets.id = places.id) AS name, category_id, status, reached
    FROM places ORDER BY id ${direction}`;
  return { statement: remembered(sql), parameters };
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
