import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Config } from "../config.ts";
import { didYouMean, suggest } from "../contract/suggest.ts";

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
  /** What is typed behind the program's name to run it once, with its own name: `keys list`. */
  readonly example: string;
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

/** Reads what stands behind a command's name; `help` where help is asked for. Throws `UsageError`. */
export function readArguments(command: Command, words: readonly string[]): Given | "help" {
  const options = command.options ?? {};
  const names = command.args ?? [];
  const known = {
    ...Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [name, { type: value ? "string" : "boolean" }] as const),
    ),
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  const unknown = unknownOption(words, known);
  if (unknown) {
    const meant = suggest(unknown.name, Object.keys(known));
    throw new UsageError(`${command.name} has no option ${unknown.rawName}.${didYouMean(meant && `--${meant}`)}`);
  }
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...words], allowPositionals: true, options: known });
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

/** The first option that is not among the known ones. */
function unknownOption(words: readonly string[], known: NonNullable<ParseArgsConfig["options"]>) {
  const config = { args: [...words], options: known, allowPositionals: true, strict: false, tokens: true } as const;
  return parseArgs(config).tokens.find((token) => token.kind === "option" && !Object.hasOwn(known, token.name)) as
    | { readonly name: string; readonly rawName: string }
    | undefined;
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
  rows.push(["--json", "Print the result as JSON, and an error too."], ["--help", "Print this."]);
  return [
    `${command.summary}\n`,
    `Usage: ${invocation} ${usage}\n`,
    ...(command.description ? [`${command.description}\n`] : []),
    columns(rows),
    `\nExample: ${invocation} ${command.example}`,
  ].join("\n");
}

/** Rows below a row of headings, as columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return columns([headings, ...rows]);
}

/** Rows as columns of equal width, two spaces apart; a wide character, such as an ideograph, takes two places. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? "")))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** A text with spaces behind it, as wide as so many letters. */
function pad(cell: string, width = 0): string {
  return cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
}
