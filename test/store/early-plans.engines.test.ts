// PostgreSQL plans a look-up once. In a new service, its tables are nearly empty then. Until the server counts their rows,
// up to a minute later, it keeps the plan, however many there are.
import { expect, test } from "bun:test";
import { migrations } from "../../src/app/schema.ts";
import { type PostgresAddress, parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { Connection } from "../../src/storage/postgres/connection.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { listsOf, readTogether } from "../../src/storage/postgres/shared-reads.ts";
import { type QueryStatement, statements } from "../../src/storage/statement.ts";
import { insertsForEmptyTables } from "../harness/fill-tables.ts";
import { PostgresServer, postgresMissing } from "../harness/postgres-server.ts";

const ROWS = 5_000;
/** Blocks that a look-up that finds no row may touch. */
const MOST_BLOCKS = 10;

/** All but that of keys, of which there are few in the first minute. */
const lookUps = statements.filter(
  ({ isLookUp, sql }) => isLookUp && !sql.includes("FROM api_keys"),
) as QueryStatement[];

interface Explained {
  readonly Plan: { readonly "Shared Hit Blocks": number; readonly "Shared Read Blocks": number };
}

test.skipIf(postgresMissing !== undefined)(
  "a look-up that was planned for empty tables is cheap in full ones",
  async () => {
    const server = await PostgresServer.start(["autovacuum=off"]); // nothing else makes it plan again
    const address = parsePostgresAddress(server.url()) as PostgresAddress;
    await (await openPostgres(address, { migrations })).close();
    await server.run("INSERT INTO accounts (id, name, plan, created_at) VALUES ('acc_1', 'Ada', 'free', 0)");
    const rows = (count: number) => insertsForEmptyTables((sql) => server.run(sql), count);
    const inserts = await rows(ROWS);
    await server.run(`${await rows(1)} TRUNCATE pets, stored_responses`);
    await server.run("VACUUM ANALYZE");
    const reader = await Connection.open({ address, deadline: 10_000, isReader: true });
    /** Blocks that a prepared look-up touches, with its plan. */
    const blocksOf = async ([name, values]: readonly [name: string, values: readonly string[]]) => {
      const given = values.map((value) => `'${value}'`).join(", ");
      const [row] = await reader.run({ sql: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name} (${given})` });
      const [{ Plan: plan }] = (row as unknown as { "QUERY PLAN": [Explained] })["QUERY PLAN"];
      return { plan: JSON.stringify(plan), blocks: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] };
    };
    try {
      const prepared: [name: string, values: string[]][] = [];
      for (const [index, lookUp] of lookUps.entries()) {
        const [one, two] = [`one_${index}`, `two_${index}`];
        await reader.runScript(`PREPARE ${one} AS ${lookUp.sql}`);
        const [row] = await reader.run({
          sql: `SELECT array_to_string(parameter_types, ',') AS types FROM pg_prepared_statements WHERE name = '${one}'`,
        });
        const types = String(row?.["types"]).split(",");
        const values = types.map(() => "-1"); // found in no table
        await reader.runScript(`PREPARE ${two} AS ${readTogether(lookUp, types).sql}`);
        prepared.push([one, values], [two, listsOf([values, values])[1]]);
      }
      expect(prepared.length).toBeGreaterThan(4);
      for (const one of prepared) await blocksOf(one); // PostgreSQL plans when it first runs a statement
      await server.run(inserts);
      const costs = await Promise.all(prepared.map(blocksOf));
      expect(costs.filter(({ blocks }) => blocks > MOST_BLOCKS)).toEqual([]);
    } finally {
      reader.close();
      await server.remove();
    }
  },
);
