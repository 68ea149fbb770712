import { afterAll, beforeAll, describe } from "bun:test";
import { storageConformance } from "../../../test/conformance/storage.ts";
import { PostgresServer, postgresMissing } from "../../../test/harness/postgres-server.ts";
import { migrations } from "../../app/schema.ts";
import { type PostgresAddress, parsePostgresAddress } from "./address.ts";
import { openPostgres } from "./opening.ts";

describe.skipIf(postgresMissing !== undefined)("on a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  const addressOf = (database: string) => parsePostgresAddress(server.url(database)) as PostgresAddress;

  storageConformance("PostgresStorage", {
    newLocation: () => server.newDatabase(),
    open: (database) => openPostgres(addressOf(database), { migrations }),
  });
});
