import { createReadStream, statSync } from "node:fs";
import { asFileError } from "../../files/new-file.ts";
import { StorageUnavailable } from "../../storage/errors.ts";
import { silentObserver } from "../../storage/storage.ts";
import {
  type Command,
  type CommandContext,
  type ParsedArguments,
  type Report,
  UsageError,
} from "../../terminal/command.ts";
import { counted, pace, plain } from "../../terminal/output.ts";
import { Progress } from "../../terminal/progress.ts";
import { chosenShop, shopOptions } from "../shops/shop-options.ts";
import { formatOption, readPetFile } from "./pets.file-arguments.ts";
import { idRules } from "./pets.files.ts";
import { PetImportStore } from "./pets.import.store.ts";
import { ImportFailed, type ImportProgress, type ImportResult, importPets } from "./pets.import.ts";

/** The maximum number of bytes read at once. */
const PIECE = 256 * 1024;

/** True if the settings require that the category of each animal exists. */
type StrictSetting = (settings: CommandContext["settings"]) => boolean;

/** The command that imports animals. */
export function importCommand(isStrictBySetting: StrictSetting): Command {
  return { ...definition, run: (given, context) => runImport(given, context, isStrictBySetting) };
}

const definition = {
  name: "import",
  summary: "Add the animals of a file to a shop, also while the service runs.",
  example: "import animals.csv",
  description:
    "The file is JSON Lines or CSV with a header, in UTF-8; - is the standard input. Its fields are those of\n" +
    "createPet, by the same rules. The whole file is checked first, and the first 50 faults are listed. Animals get\n" +
    "new ids, except with --ids keep. Unknown categories are refused with --strict-categories, or if the command\n" +
    "itself has the setting PETSTORE_STRICT_CATEGORIES=true: it does not know the settings of a running service.",
  args: ["FILE"],
  options: {
    ...formatOption,
    ...shopOptions,
    ids: {
      meaning:
        "Required for a file with ids: keep them (each above the last id that the shop has assigned) or assign new ones.",
      value: idRules.join("|"),
    },
    "strict-categories": { meaning: "Refuse a category that does not exist." },
    resumable: { meaning: "Add them in parts. The same command continues where an earlier one was stopped." },
  },
} as const;

async function runImport(
  given: ParsedArguments,
  context: CommandContext,
  isStrictBySetting: StrictSetting,
): Promise<Report> {
  const { path, format } = readPetFile(given, context.folder);
  const ids = idRules.find((rule) => rule === given.options["ids"]);
  if (given.options["ids"] !== undefined && !ids) throw new UsageError(`--ids must be ${idRules.join(" or ")}.`);
  const inParts = given.options["resumable"] !== undefined;
  const { store, stop } = context;
  const progress = new Progress(context.showStatus, "animal");
  const size = path === undefined ? undefined : sizeOf(path);
  let fatalError: Error | undefined;
  const fatal = (error: Error) => (fatalError = error);
  const storage = await store.open({ ...silentObserver, fatal });
  try {
    const shop = await chosenShop(given, store, storage);
    const isStrict = isStrictBySetting(context.settings) || given.options["strict-categories"] !== undefined;
    const imports = await PetImportStore.open(storage, shop, { ids, isStrict });
    try {
      const onProgress = (state: ImportProgress) => show(progress, state, size, inParts);
      const source = path === undefined ? context.input() : readFile(path, context);
      const result = await importPets(imports, source, { format, ids, inParts, stop, onProgress });
      return report(path ?? "standard input", result, progress.seconds);
    } catch (error) {
      // A failed sync leaves the outcome unknown. (`importPets` handles a lost response.) The store also becomes unusable
      // once a newer release has updated it, but then `error` says what was added.
      throw fatalError instanceof StorageUnavailable
        ? new ImportFailed(outcomeUnknown(fatalError), { cause: error })
        : error;
    } finally {
      progress.end();
      await imports.close();
    }
  } finally {
    await storage.close();
  }
}

function sizeOf(path: string): number | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() ? stat.size : undefined;
  } catch (error) {
    throw asFileError(error, path);
  }
}

async function* readFile(path: string, { stop }: CommandContext): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: PIECE, signal: stop }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw asFileError(error, path);
  }
}

function show(progress: Progress, state: ImportProgress, size: number | undefined, inParts: boolean): void {
  const { bytes, staged, added } = state;
  if (added === undefined) progress.report("Reading", staged, size === undefined ? undefined : bytes / size);
  else if (inParts) progress.report("Adding", added, added / staged);
  else progress.announce(`Adding ${counted(staged, "animal")} at once`);
}

function report(file: string, { added, before, faults }: ImportResult, seconds: number): Report {
  const { reported, total } = faults;
  if (total === 0) {
    const earlier = before > 0 ? ` ${before.toLocaleString("en")} had been added before.` : "";
    const text = `Added ${counted(added, "animal")} of ${file} ${pace(added, seconds)}.${earlier}`;
    return { json: { file, added, before, seconds }, text };
  }
  const lines = reported.map(({ line, message }) => `line ${line}: ${plain(message)}`);
  if (total > reported.length) lines.push(`and ${(total - reported.length).toLocaleString("en")} more`);
  const nothing = before > 0 ? "Nothing more" : "Nothing"; // an earlier run may have added a part
  return {
    json: { file, added, before, faults: reported, moreFaults: total - reported.length },
    text: `${lines.join("\n")}\n${nothing} of ${file} was added: it has ${total.toLocaleString("en")} ${total === 1 ? "fault" : "faults"}.`,
    hasFailed: true,
  };
}

function outcomeUnknown(error: Error): string {
  return `The store failed: ${error.message}. Some animals may or may not be on disk. Check the disk, then the store.`;
}
