import { type ParseArgsConfig, parseArgs } from "node:util";
import { settings as ownSettings } from "../config/service-settings.ts";
import type { Config, ConfigError } from "../config.ts";
import { didYouMean, suggest } from "../contract/messages.ts";
import type { Settings } from "../settings/setting.ts";
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
type GivenOption = Extract<NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number], { readonly kind: "option" }>;

/** Throws `UsageError` for an unknown option, a missing value, or one that the option does not take. */
function checkOption(
  { name: command }: ProgramCommand,
  { name, rawName, value, inlineValue }: GivenOption,
  known: NonNullable<ParseArgsConfig["options"]>,
): void {
  if (!Object.hasOwn(known, name)) {
    const meant = suggest(name, Object.keys(known));
    const setting = `PETSTORE_${name.toUpperCase().replaceAll("-", "_")}`;
    const advice = Object.hasOwn(ownSettings, setting)
      ? ` Set the variable ${setting}.`
      : didYouMean(meant && `--${meant}`);
    throw new UsageError(`${command} has no option ${rawName}.${advice}`);
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
    ...(command.variables ? [`\nIn the environment:\n\n${settingRows(command.variables)}`] : []),
    `\nExample: ${invocation} ${command.example}`,
  ].join("\n");
}

/** The command that the words start with; undefined if they ask for the overview. Throws `UsageError`. */
export function findCommand(commands: readonly ProgramCommand[], words: readonly string[]): ProgramCommand | undefined {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (command) return command;
  const [first = "--help", second] = words;
  // Those of all two-word commands that start with this word, such as those of `keys`.
  const seconds = commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
  const hasMore = seconds.length > 0;
  if (isHelp(first) || (hasMore && (second === undefined || isHelp(second)))) return undefined;
  if (!hasMore) throw unknownCommand(first, nearestCommand(commands, first, second));
  const meant = suggest(second ?? "", seconds);
  throw unknownCommand(`${first} ${second}`, meant && `${first} ${meant}`);
}

function unknownCommand(wanted: string, meant: string | undefined): UsageError {
  return new UsageError(`${wanted} is not a command.${didYouMean(meant)}`);
}

/** The command that was probably meant by words of which the first begins none. */
function nearestCommand(commands: readonly ProgramCommand[], first: string, second = ""): string | undefined {
  const names = commands.map(({ name }) => name);
  const pairs = names.filter((name) => name.includes(" "));
  const firsts = names.map((name) => name.split(" ")[0] as string);
  const pair = /^[^-]/.test(second) ? suggest(`${first} ${second}`, pairs) : undefined;
  return pair ?? suggest(first, [...firsts, ...pairs, "help", "--help", "--version"]);
}

/** All commands and settings, as the program's help shows them. */
export function overview(commands: readonly ProgramCommand[], invocation: string, settings: Settings): string {
  return [
    "Petstore: an HTTP/JSON service for the animals of a pet store.\n",
    `Usage: ${invocation} COMMAND [OPTIONS]`,
    `       ${invocation} --version\n`,
    "Commands, each with --help and --json:\n",
    columns(commands.map(({ name, args = [], summary }) => [`  ${[name, ...args].join(" ")}`, summary])),
    "\nSettings, in the environment:\n",
    settingRows(settings),
  ].join("\n");
}

/** A line for each setting: its name, its default and the first sentence of its meaning. */
function settingRows(settings: Settings): string {
  const rows = Object.entries(settings).map(([name, { fallback, meaning, expects }]) => [
    `  ${name}`,
    fallback || "(unset)",
    `${firstSentence(meaning).replaceAll("`", "")} Must be ${expects}.`,
  ]);
  return columns(rows);
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.) /)[0] ?? "";
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h" || word === "help";
}
