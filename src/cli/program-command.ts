import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Config, ConfigError } from "../config.ts";
import { didYouMean, suggest } from "../contract/messages.ts";
import {
  type Command,
  type CommandContext,
  type ParsedArguments,
  type Report,
  UsageError,
} from "../terminal/command.ts";
import { columns } from "../terminal/output.ts";

/** What a command of the program itself may use, in addition to what commands of domains may use. */
export interface ProgramContext extends CommandContext {
  readonly config: Config;
  /** What a person types before a command: `petstore`, its path, or `npm run --silent petstore --`. */
  readonly invocation: string;
  /** Prints a line on standard output. If that fails, throws an error whose message ends with `ifLost`. */
  readonly print: (text: string, ifLost?: string) => void;
  readonly printError: (text: string) => void;
  /** The environment variables, for a child process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The command line that starts this program again. */
  readonly program: readonly string[];
}

/** A command of the program itself. A command of a domain can also be used as one. */
export interface ProgramCommand extends Command<ProgramContext> {
  /** The report if the settings are invalid; if absent, invalid settings end the program with an error. */
  readonly reportInvalidSettings?: (error: ConfigError) => Report;
}

/** Reads the options and arguments after a command's name; `help` if they ask for help. Throws `UsageError`. */
export function readArguments(command: ProgramCommand, words: readonly string[]): ParsedArguments | "help" {
  const options = command.options ?? {};
  const names = command.args ?? [];
  const known = {
    ...Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [name, { type: value ? "string" : "boolean" }] as const),
    ),
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  const { tokens, values, positionals } = parseArgs({
    args: [...words],
    options: known,
    allowPositionals: true,
    strict: false, // the parser's own messages are for programmers
    tokens: true,
  });
  for (const token of tokens) if (token.kind === "option") checkOption(command, token, known);
  if (values["help"]) return "help";
  const needed = names.filter((name) => !name.startsWith("[")).length;
  if (positionals.length < needed || positionals.length > names.length) {
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

/** An option of a command line. `value` is undefined if none follows it. */
interface GivenOption {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  /** True if it is written as `--name=VALUE`. */
  readonly inlineValue?: boolean | undefined;
}

/** Throws `UsageError` for an unknown option, a missing value, or one that the option does not take. */
function checkOption(
  { name: command }: ProgramCommand,
  { name, rawName, value, inlineValue }: GivenOption,
  known: NonNullable<ParseArgsConfig["options"]>,
): void {
  if (!Object.hasOwn(known, name)) {
    const meant = suggest(name, Object.keys(known));
    throw new UsageError(`${command} has no option ${rawName}.${didYouMean(meant && `--${meant}`)}`);
  }
  const takesValue = known[name]?.type === "string";
  if (!takesValue && value !== undefined) throw new UsageError(`${rawName} takes no value.`);
  // A word after it that starts with a dash is another option, unless it is a negative number.
  if (takesValue && (value === undefined || (!inlineValue && /^-[^\d.]/.test(value)))) {
    throw new UsageError(`${rawName} needs a value. One that starts with a dash is written as ${rawName}=VALUE.`);
  }
}

/** The help of one command; `invocation` is what is typed before it. */
export function commandHelp(command: ProgramCommand, invocation: string): string {
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
