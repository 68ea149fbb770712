import type { Operation } from "../contract/operation.ts";
import type { Caller } from "../http/ports.ts";
import type { Settings, Values } from "../settings/setting.ts";
import type { Storage, StorageObserver } from "../storage/storage.ts";

/** The store that the settings choose, for a command that works on it alongside the service. */
export interface StoreAccess {
  /** Opens it. Rejects with `StorageUnusable`, also where there is none. */
  open(observer?: StorageObserver): Promise<Storage>;
  /** Opens it, and makes it where there is none. Rejects with `StorageUnusable`. */
  openOrMake(): Promise<Storage>;
  /** The folder that opening it would fill for the first time; undefined if it would not, or that is not known. */
  newPlace(): string | undefined;
  /** Whether it belongs to production. Rejects with `StorageUnusable` where the settings contradict it. */
  isProduction(storage: Storage): Promise<boolean>;
  /** When the bans end that hold now, in unix seconds, by key. Rejects if nobody can tell. */
  banEnds(
    storage: Storage,
    keys: readonly Pick<Caller, "keyId" | "accountId" | "mode">[],
  ): Promise<ReadonlyMap<string, number>>;
  /** Lifts the ban of a key, for all processes. Rejects if that is not sure; it can be called again. */
  liftBan(storage: Storage, key: Pick<Caller, "keyId" | "accountId" | "mode">): Promise<void>;
}

/** What a command may use of the world around it. */
export interface Terminal {
  readonly store: StoreAccess;
  /** The values of settings that a domain declares. */
  readonly settings: <S extends Settings>(declared: S) => Values<S>;
  /** All operations that the service serves. */
  readonly operations: readonly Operation[];
  /** Where relative paths start. */
  readonly folder: string;
  /** Standard input, in pieces. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output, and resolves when it is taken. */
  readonly output: (text: string) => Promise<void>;
  /** Shows a line in place of the one before; absent where no person watches. */
  readonly showStatus: ((line: string) => void) | undefined;
  /** Asks a person, and gives what is typed; an empty text if the process is asked to stop. Absent where nobody watches. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Aborted when the process is asked to stop. */
  readonly stop: AbortSignal;
}

/** An option of a command. Without `value` it is a switch. */
interface Option {
  readonly meaning: string;
  /** What its value is called in the help: `NAME`. */
  readonly value?: string;
  readonly isRequired?: boolean;
  readonly fallback?: string;
}

/** What a command was given: its options by name, and its arguments in order. */
export interface Given {
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly args: readonly string[];
  readonly json: boolean;
}

/** One command of the command line. `T` is what it needs of the world around it. */
export interface Command<T extends Terminal = Terminal> {
  /** One or two words: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** What is typed behind the program's name to run it once, with its own name: `keys list`. */
  readonly example: string;
  /** True if only the program itself uses it: the overview does not show it. */
  readonly isInternal?: boolean;
  /** Names of the arguments, all of them required: `FILE`. */
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** What it did: as an object for `--json`, and in words. Rejects with `CommandFailed`, or an error of what it uses. */
  readonly run: (given: Given, terminal: T) => Promise<Report> | Report;
}

export interface Report {
  readonly json: unknown;
  readonly text: string;
  /** True if it could not do what it was asked to. */
  readonly hasFailed?: boolean;
  /** True if standard output has something else already. */
  readonly isBesideOutput?: boolean;
  /** What is missing in a report that is good otherwise. */
  readonly warning?: Problem;
}

/** What went wrong, as `--json` shows it on standard error. */
export interface Problem {
  /** Machine-readable, snake_case. */
  readonly code: string;
  readonly message: string;
}

/** A command line that cannot be understood, in words for the person who wrote it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A command that could not do what it was asked to, in words for the person at the terminal. */
export class CommandFailed extends Error {
  override readonly name: string = "CommandFailed";
  /** Machine-readable, snake_case: see `Problem`. */
  readonly code: string;

  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
