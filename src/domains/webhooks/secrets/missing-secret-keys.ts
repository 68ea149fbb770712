import { statement } from "../../../storage/statement.ts";
import { type NewestSecrets, stateQueries } from "../../../storage/store-state.ts";
import { all } from "../../../storage/transaction.ts";
import type { Host } from "../../domain.ts";
import { endpointsWithoutKey } from "./endpoint-secrets.ts";
import type { SecretKeys } from "./secret-keys.ts";

/** Milliseconds between two checks. They are rare because the statement reads all endpoints. */
const PERIOD = 60_000;

/** The query is in `storage/`, because `doctor` runs it without opening the store. */
const newestSecrets = statement<[], NewestSecrets>(stateQueries.newestSecrets);

/** Finds whether this process lacks secret keys of enabled endpoints: as the leader, it would send them nothing. */
export class MissingSecretKeys {
  readonly #host: Pick<Host, "storage" | "clock" | "log">;
  readonly #secretKeys: SecretKeys | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** How many enabled endpoints need a key that this process lacks. */
  endpoints = 0;

  constructor(host: Pick<Host, "storage" | "clock" | "log">, secretKeys: SecretKeys | undefined) {
    this.#host = host;
    this.#secretKeys = secretKeys;
  }

  /** Checks once a minute, because other processes create endpoints. Rejects with `StorageUnavailable`. */
  async check(): Promise<void> {
    const { storage, clock, log } = this.#host;
    if (clock.monotonic() - this.#checkedAt < PERIOD) return;
    const endpoints = endpointsWithoutKey(await storage.read(all(newestSecrets)), this.#secretKeys);
    if (endpoints > 0 && this.endpoints === 0) log.warn("secret_key_missing", { endpoints });
    this.endpoints = endpoints;
    this.#checkedAt = clock.monotonic();
  }
}
