// The service, but its animals get ids of a sequence, so that ids do not follow the order of commits. Loaded before the
// program of the service. Each statement waits up to 20 ms with the ids that it has taken, so that many overlap.
import { newPetRow } from "../../../src/domains/pets/pets.statements.ts";

// The lock is only held while ids are taken, so that those of a statement are in sequence.
Object.assign(newPetRow.count, {
  sql: `
    WITH locked AS MATERIALIZED (SELECT pg_advisory_lock(1)),
      taken AS MATERIALIZED (SELECT nextval('control_ids') AS id FROM locked, generate_series(1, CAST($3 AS BIGINT))),
      first AS MATERIALIZED (SELECT min(id) AS id, pg_advisory_unlock(1) FROM taken)
    SELECT id, CAST($2 AS BIGINT) AS at, id AS log_id, CAST(pg_sleep(random() * 0.02) AS TEXT) AS slept
    FROM first WHERE CAST($1 AS BIGINT) + CAST($4 + $5 + $6 + $7 AS BIGINT) > 0`,
});
