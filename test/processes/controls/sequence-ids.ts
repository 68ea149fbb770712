// The service, but its animals get ids of a sequence, so that ids do not follow the order of commits. Loaded before the
// program of the service. Each statement waits up to 20 ms with the ids that it has taken, so that many overlap.
import { appendByStatus } from "../../../src/domains/pets/pets.statements.ts";

Object.assign(appendByStatus.none.insertAll, {
  sql: `
    WITH taken AS MATERIALIZED (
      SELECT fields, nextval('control_ids') AS id
      FROM jsonb_array_elements(CAST(CAST($4 AS TEXT) AS JSONB)) AS given (fields) WHERE CAST($3 AS BIGINT) > 0
    ), added AS (
      INSERT INTO pets (shop, id, name, category_id, added_at)
      SELECT $2, id, fields->>0, CAST(fields->>1 AS BIGINT), CAST($1 AS BIGINT) FROM taken
    )
    SELECT min(id) AS id, CAST($1 AS BIGINT) AS at, CAST(pg_sleep(random() * 0.02) AS TEXT) AS slept FROM taken`,
});
