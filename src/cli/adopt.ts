import { openUnused, placeOf } from "../app/open-storage.ts";
import { isProduction } from "../config.ts";
import { adoptStore, belongsToProduction } from "../domains/keys/store-environment.store.ts";
import { CommandFailed } from "../terminal/command.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { counted } from "../terminal/progress.ts";
import type { ProgramCommand } from "./command.ts";

export const adopt: ProgramCommand = {
  name: "adopt",
  summary: "Turn a copy of a production store into one for staging or development.",
  example: "adopt --yes",
  description:
    "The copy belongs to PETSTORE_ENV from then on, and production refuses it. Its live keys are removed for good;\n" +
    "test keys stay. No service may have it open. Never run this on the store of production itself.",
  options: yesOption,
  run: async (given, terminal) => {
    const { config } = terminal;
    const place = placeOf(config);
    if (isProduction(config)) {
      throw new CommandFailed(
        "not_possible",
        "Set PETSTORE_ENV to the environment of the copy: staging or development.",
      );
    }
    const { storage, release } = await openUnused(config);
    try {
      if (!(await belongsToProduction(storage))) {
        throw new CommandFailed("not_possible", `The store at ${place} does not belong to production.`);
      }
      await confirm(`This removes all live keys from the store at ${place}.`, given, terminal);
      const liveKeys = await storage.write(adoptStore);
      return {
        json: { place, environment: config.environment, liveKeysRemoved: liveKeys },
        text:
          `The store at ${place} does not belong to production any more. ` +
          `${counted(liveKeys, "live key")} ${liveKeys === 1 ? "was" : "were"} removed. Test keys are still valid.`,
      };
    } finally {
      await storage.close();
      release();
    }
  },
};
