import { lastChange } from "../../domains/shops/shops.statements.ts";
import { type NewestSecrets, newestSecrets } from "../../domains/webhooks/secrets/endpoint-secrets.ts";
import { readEnvironment } from "../../storage/environment.ts";
import { readGeneration, storeMark } from "../../storage/generation.ts";
import type { EngineState, Look } from "../../storage/storage.ts";

/** The state of a store, read without changing it. */
export interface StoreState extends EngineState {
  /** Undefined if the store has no environment yet. */
  readonly belongsToProduction: boolean | undefined;
  /** The mark of its backups: see `storeMark`. Undefined before the first start of a service. */
  readonly mark: string | undefined;
  /** The time of the last change of a shop, in unix milliseconds; 0 if there was none. */
  readonly lastChange: number;
  readonly newestSecrets: readonly NewestSecrets[];
}

/** Reads what a store holds of its state. */
export async function readState(look: Look): Promise<Omit<StoreState, keyof EngineState>> {
  const [environment] = await look(readEnvironment);
  const [generation] = await look(readGeneration);
  const [change] = await look(lastChange);
  return {
    belongsToProduction: environment && environment.environment === "production",
    mark: generation && storeMark(generation.generation),
    lastChange: Number(change?.at ?? 0),
    newestSecrets: await look(newestSecrets),
  };
}
