import { createReadStream, statSync } from "node:fs";
import type { ShopNumber } from "../../../contract/caller.ts";
import { isFailure } from "../../../contract/errors.ts";
import { asFileError } from "../../../files/new-file.ts";
import { CommitUnknown, StorageUnavailable } from "../../../storage/errors.ts";
import { type Storage, silentObserver } from "../../../storage/storage.ts";
import type { Query } from "../../../storage/transaction.ts";
import {
  type Command,
  type CommandContext,
  CommandFailed,
  choiceOf,
  type ParsedArguments,
  type Report,
  UsageError,
} from "../../../terminal/command.ts";
import { counted, pace, plain } from "../../../terminal/output.ts";
import { Progress } from "../../../terminal/progress.ts";
import { operator } from "../../events/publish.ts";
import { chosenShop, shopOptions } from "../../shops/shop-options.ts";
import { currencyOf } from "../../shops/shop-settings.store.ts";
import { fullness, type ShopFull } from "../counts/pets-in-shop.store.ts";
import type { PetStore } from "../pets.store.ts";
import { addPets } from "../several/pet-imports.store.ts";
import { onExistingRules } from "../several/several-pets.operations.ts";
import { formatOption, readPetFile } from "./file-arguments.ts";
import { type AddPets, checkPets, type ImportOptions, type ImportResult, importPets, whatIsIn } from "./file-import.ts";
import { type CategoryIds, idRules } from "./formats.ts";

/** The maximum number of bytes read at once. */
const PIECE = 256 * 1024;

/** The animals of a store for a command with these settings. If `isStrict`, the category of each animal must exist. */
type PetsOf = (storage: Storage, settings: CommandContext["settings"], isStrict: boolean) => PetStore;

/** The command that imports animals. */
export function importCommand(petsOf: PetsOf, categoryIds: (shop: ShopNumber) => Query<CategoryIds>): Command {
  return { ...definition, run: (given, context) => runImport(given, context, petsOf, categoryIds) };
}

const definition = {
  name: "import",
  summary: "Add the animals of a file to a shop, also while the service runs.",
  example: "import animals.csv",
  description:
    "The file is JSON Lines, or CSV with a header as spreadsheets write it; - is the standard input. Its fields are\n" +
    "those of importPets, by the same rules. In CSV, a column category has the name or id of a category, and price\n" +
    "a decimal such as 129.00, in the currency of the column currency or of the shop. A file is\n" +
    "checked before anything is added, and its first 50 faults are listed; the standard input as it is read. Then up to 500 animals at a time are added. If the command stops, it says which\n" +
    "lines are in, and where to continue. Unknown categories are refused with --strict-categories, or if the command\n" +
    "itself has the setting PETSTORE_STRICT_CATEGORIES=true: it does not know the settings of a running service.",
  args: ["FILE"],
  options: {
    ...formatOption,
    ...shopOptions,
    ids: {
      meaning:
        "Required for a file with ids: keep them (ascending, and above the last id that the shop has assigned) or assign new ones.",
      value: idRules.join("|"),
    },
    "on-existing": {
      meaning:
        "For an animal whose reference another one has: a fault, no change, or a change of the fields in the file.",
      value: onExistingRules.join("|"),
      fallback: "refuse",
    },
    "from-line": { meaning: "Leave out the lines before this one: they are in.", value: "N", fallback: "1" },
    "strict-categories": { meaning: "Refuse a category that does not exist." },
  },
} as const;

