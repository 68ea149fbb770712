import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { migrations } from "../../src/app/schema.ts";
import { generateApiKey, keyDigest } from "../../src/domains/keys/api-key.ts";
import { type PostgresAddress, parsePostgresAddress } from "../../src/storage/postgres/address.ts";
import { openPostgres } from "../../src/storage/postgres/opening.ts";
import { PostgresServer, postgresMissing } from "../../test/harness/postgres-server.ts";
import { hasValkey, ValkeyServer } from "../../test/harness/valkey-server.ts";
import type { Processes } from "../processes.ts";
import { cpuTime, cpuTimeOfEndedChildren } from "../processes.ts";
import { GENERATION, type Quota, UNLIMITED } from "../seed.ts";
import type { Totals } from "../wrk.ts";

/**
 * Settings of a server on a dedicated machine. The tests' server does not sync; this one syncs as by
 * default, so that a commit is on disk before its response.
 */
const SETTINGS = ["fsync=on", "full_page_writes=on", "shared_buffers=1GB", "max_wal_size=4GB", "max_connections=400"];
/** Disk space in bytes: for an animal with its indexes, and for the write-ahead log. */
const ROOM_OF_ANIMAL = 400;
const ROOM_OF_LOG = 6e9;
/** The type of a file system in memory (statfs(2)). */
const TMPFS = 0x01021994;

/** A store in PostgreSQL, a key whose limits are never reached, and one with one request a minute, as the peer has no limit for a day. */
export interface SharedStore {
  readonly database: string;
  readonly animals: number;
  readonly key: string;
  readonly usedUp: string;
}

/** A PostgreSQL and a Valkey or Redis server that all measured services share. */
export class Backends {
  readonly postgres: PostgresServer;
  readonly valkey: ValkeyServer;
  #valkeyDatabases = 0;

  /** Starts both. They are stopped with the processes. `animals` is how many will be stored at the most. */
  static async start(processes: Processes, animals: number): Promise<Backends> {
    if (postgresMissing) throw new Error(postgresMissing);
    if (!hasValkey) throw new Error("Neither valkey-server nor redis-server is installed.");
    requireDisk(ROOM_OF_LOG + animals * ROOM_OF_ANIMAL);
    const [postgres, valkey] = await Promise.all([PostgresServer.start(SETTINGS), ValkeyServer.start()]);
    processes.onStop(async () => void (await Promise.all([postgres.remove(), valkey.stop()])));
    return new Backends(postgres, valkey);
  }

  private constructor(postgres: PostgresServer, valkey: ValkeyServer) {
    this.postgres = postgres;
    this.valkey = valkey;
  }

  /** Makes a store with the service's own schema, filled by SQL. Half of the animals are available. */
  async newStore(animals: number): Promise<SharedStore> {
    const database = await this.postgres.newDatabase();
    const storage = await openPostgres(parsePostgresAddress(this.postgres.url(database)) as PostgresAddress, {
      migrations,
    });
    await storage.close();
    const [key, usedUp] = [generateApiKey("live"), generateApiKey("live")];
    await this.postgres.run(
      `INSERT INTO pets (shop, id, name, category_id, status, added_at)
         SELECT 1, n, 'Animal ' || n, n % 100 + 1,
           CASE n % 4 WHEN 1 THEN 'pending' WHEN 3 THEN 'sold' ELSE 'available' END, 1795219200000
         FROM generate_series(1, ${animals}) AS n;
       INSERT INTO store_generation VALUES (1, '${GENERATION}');
       ${accountSql(1, key, animals, UNLIMITED)} ${accountSql(2, usedUp, 0, { ...UNLIMITED, perMinute: 1 })}
       SELECT setval(pg_get_serial_sequence('shops', 'shop'), 2)`,
      database,
    );
    // Otherwise the server does this itself some minutes later, during a round.
    await this.postgres.run("VACUUM ANALYZE", database);
    await this.postgres.run("CHECKPOINT", database);
    return { database, animals, key, usedUp };
  }

  /** A copy of a store that no service has open. */
  async copyOf(store: SharedStore): Promise<SharedStore> {
    return { ...store, database: await this.postgres.newDatabase(store.database) };
  }

  /** Where one service finds its store, and a part of Valkey that no other service uses. */
  addressesOf({ database }: SharedStore): { database: string; valkey: string } {
    return { database: this.postgres.url(database), valkey: `${this.valkey.url}/${this.#valkeyDatabases++}` };
  }

  /** Microseconds of CPU time that both have used. */
  async totals(): Promise<Totals> {
    const pids = this.postgres.pids();
    return {
      "PostgreSQL µs": 1e6 * (sumOf(pids.map(timeOf)) + cpuTimeOfEndedChildren(pids[0] as number)),
      "Valkey µs": 1e6 * cpuTime(this.valkey.pid),
    };
  }
}

function accountSql(shop: number, key: string, animals: number, { perMinute, perDay }: Quota): string {
  return `
    INSERT INTO shops (shop, account_id, mode, last_pet_id) VALUES (${shop}, 'acc_${shop}', 'live', ${animals});
    INSERT INTO accounts (id, name, plan, per_minute, per_day, created_at)
      VALUES ('acc_${shop}', 'Customer', 'enterprise', ${perMinute}, ${perDay}, 0);
    INSERT INTO api_keys (id, account_id, mode, name, digest, hint, scopes, created_at) VALUES
      ('key_${shop}', 'acc_${shop}', 'live', 'default', '${keyDigest(key)}', '${key.slice(0, 11)}', 'read,write', 0);`;
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** The CPU time of a process; 0 if it has ended, because its parent then has its time. */
function timeOf(pid: number): number {
  try {
    return cpuTime(pid);
  } catch {
    return 0;
  }
}

function requireDisk(bytes: number): void {
  const folder = tmpdir();
  const { type, bavail, bsize } = statfsSync(folder);
  if (type === TMPFS) throw new Error(`${folder} is in memory: set TMPDIR to a folder on a disk.`);
  if (bavail * bsize < bytes) {
    throw new Error(`${folder} has no ${Math.ceil(bytes / 1e9)} GB left: set TMPDIR to a folder that has.`);
  }
}
