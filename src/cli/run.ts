import { ConfigError, readConfig, settings } from "../config.ts";
import { ContractError } from "../contract/check.ts";
import { AccountsError } from "../domains/accounts/accounts.ts";
import { ImportFailed } from "../domains/pets/pets.import.ts";
import { FileError } from "../files/new-file.ts";
import { ListenError } from "../http/server.ts";
import { nearest } from "../nearest.ts";
import { StorageUnavailable, StorageUnusable } from "../storage/storage.ts";
import { version } from "../telemetry/version.ts";
import { WorkersFailed } from "../workers/supervisor.ts";
import { createAccount, listAccounts, setPlan } from "./accounts.ts";
import { backup } from "./backup.ts";
import { type Command, columns, commandHelp, readArguments, type Terminal, UsageError } from "./command.ts";
import { deprecations } from "./deprecations.ts";
import { exportCommand } from "./export.ts";
import { health } from "./health.ts";
import { importCommand } from "./import.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./keys.ts";
import { migrateStore } from "./migrate-store.ts";
import { openapi } from "./openapi.ts";
import { serve } from "./serve.ts";
import { worker } from "./worker.ts";

const commands: readonly Command[] = [
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

/** Errors whose message is meant for the person at the terminal; all others are faults of the program. */
const expected = [
  ConfigError,
  ContractError,
  AccountsError,
  ListenError,
  ImportFailed,
  FileError,
  StorageUnusable,
  StorageUnavailable,
  WorkersFailed,
];

export type World = Omit<Terminal, "config">;

/** Runs one command line. Returns the exit status: 0, 1 for what failed, 2 for a wrong command line. */
export async function run(words: readonly string[], world: World): Promise<number> {
  const { environment, folder, invocation, print, printError } = world;
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
    return report.hasFailed ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      printError(`${error.message} See --help.`);
      return 2;
    }
    if (expected.some((kind) => error instanceof kind)) printError((error as Error).message);
    else printError(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  }
}

/** The command that the words start with; undefined where an overview is asked for. */
function findCommand(words: readonly string[]): Command | undefined {
  const command = commands.find(({ name }) => name.split(" ").every((word, index) => words[index] === word));
  if (command) return command;
  const [first = "--help", second] = words;
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (first === "--help" || first === "-h" || first === "help") return undefined;
  if (group.length > 0 && (second === undefined || second === "--help" || second === "-h")) return undefined;
  const wanted = group.length > 0 ? `${first} ${second}` : first;
  const meant = nearest(
    wanted,
    shown.map(({ name }) => name),
  );
  throw new UsageError(`${wanted} is not a command.${meant ? ` Did you mean ${meant}?` : ""}`);
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
