import type { Operation } from "../contract/operation.ts";
import type { Settings, SettingValues } from "../settings/setting.ts";
import type { OpenStorage, Storage, StorageObserver } from "../storage/storage.ts";
import { plain } from "./output.ts";

/** The store that the settings choose, for a command that works on it alongside the service. */
export interface StoreAccess {
  /** Opens the store. Rejects with `StorageUnusable`, also if it does not exist or has an older schema. */
  open(observer?: StorageObserver): Promise<OpenStorage>;
  /** Opens the store and creates it if it does not exist. Rejects with `StorageUnusable`, also if it has an older schema. */
  openOrCreate(): Promise<OpenStorage>;
  /** The folder in which opening would create the store; undefined if the store exists or is not in a folder. */
  folderToCreate(): string | undefined;
  /** Rejects with `StorageUnusable` if the settings contradict the store. Returns whether it belongs to production. */
  requireEnvironment(storage: Storage): Promise<boolean>;
}

/** What a command may use. */
export interface CommandContext {
  readonly store: StoreAccess;
  /** The values of settings that a domain declares, or of the variables of this command. */
  readonly settings: <S extends Settings>(declared: S) => SettingValues<S>;
  /** All operations that the service serves. */
  readonly operations: readonly Operation[];
  /** Where relative paths start. */
  readonly folder: string;
  /** Standard input, in pieces. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output, and resolves when it is taken. */
  readonly output: (text: string) => Promise<void>;
  /** Replaces the last line shown. Absent if standard error is not a terminal. */
  readonly showStatus: ((line: string) => void) | undefined;
  /**
   * Prompts the user. Returns an empty text if the process must stop. Absent if standard input or standard error is not
   * a terminal.
   */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Aborted when the process is asked to stop. */
  readonly stop: AbortSignal;
}

/** An option of a command. Without `value` it is a switch. */
interface Option {
  readonly meaning: string;
  /** The placeholder of its value in the help: `NAME`. */
  readonly value?: string;
  readonly isRequired?: boolean;
  readonly fallback?: string;
}

/** The parsed command line: options by name, and arguments in order. */
export interface ParsedArguments {
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly args: readonly string[];
  readonly json: boolean;
}

/** One command of the command line. `Context` is what it may use. */
export interface Command<Context extends CommandContext = CommandContext> {
  /** One or two words: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** An example command line without the program's name: `keys list`. */
  readonly example: string;
  /** Names of the arguments: `FILE`, or `[FILE]` if it may be left out. */
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** Environment variables that are for this command alone. Other commands and the service ignore them. */
  readonly variables?: Settings;
  /** Returns the result as an object for `--json` and as text. Rejects with `CommandFailed`, or an error of a dependency. */
  readonly run: (given: ParsedArguments, context: Context) => Promise<Report> | Report;
}

export interface Report {
  readonly json: unknown;
  readonly text: string;
  /** True if the command failed. */
  readonly hasFailed?: boolean;
  /** True if the text goes to standard error, because standard output has something else already. */
  readonly printToStderr?: boolean;
  /** What to do if the result cannot be printed; for one that is not shown again. */
  readonly ifLost?: string;
  /** A warning, printed after the result. The command has not failed. */
  readonly warning?: Problem;
}

/** The error that `--json` prints on standard error. */
export interface Problem {
  /** Machine-readable, snake_case. */
  readonly code: string;
  readonly message: string;
}

/** A command line that cannot be understood, in words for the person who wrote it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A failed command, with a message for the user. Stores of domains throw `OperatorError`. */
export class CommandFailed extends Error {
  override readonly name: string = "CommandFailed";
  /** Machine-readable, snake_case: see `Problem`. */
  readonly code: string;
  /** The exit status. */
  readonly status: 1 | 2;

  constructor(code: string, message: string, options?: { readonly cause?: unknown; readonly status?: 2 }) {
    super(message, options);
    this.code = code;
    this.status = options?.status ?? 1;
  }
}

/**
 * Opens the store, runs `work` on it, and closes it. Rejects with `StorageUnusable` if there is no store, or it belongs
 * to another environment than the settings say. `opening` opens it in another way.
 */
export async function withStore<T>(
  { store }: Pick<CommandContext, "store">,
  work: (storage: Storage) => T | Promise<T>,
  opening: Promise<OpenStorage> = store.open(),
): Promise<T> {
  const storage = await opening;
  try {
    await store.requireEnvironment(storage);
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** The value of an option that must be one of some words. Throws `UsageError`. */
export function choiceOf<const T extends string>({ options }: ParsedArguments, name: string, known: readonly T[]): T {
  const found = known.find((one) => one === options[name]);
  if (found) return found;
  const words = known.length === 2 ? known.join(" or ") : `one of ${known.join(", ")}`;
  throw new UsageError(`--${name} must be ${words}.`);
}

/** The value of an option that must be a whole number from 1 to `most`, which has at most five digits. Throws `UsageError`. */
export function wholeNumber({ options }: ParsedArguments, name: string, most: number): number {
  const text = options[name] ?? "";
  if (!/^[1-9][0-9]{0,4}$/.test(text) || Number(text) > most) {
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}.`);
  }
  return Number(text);
}

/** The option of commands that ask before they do something irreversible. */
export const yesOption = { yes: { meaning: "Do it without asking." } } as const;

/**
 * Asks the user to confirm something irreversible, unless `--yes` is set. Throws `UsageError` if there is no terminal,
 * and `CommandFailed` if the answer is not yes.
 */
export async function confirm(
  consequence: string,
  { options }: ParsedArguments,
  { ask }: Pick<CommandContext, "ask">,
): Promise<void> {
  if (options["yes"] !== undefined) return;
  if (!ask) throw new UsageError(`${consequence} Add --yes to do it.`);
  const answer = await ask(plain(`${consequence} Type yes to do it: `));
  if (answer.trim().toLowerCase() !== "yes") throw new CommandFailed("not_confirmed", "Nothing was done.");
}
