import { ConfigError, readConfig, settings } from "../config.ts";
import { ContractError } from "../contract/check.ts";
import { didYouMean, suggest } from "../contract/suggest.ts";
import { AccountsError } from "../domains/accounts/accounts.ts";
import { ImportFailed } from "../domains/pets/pets.import.ts";
import { FileError } from "../files/new-file.ts";
import { ListenError } from "../http/server.ts";
import { StorageUnavailable, StorageUnusable } from "../storage/storage.ts";
import { version } from "../telemetry/version.ts";
import { WorkersFailed } from "../workers/supervisor.ts";
import { createAccount, listAccounts, setPlan } from "./accounts.ts";
import { backup } from "./backup.ts";
import {
  type Command,
  columns,
  commandHelp,
  type Problem,
  readArguments,
  type Terminal,
  UsageError,
} from "./command.ts";
import { deprecations } from "./deprecations.ts";
import { exportCommand } from "./export.ts";
import { health } from "./health.ts";
import { importCommand } from "./import.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./keys.ts";
import { migrateStore } from "./migrate-store.ts";
import { openapi } from "./openapi.ts";
import { serve } from "./serve.ts";
import { worker } from "./worker.ts";

/** Every command of the command line, once: what is helped, suggested and documented follows from it. */
export const commands: readonly Command[] = [
  serve,
  worker,
  createAccount,
  listAccounts,
  setPlan,
  createKey,
  listKeys,
  rotateKey,
  revokeKey,
  deprecations,
  importCommand,
  exportCommand,
  openapi,
  backup,
  migrateStore,
  health,
];

const shown = commands.filter(({ isInternal }) => !isInternal);

/** Errors whose message is meant for the person at the terminal, with their codes; all others are faults of the program. */
const expected = [
  [ConfigError, "invalid_settings"],
  [ContractError, "invalid_contract"],
  [AccountsError, "not_possible"],
  [ListenError, "cannot_listen"],
  [ImportFailed, "import_failed"],
  [FileError, "file_error"],
  [StorageUnusable, "storage_unusable"],
  [StorageUnavailable, "storage_unavailable"],
  [WorkersFailed, "workers_failed"],
] as const;

export type World = Omit<Terminal, "config">;

/** Runs one command line. Returns the exit status: 0, 1 for what failed, 2 for a wrong command line. */
export async function run(words: readonly string[], world: World): Promise<number> {
  const { environment, folder, invocation, print, printError } = world;
  const isJson = words.includes("--json");
  const tellProblem = (problem: Problem) => printError(isJson ? JSON.stringify(problem) : problem.message);
  try {
    if (words[0] === "--version") {
      print(`petstore ${version}`);
      return 0;
    }
    const command = findCommand(words);
    if (!command) {
      print(overview(invocation));
      return 0;
    }
    const given = readArguments(command, words.slice(command.name.split(" ").length));
    if (given === "help") {
      print(commandHelp(command, invocation));
      return 0;
    }
    const report = await command.run(given, { ...world, config: readConfig(environment, folder) });
    const tell = report.isBesideOutput || (report.hasFailed && !given.json) ? printError : print;
    const said = given.json ? JSON.stringify(report.json) : report.text;
    if (said) tell(said);
    if (report.warning) tellProblem(report.warning);
    return report.hasFailed ? 1 : 0;
  } catch (error) {
    tellProblem(problemOf(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof UsageError) return { code: "invalid_command_line", message: `${error.message} See --help.` };
  const code = expected.find(([kind]) => error instanceof kind)?.[1];
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  return code ? { code, message } : { code: "internal_error", message: stack };
}

/** The command that the words start with; undefined where an overview is asked for. */
function findCommand(words: readonly string[]): Command | undefined {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (command) return command;
  const [first = "--help", second] = words;
  if (isHelp(first) || (namesBehind(first).length > 0 && (second === undefined || isHelp(second)))) return undefined;
  const wanted = namesBehind(first).length > 0 ? `${first} ${second}` : first;
  throw new UsageError(`${wanted} is not a command.${didYouMean(meantCommand(first, second))}`);
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h" || word === "help";
}

/** The second words of the commands that have two, with this one before: those of `keys`. */
function namesBehind(first: string): string[] {
  return shown.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
}

/** What a person probably meant who wrote words that are no command. */
function meantCommand(first: string, second = ""): string | undefined {
  const names = shown.map(({ name }) => name);
  if (namesBehind(first).length > 0) {
    const meant = suggest(second, namesBehind(first));
    return meant && `${first} ${meant}`;
  }
  const pairs = names.filter((name) => name.includes(" "));
  const firsts = names.map((name) => name.split(" ")[0] as string);
  const pair = /^[^-]/.test(second) ? suggest(`${first} ${second}`, pairs) : undefined;
  return pair ?? suggest(first, [...firsts, ...pairs, "help", "--help", "--version"]);
}

function overview(invocation: string): string {
  return [
    "Petstore: an HTTP/JSON service for the animals of a pet store.\n",
    `Usage: ${invocation} COMMAND [OPTIONS]`,
    `       ${invocation} --version\n`,
    "Commands, each with --help and --json:\n",
    columns(shown.map(({ name, args = [], summary }) => [`  ${[name, ...args].join(" ")}`, summary])),
    "\nSettings, in the environment:\n",
    columns(
      Object.entries(settings).map(([name, { fallback, expects }]) => [`  ${name}`, fallback || "(unset)", expects]),
    ),
  ].join("\n");
}
