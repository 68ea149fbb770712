import { engineOf } from "../app/store/engines.ts";
import { openUnused } from "../app/store/serving-claim.ts";
import { isProduction } from "../config.ts";
import { adoptStore } from "../domains/keys/store-environment.store.ts";
import { pauseAllEndpoints } from "../domains/webhooks/endpoints/endpoints.statements.ts";
import { StorageUnusable } from "../storage/errors.ts";
import { endGeneration } from "../storage/generation.ts";
import { all } from "../storage/transaction.ts";
import { counted } from "../terminal/amounts.ts";
import { CommandFailed } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import type { ProgramCommand } from "./program-command.ts";

export const adopt: ProgramCommand = {
  name: "adopt",
  summary: "Turn a copy of a production store into one for staging or development.",
  example: "adopt --yes",
  description:
    "Afterwards the copy belongs to PETSTORE_ENV, which must be set, and production refuses it. Its live keys are\n" +
    "deleted permanently, and its test keys stay. Its webhook endpoints are paused. No service may have it open. Never\n" +
    "run this on the production store itself.",
  options: yesOption,
  run: async (given, context) => {
    const { config } = context;
    const engine = engineOf(config);
    const { place } = engine;
    // PETSTORE_ENV defaults to development. If it is not set, this may be the machine of production.
    if (isProduction(config) || !config.environmentIsSet) {
      throw new CommandFailed(
        "wrong_environment",
        "Set PETSTORE_ENV to the environment of the copy: staging or development.",
      );
    }
    await engine.requireNotInUse();
    const state = await engine.inspect(); // opening the store would migrate it before the user confirms
    if (!state) throw new StorageUnusable(`There is no store in ${place}.`);
    if (!state.belongsToProduction) {
      throw new CommandFailed("wrong_environment", `The store at ${place} does not belong to production.`);
    }
    await confirm(`This removes all live keys from the store at ${place}.`, given, context);
    const { storage, release } = await openUnused(config);
    try {
      const [liveKeys, endpoints] = await storage.write(function* () {
        yield* all(endGeneration);
        return [yield* adoptStore(), yield* pauseAllEndpoints()] as const;
      });
      return {
        json: { place, environment: config.environment, liveKeysRemoved: liveKeys, endpointsPaused: endpoints },
        text:
          `The store at ${place} no longer belongs to production. ` +
          `${counted(liveKeys, "live key")} ${liveKeys === 1 ? "was" : "were"} removed. Test keys are still valid. ` +
          `${counted(endpoints, "webhook endpoint")} ${endpoints === 1 ? "was" : "were"} paused.`,
      };
    } finally {
      await storage.close();
      release();
    }
  },
};
