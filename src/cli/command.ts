import { parseArgs } from "node:util";
import type { Config } from "../config.ts";

/** What a command may use of the world around it. */
export interface Terminal {
  readonly config: Config;
  /** What a person types before the command: the program's name. */
  readonly invocation: string;
  /** Where relative paths start. */
  readonly folder: string;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  /** Standard input, in pieces. */
  readonly input: () => AsyncIterable<Uint8Array>;
  /** Writes to standard output, and resolves when it is taken. */
  readonly output: (text: string) => Promise<void>;
  /** Shows a line in place of the one before; absent where no person watches. */
  readonly showStatus: ((line: string) => void) | undefined;
  /** The environment as it was given, for a program that is started from here. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The words that start this program once more. */
  readonly program: readonly string[];
  /** Calls back at each SIGHUP, which otherwise ends the process. */
  readonly onHangup: (listener: () => void) => void;
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

/** One command of the command line. */
export interface Command {
  /** One or two words: `keys create`. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** True if only the program itself uses it: the overview does not show it. */
  readonly isInternal?: boolean;
  /** Names of the arguments, all of them required: `FILE`. */
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** What it did: as an object for `--json`, and in words. */
  readonly run: (given: Given, terminal: Terminal) => Promise<Report> | Report;
}

export interface Report {
  readonly json: unknown;
  readonly text: string;
  /** True if it could not do what it was asked to. */
  readonly hasFailed?: boolean;
  /** True if standard output has something else already. */
  readonly isBesideOutput?: boolean;
}

/** A command line that cannot be understood, in words for the person who wrote it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reads what stands behind a command's name; `help` where help is asked for. Throws `UsageError`. */
export function readArguments(command: Command, words: readonly string[]): Given | "help" {
  const options = command.options ?? {};
  const names = command.args ?? [];
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(
          Object.entries(options).map(([name, { value }]) => [name, { type: value ? "string" : "boolean" }] as const),
        ),
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split(". ")[0]}.`);
  }
  const { values, positionals } = parsed;
  if (values["help"]) return "help";
  if (positionals.length !== names.length) {
    throw new UsageError(
      names.length === 0
        ? `${command.name} takes no argument, but was given ${positionals.join(" ")}.`
        : `${command.name} takes ${names.join(" and ")}.`,
    );
  }
  for (const [name, { isRequired }] of Object.entries(options)) {
    if (isRequired && !values[name]) throw new UsageError(`${command.name} needs --${name}.`);
  }
  const given = Object.entries(options).map(([name, { fallback }]) => [name, values[name]?.toString() ?? fallback]);
  return { options: Object.fromEntries(given), args: positionals, json: values["json"] === true };
}

/** The help of one command; `invocation` is what is typed before it. */
export function commandHelp(command: Command, invocation: string): string {
  const options = Object.entries(command.options ?? {});
  const usage = [
    command.name,
    ...(command.args ?? []),
    ...options.map(([name, { value, isRequired }]) => {
      const option = value ? `--${name} ${value}` : `--${name}`;
      return isRequired ? option : `[${option}]`;
    }),
    "[--json]",
  ].join(" ");
  const rows = options.map(([name, { value, meaning, fallback }]) => [
    value ? `--${name} ${value}` : `--${name}`,
    fallback ? `${meaning} Default: ${fallback}.` : meaning,
  ]);
  rows.push(["--json", "Print the result as JSON."], ["--help", "Print this."]);
  return [
    `${command.summary}\n`,
    `Usage: ${invocation} ${usage}\n`,
    ...(command.description ? [`${command.description}\n`] : []),
    columns(rows),
  ].join("\n");
}

/** Rows as columns of equal width, two spaces apart. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
