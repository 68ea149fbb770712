import { resolve } from "node:path";
import { placeOf, restoreStorage } from "../app/open-storage.ts";
import { confirm, yesOption } from "../terminal/confirm.ts";
import { describeContents } from "./backups.ts";
import type { ProgramCommand } from "./command.ts";

export const restore: ProgramCommand = {
  name: "restore",
  summary: "Replace the embedded store with a backup.",
  example: "restore /backups/petstore-today.db --yes",
  description:
    "Stop the service first. The backup is verified and copied. The old store and its write-ahead log stay in the same\n" +
    "folder, under names that end in the time. A backup of a newer release is refused; one of an older release gets the\n" +
    "new schema at the next start. Afterwards, revoke again all keys that were revoked since the backup.",
  args: ["FILE"],
  options: yesOption,
  run: async (given, context) => {
    const { config, folder } = context;
    const [file, place] = [resolve(folder, given.args[0] ?? ""), placeOf(config)];
    await confirm(`This replaces the store at ${place} with ${file}.`, given, context);
    const { contents, replaced } = restoreStorage(config, file, new Date());
    const kept = replaced === undefined ? "" : ` The old store is now ${replaced}.`;
    return {
      json: { place, file, ...contents, replaced: replaced ?? null },
      text: `Restored ${file} to ${place}: ${describeContents(contents)}.${kept}`,
    };
  },
};
