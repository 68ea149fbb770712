// The service, but its animals get ids of a sequence, so that ids do not follow the order of commits. Loaded before the
// program of the service. Each statement waits up to 20 ms with the ids that it has taken, so that many overlap.
import { newPet } from "../../../src/domains/pets/pets.statements.ts";

Object.assign(newPet.count, {
  sql: `
    SELECT 256 * nextval('control_ids') AS id, CAST($2 AS BIGINT) AS at, 256 * currval('control_ids') AS log_id,
      CAST(pg_sleep(random() * 0.02) AS TEXT) AS slept
    WHERE CAST($1 AS BIGINT) + CAST($3 AS BIGINT) + CAST($4 + $5 + $6 + $7 AS BIGINT) > 0`,
});
