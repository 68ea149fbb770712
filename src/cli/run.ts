import { domains, type ServedDomain } from "../app/domains.ts";
import { storeAccess } from "../app/store-access.ts";
import { type Config, ConfigError, readConfig, settings, valuesOf } from "../config.ts";
import { ContractError } from "../contract/check.ts";
import { AccountsError } from "../domains/accounts/accounts.ts";
import { settingsOf } from "../domains/domain.ts";
import { FileError } from "../files/new-file.ts";
import { ListenError } from "../http/server.ts";
import { StorageUnavailable, StorageUnusable } from "../storage/storage.ts";
import { version } from "../telemetry/version.ts";
import { CommandFailed, type Problem, type StoreAccess, type Terminal, UsageError } from "../terminal/command.ts";
import { WorkersFailed } from "../workers/supervisor.ts";
import { adopt } from "./adopt.ts";
import { backup } from "./backup.ts";
import { commandHelp, type ProgramCommand, type ProgramTerminal, readArguments } from "./command.ts";
import { CommandTable } from "./command-table.ts";
import { health } from "./health.ts";
import { migrateStore } from "./migrate-store.ts";
import { openapi } from "./openapi.ts";
import { serve } from "./serve.ts";
import { worker } from "./worker.ts";

/** Every command, those of domains too: what is helped, suggested and documented follows from it. */
export function commandsOf(served: readonly ServedDomain[]): readonly ProgramCommand[] {
  return [
    serve,
    worker,
    ...served.flatMap(({ commands = [] }) => commands),
    openapi,
    backup,
    adopt,
    migrateStore,
    health,
  ];
}

/** Errors whose message is meant for the person at the terminal, with their codes; all others are faults of the program. */
const expected = [
  [ConfigError, "invalid_settings"],
  [ContractError, "invalid_contract"],
  [AccountsError, "not_possible"],
  [ListenError, "cannot_listen"],
  [FileError, "file_error"],
  [StorageUnusable, "storage_unusable"],
  [StorageUnavailable, "storage_unavailable"],
  [WorkersFailed, "workers_failed"],
] as const;

/** What the process gives to a command line; all else follows from the settings. */
export type World = Omit<ProgramTerminal, "config" | "store" | "settings" | "operations">;

/** What a command line is for: the domains that are served, and the way to their store. */
interface Program {
  readonly served?: readonly ServedDomain[];
  readonly access?: (config: Config) => StoreAccess;
}

/** Runs one command line. Returns the exit status: 0, 1 for what failed, 2 for a wrong command line. */
export async function run(
  words: readonly string[],
  world: World,
  { served = domains, access = storeAccess }: Program = {},
): Promise<number> {
  const { environment, folder, invocation, print, printError } = world;
  const isJson = words.includes("--json");
  const tellProblem = (problem: Problem) => printError(isJson ? JSON.stringify(problem) : problem.message);
  try {
    if (words[0] === "--version") {
      print(`petstore ${version}`);
      return 0;
    }
    const table = new CommandTable(commandsOf(served));
    const declared = settingsOf(served);
    const command = table.find(words);
    if (!command) {
      print(table.overview(invocation, { ...settings, ...declared }));
      return 0;
    }
    const given = readArguments(command, words.slice(command.name.split(" ").length));
    if (given === "help") {
      print(commandHelp(command, invocation));
      return 0;
    }
    const config = readConfig(environment, folder, declared);
    const fromSettings: Pick<Terminal, "store" | "settings" | "operations"> = {
      store: access(config),
      settings: (wanted) => valuesOf(config, wanted),
      operations: served.flatMap(({ operations }) => operations),
    };
    const report = await command.run(given, { ...world, ...fromSettings, config });
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
  if (error instanceof CommandFailed) return { code: error.code, message: error.message };
  const code = expected.find(([kind]) => error instanceof kind)?.[1];
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  return code ? { code, message } : { code: "internal_error", message: stack };
}
