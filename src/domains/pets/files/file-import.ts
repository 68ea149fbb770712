import { inUtf8 } from "../../../../csv/encoding.ts";
import { LineFaults, readLines, UnreadableRest } from "../../../files/lines.ts";
import { FileError } from "../../../files/new-file.ts";
import { CommitUnknown, StorageUnavailable } from "../../../storage/errors.ts";
import { CommandFailed } from "../../../terminal/command.ts";
import { counted } from "../../../terminal/output.ts";
import { ShopDeleted } from "../../shops/shops.store.ts";
import type { ImportedPet, PetFault, PetOutcome } from "../several/pet-imports.ts";
import { MOST_PETS } from "../several/several-pets.operations.ts";
import { type CsvContext, type FilePart, type FilePet, type Format, type IdRule, parsePets } from "./formats.ts";

/** The pause between two parts, in milliseconds. It is longer than the retry interval of blocked writers. */
const PAUSE = 10;

/**
 * Adds animals, all or none. Resolves with the faults of those that cannot be added, or else the outcome for each; with
 * undefined if they are too large together.
 */
export type AddPets = (pets: readonly ImportedPet[]) => Promise<
  | {
      readonly faults: readonly PetFault[];
      readonly imported: readonly { readonly outcome: PetOutcome }[];
    }
  | undefined
>;

export interface ImportOptions {
  readonly format: Format;
  /** If undefined, an id in the file is a fault. */
  readonly ids: IdRule | undefined;
  readonly csv?: CsvContext;
  /** The first line that counts. The header of a CSV file always does. */
  readonly fromLine: number;
  readonly stop: AbortSignal;
}

export interface ImportResult {
  /** How many animals of the file are in the shop. */
  readonly added: number;
  /** Those of them that were there before. */
  readonly updated: number;
  readonly skipped: number;
  /** The first line that is not in. */
  readonly nextLine: number;
  /** If there are any, nothing from `nextLine` on was added. */
  readonly faults: LineFaults;
}

/** Reads a whole file. Resolves with the number of its animals and its faults. Rejects with `CommandFailed`. */
export async function checkPets(
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
  onProgress: (bytes: number, animals: number) => void,
): Promise<{ readonly animals: number; readonly faults: LineFaults }> {
  const faults = new LineFaults();
  let [bytes, animals] = [0, 0];
  async function* measured() {
    for await (const piece of source) {
      bytes += piece.length;
      yield piece;
    }
  }
  try {
    for await (const part of partsOf(measured(), options)) {
      faults.add(part.faults);
      animals += part.pets.length;
      onProgress(bytes, animals);
    }
    return { animals, faults };
  } catch (error) {
    throw failureOf(error, options.stop, whatIsIn(options.fromLine, options.fromLine, 0));
  }
}

/**
 * Adds the animals of a file in parts. After a fault it adds no more, and only reads on to find the others. Rejects with
 * `CommandFailed`, which says which lines are in.
 */
export async function importPets(
  source: AsyncIterable<Uint8Array>,
  add: AddPets,
  options: ImportOptions,
  onProgress: (added: number) => void,
): Promise<ImportResult> {
  const { fromLine, stop } = options;
  const faults = new LineFaults();
  let [added, nextLine] = [0, fromLine];
  const outcomes = { created: 0, updated: 0, skipped: 0 };
  let waiting: FilePet[] = [];
  let sent: readonly FilePet[] = [];
  let size = MOST_PETS;
  const addPart = async () => {
    throwIfStopped(stop);
    sent = waiting.slice(0, size);
    const result = await add(sent.map(({ pet }) => pet));
    if (!result) {
      size = Math.ceil(sent.length / 2);
      return;
    }
    waiting.splice(0, sent.length);
    const { faults: found, imported } = result;
    faults.add(found.map(({ index, path, message }) => ({ line: lineOf(sent[index]), message: `${path} ${message}` })));
    if (found.length > 0) return;
    for (const { outcome } of imported) outcomes[outcome]++;
    added += sent.length;
    nextLine = lineOf(sent.at(-1)) + 1;
    onProgress(added);
    await Bun.sleep(PAUSE); // lets other writers continue
  };
  try {
    for await (const part of partsOf(source, options)) {
      faults.add(part.faults);
      waiting = faults.total > 0 ? [] : [...waiting, ...part.pets];
      while (faults.total === 0 && waiting.length >= MOST_PETS) await addPart();
    }
    while (faults.total === 0 && waiting.length > 0) await addPart();
    const { updated, skipped } = outcomes;
    return { added, updated, skipped, nextLine, faults };
  } catch (error) {
    const unknown = error instanceof CommitUnknown ? sent : [];
    throw failureOf(error, stop, whatIsIn(fromLine, nextLine, added, unknown));
  }
}