async function runImport(
  given: ParsedArguments,
  context: CommandContext,
  petsOf: PetsOf,
  categoryIds: (shop: ShopNumber) => Query<CategoryIds>,
): Promise<Report> {
  const { path, format } = readPetFile(given, context.folder);
  const ids = given.options["ids"] === undefined ? undefined : choiceOf(given, "ids", idRules);
  const onExisting = choiceOf(given, "on-existing", onExistingRules);
  const fromLine = readLineNumber(given.options["from-line"]);
  // What can be read only once, as a pipe, is not checked first.
  const size = path === undefined ? undefined : sizeOf(path);
  const { store, stop } = context;
  const progress = new Progress(context.showStatus, "animal");
  const name = path ?? "standard input";
  let fatalError: Error | undefined;
  const fatal = (error: Error) => (fatalError = error);
  const storage = await store.open({ ...silentObserver, fatal });
  try {
    const shop = await chosenShop(given, store, storage);
    const csv = {
      categories: await storage.read(categoryIds(shop)),
      currency: await storage.read(currencyOf(shop)),
    };
    const options: ImportOptions = { format, ids, csv, fromLine, stop };
    const { checks } = petsOf(storage, context.settings, given.options["strict-categories"] !== undefined);
    const add: AddPets = async (part) => {
      try {
        const result = await storage.write(() => addPets(checks, operator(shop), part, { onExisting }));
        if ("refused" in result) throw shopIsFull(result);
        return isFailure(result) ? undefined : result;
      } catch (error) {
        // A failed sync leaves the outcome unknown. The store also becomes unusable once a newer release has updated it,
        // but then nothing was added.
        throw fatalError instanceof StorageUnavailable
          ? new CommitUnknown(fatalError.message, { cause: error })
          : error;
      }
    };
    let total: number | undefined;
    if (path !== undefined && size !== undefined) {
      const { animals, faults } = await checkPets(readFile(path, stop), options, (bytes, found) =>
        progress.report("Checking", found, bytes / size),
      );
      if (faults.total > 0) return report(name, { ...nothing, nextLine: fromLine, faults }, fromLine, progress.seconds);
      const full = onExisting === "refuse" && (await storage.read(fullness(shop, animals)));
      if (full) throw shopIsFull(full, animals);
      total = animals;
    }
    const source = path === undefined ? context.input() : readFile(path, stop);
    const result = await importPets(source, add, options, (added) =>
      progress.report("Adding", added, total && added / total),
    );
    return report(name, result, fromLine, progress.seconds);
  } finally {
    progress.end();
    await storage.close();
  }
}

/** `animals` are those of a file of which nothing was added. */
function shopIsFull({ allowed }: ShopFull, animals?: number): CommandFailed {
  const many = animals === undefined ? "the rest of the file does" : `the ${counted(animals, "animal")} of the file do`;
  const message = `The shop may hold ${counted(Number(allowed), "animal")}, and ${many} not fit.`;
  return new CommandFailed("shop_full", `${message}${animals === undefined ? "" : " Nothing was added."}`);
}

function readLineNumber(text = "1"): number {
  const line = /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
  if (line === 0) throw new UsageError("--from-line must be the number of a line, from 1 on.");
  return line;
}

/** The size of a file; undefined for a pipe or a device. */
function sizeOf(path: string): number | undefined {
  try {
    const stat = statSync(path);
    return stat.isFile() ? stat.size : undefined;
  } catch (error) {
    throw asFileError(error, path);
  }
}

async function* readFile(path: string, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: PIECE, signal: stop }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw asFileError(error, path);
  }
}

const nothing = { added: 0, updated: 0, skipped: 0 };

function report(file: string, result: ImportResult, fromLine: number, seconds: number): Report {
  const { added, updated, skipped, nextLine, faults } = result;
  const { reported, total } = faults;
  if (total === 0) {
    const created = added - updated - skipped;
    const existing = updated + skipped > 0 ? ` ${counted(updated, "animal")} updated, ${skipped} skipped.` : "";
    const text = `Added ${counted(created, "animal")} of ${file} ${pace(added, seconds)}.${existing}`;
    return { json: { file, added: created, updated, skipped, nextLine, seconds }, text };
  }
  const lines = reported.map(({ line, message }) => `line ${line}: ${plain(message)}`);
  if (total > reported.length) lines.push(`and ${(total - reported.length).toLocaleString("en")} more`);
  lines.push(`${file} has ${counted(total, "fault")}. ${whatIsIn(fromLine, nextLine, added)}`);
  return {
    json: { file, added, nextLine, faults: reported, moreFaults: total - reported.length },
    text: lines.join("\n"),
    hasFailed: true,
  };
}
