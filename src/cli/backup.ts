import { statSync } from "node:fs";
import { resolve } from "node:path";
import { backupStorage } from "../app/open-storage.ts";
import type { ProgramCommand } from "./command.ts";

export const backup: ProgramCommand = {
  name: "backup",
  summary: "Write a copy of the store to a file, also while the service runs.",
  example: "backup /backups/petstore-today.db",
  description:
    "The copy is one consistent moment of the store. To restore it, stop the service and put the file\n" +
    "in the data folder as petstore.db, with no petstore.db-wal beside it.",
  args: ["FILE"],
  run: ({ args }, { config, folder }) => {
    const file = resolve(folder, args[0] ?? "");
    backupStorage(config, file);
    const { size } = statSync(file);
    return { json: { file, bytes: size }, text: `Wrote ${size} bytes to ${file}.` };
  },
};
