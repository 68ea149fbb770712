import { lastChange } from "../../domains/shops/shops.statements.ts";
import { newestSecrets } from "../../domains/webhooks/secrets/endpoint-secrets.ts";
import { readEnvironment } from "../../storage/environment.ts";
import { readGeneration, storeMark } from "../../storage/generation.ts";
import type { EngineState, Look } from "../../storage/storage.ts";

/** The state of a store, read without changing it. */
export type StoreState = EngineState & Awaited<ReturnType<typeof readState>>;

/** Reads what a store holds of its state. */
export async function readState(look: Look) {
  const [environment] = await look(readEnvironment);
  const [generation] = await look(readGeneration);
  const [change] = await look(lastChange);
  return {
    /** Undefined if the store has no environment yet. */
    belongsToProduction: environment && environment.environment === "production",
    /** The mark of its backups: see `storeMark`. Undefined before the first start of a service. */
    mark: generation && storeMark(generation.generation),
    /** The time of the last change of a shop, in unix milliseconds; 0 if there was none. */
    lastChange: Number(change?.at ?? 0),
    newestSecrets: await look(newestSecrets),
  };
}