/**
 * Which lines an import that began at `fromLine` has added, and how to continue. `unknown` is a part whose commit got no
 * response.
 */
export function whatIsIn(fromLine: number, nextLine: number, added: number, unknown: readonly FilePet[] = []): string {
  const known = `Lines ${fromLine} to ${nextLine - 1} are in (${counted(added, "animal")}). `;
  const last = unknown.at(-1);
  if (last) {
    return (
      `${added === 0 ? "" : known}Lines ${lineOf(unknown[0])} to ${last.line} may be in, all or none: if ` +
      `\`petstore events --type pet.created\` shows ${JSON.stringify(last.pet.name)}, continue with ` +
      `--from-line ${last.line + 1}, else with --from-line ${nextLine}.`
    );
  }
  return added === 0 ? "Nothing was added." : `${known}Continue with --from-line ${nextLine}.`;
}

function lineOf(pet: FilePet | undefined): number {
  return pet?.line ?? 0;
}

/** Reads the animals and faults from the first line that counts on. */
async function* partsOf(
  source: AsyncIterable<Uint8Array>,
  { format, ids, csv, fromLine, stop }: ImportOptions,
): AsyncGenerator<FilePart> {
  const counts = ({ line }: { readonly line: number }) => line >= fromLine;
  async function* untilStopped() {
    for await (const piece of source) {
      throwIfStopped(stop);
      yield piece;
    }
    throwIfStopped(stop);
  }
  const bytes = format === "csv" ? inUtf8(untilStopped()) : untilStopped();
  try {
    for await (const { pets, faults } of parsePets(format, ids, readLines(bytes), csv))
      yield { pets: pets.filter(counts), faults: faults.filter(counts) };
  } catch (error) {
    if (!(error instanceof UnreadableRest)) throw error;
    yield { pets: [], faults: [{ line: error.line, message: error.message }] };
  }
}

class Stopped extends Error {}

function throwIfStopped(stop: AbortSignal): void {
  if (stop.aborted) throw new Stopped();
}

/** The error for the user, if this one is not a bug. */
function failureOf(error: unknown, stop: AbortSignal, rest: string): unknown {
  if (error instanceof ShopDeleted) {
    const message = "The sandbox was reset, or the account was deleted. The shop has no animal of the file.";
    return new CommandFailed("import_failed", message, { cause: error });
  }
  if (error instanceof CommandFailed)
    return new CommandFailed(error.code, `${error.message} ${rest}`, { cause: error });
  const reason = reasonOf(error, stop);
  return reason === undefined ? error : new CommandFailed("import_failed", `${reason} ${rest}`, { cause: error });
}

function reasonOf(error: unknown, stop: AbortSignal): string | undefined {
  if (error instanceof Stopped || (stop.aborted && (error as Error).name === "AbortError")) return "It was stopped.";
  if (error instanceof StorageUnavailable) return `The store failed: ${error.message.replace(/\.$/, "")}.`;
  return error instanceof FileError ? error.message : undefined;
}
