import { createHash } from "node:crypto";
import { LineFaults, readLines, UnreadableRest } from "../../files/lines.ts";
import { FileError } from "../../files/new-file.ts";
import { CommitUnknown, StorageUnavailable } from "../../storage/errors.ts";
import { CommandFailed } from "../../terminal/command.ts";
import { counted } from "../../terminal/output.ts";
import { ShopDeleted } from "../shops/shops.store.ts";
import { type Format, type IdRule, readPets } from "./pets.files.ts";
import { ConcurrentChange, type PetImportStore } from "./pets.import.store.ts";

/** The number of animals in a part. Adding a part blocks other writers for some hundredths of a second. */
const PART = 10_000;
/** The pause between two parts, in milliseconds. It is longer than the retry interval of blocked writers. */
const PAUSE = 10;

export interface ImportOptions {
  readonly format: Format;
  /** If undefined, an id in the file is a fault. */
  readonly ids: IdRule | undefined;
  /** Adds the animals in parts, each in its own transaction, instead of all in one. */
  readonly inParts: boolean;
  readonly stop: AbortSignal;
  readonly onProgress: (progress: ImportProgress) => void;
}

/** The progress of an import: the bytes that were read, and the animals found in them. */
export interface ImportProgress {
  readonly bytes: number;
  readonly staged: number;
  /** Animals added so far; undefined while the file is being read. */
  readonly added: number | undefined;
}

export interface ImportResult {
  /** Animals that this import added, and those that earlier imports of the same file in parts added. */
  readonly added: number;
  readonly before: number;
  /** The faults of the file. If there are any, this import added nothing. */
  readonly faults: LineFaults;
}

/** The import failed. The message says why, and which animals are in the store. */
export class ImportFailed extends CommandFailed {
  override readonly name = "ImportFailed";

  constructor(message: string, options: { readonly cause: unknown }) {
    super("import_failed", message, options);
  }
}

/**
 * Adds the animals of a file to the store. It first reads, checks and stages the whole file. Rejects with
 * `ImportFailed`.
 */
export async function importPets(
  store: PetImportStore,
  source: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportResult> {
  const done = { before: 0, added: 0 };
  let isStaged = false;
  try {
    const { faults, staged, digest, bytes } = await stagePets(store, source, options);
    const position = await store.position(options.inParts ? digest : undefined);
    await store.checkCategories(faults, position);
    await store.checkIds(faults, position);
    isStaged = true;
    done.before = Number(position.animals);
    if (faults.total > 0) return { ...done, faults };
    const report = () => options.onProgress({ bytes, staged, added: done.before + done.added });
    if (!options.inParts) {
      report();
      await store.addAll();
      return { ...done, added: staged, faults };
    }
    for (;;) {
      report();
      throwIfStopped(options.stop);
      const next = await store.addPart(digest, PART);
      if (!next) return { ...done, faults };
      done.added = Number(next.animals) - done.before;
      await Bun.sleep(PAUSE); // lets other writers continue
    }
  } catch (error) {
    // A failure while animals are being staged loses only the staging table: nothing has been added to the store yet.
    throw explain(error, options, done.before + done.added, isStaged && error instanceof CommitUnknown);
  }
}

/** Reads the whole file, stages its animals and collects its faults. */
async function stagePets(store: PetImportStore, source: AsyncIterable<Uint8Array>, options: ImportOptions) {
  const { format, ids, stop, onProgress } = options;
  const faults = new LineFaults();
  // The same file with another format or id rule is a different import.
  const digest = createHash("sha256").update(`${format} ${ids}\n`);
  let bytes = 0;
  let staged = 0;
  async function* watched() {
    for await (const piece of source) {
      throwIfStopped(stop);
      digest.update(piece);
      bytes += piece.length;
      yield piece;
    }
    throwIfStopped(stop);
  }
  try {
    for await (const part of readPets(format, ids, readLines(watched()))) {
      faults.add(part.faults);
      await store.stage(part.pets);
      staged += part.pets.length;
      onProgress({ bytes, staged, added: undefined });
    }
  } catch (error) {
    if (!(error instanceof UnreadableRest)) throw error;
    faults.add([{ line: error.line, message: error.message }]);
  }
  return { faults, staged, digest: digest.digest("hex"), bytes };
}

class Stopped extends Error {}

function throwIfStopped(stop: AbortSignal): void {
  if (stop.aborted) throw new Stopped();
}

function explain(error: unknown, { inParts, stop }: ImportOptions, added: number, isUnknown: boolean): unknown {
  if (error instanceof ShopDeleted) {
    const message = "The sandbox was reset, or the account was deleted. The shop has no animal of the file.";
    return new ImportFailed(message, { cause: error });
  }
  const reason = reasonOf(error, stop);
  if (reason === undefined) return error;
  const rest =
    inParts && added > 0
      ? `Added so far: ${counted(added, "animal")}. The same command continues there.`
      : "Nothing was added.";
  if (isUnknown) {
    const advice = inParts ? "Run the same command again: it adds nothing twice." : "Check the store first.";
    return new ImportFailed(`${reason} The last animals may or may not have been added. ${advice}`, { cause: error });
  }
  return new ImportFailed(`${reason} ${rest}`, { cause: error });
}

function reasonOf(error: unknown, stop: AbortSignal): string | undefined {
  if (error instanceof Stopped || (stop.aborted && (error as Error).name === "AbortError")) return "It was stopped.";
  if (error instanceof StorageUnavailable) return `The store failed: ${error.message.replace(/\.$/, "")}.`;
  if (error instanceof ConcurrentChange) return `Another process changed the store. ${error.message}`;
  return error instanceof FileError ? error.message : undefined;
}
