import { domains } from "../app/domains.ts";
import { storeAccess } from "../app/store/store-access.ts";
import { baseAddress } from "../app/web/base-address.ts";
import { openApiDocument } from "../app/web/documents.ts";
import { settings } from "../config/service-settings.ts";
import { type Config, ConfigError, readConfig, valuesOf } from "../config.ts";
import { ContractError } from "../contract/check.ts";
import { exactValue } from "../contract/serialize.ts";
import { openApiYaml } from "../derive/openapi.ts";
import { OperatorError } from "../domains/accounts/accounts.ts";
import type { ServedDomain } from "../domains/callers.ts";
import { settingsOf } from "../domains/domain.ts";
import { asFileError, FileError } from "../files/new-file.ts";
import { ListenError } from "../http/server.ts";
import { mcpCommand } from "../mcp/mcp.command.ts";
import { StorageUnavailable, StorageUnusable } from "../storage/errors.ts";
import { version } from "../telemetry/version.ts";
import { CommandFailed, type Problem, type Report, type StoreAccess, UsageError } from "../terminal/command.ts";
import { plainLines } from "../terminal/output.ts";
import { verifyCommand } from "../verify/verify.ts";
import { backupsCommands } from "./backups.ts";
import { completionCommand } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { health } from "./health.ts";
import { migrateStore } from "./migrate-store.ts";
import {
  commandHelp,
  findCommand,
  overview,
  type ProgramCommand,
  type ProgramContext,
  readArguments,
} from "./program-command.ts";
import { restore } from "./restore.ts";
import { serve } from "./serve.ts";

const openapi: ProgramCommand = {
  name: "openapi",
  summary: "Print the OpenAPI document: YAML, or JSON with --json.",
  example: "openapi --json",
  run: async (_given, { config, operations }) => {
    const document = openApiDocument(operations, config, baseAddress(config, config.host, config.port));
    return { json: exactValue(document), text: (await openApiYaml(document)).trimEnd() };
  },
};

/** Every command, including those of domains. Help, suggestions and documentation are derived from this list. */
export function commandsOf(served: readonly ServedDomain[]): readonly ProgramCommand[] {
  const all: readonly ProgramCommand[] = [
    serve,
    ...served.flatMap(({ commands = [] }) => commands),
    openapi,
    mcpCommand,
    ...backupsCommands,
    restore,
    migrateStore,
    health,
    doctor,
    verifyCommand,
    completionCommand(() => all),
  ];
  return all;
}

/**
 * Errors of other parts whose message is meant for the user, with their codes. Any that `problemOf` does not know is a
 * bug.
 */
const expected = [
  [ConfigError, "invalid_settings"],
  [ContractError, "invalid_contract"],
  [ListenError, "cannot_listen"],
  [FileError, "file_error"],
  [StorageUnusable, "storage_unusable"],
  [StorageUnavailable, "storage_unavailable"],
] as const;

/** What the process provides for a command. The rest is derived from the settings. */
export type ProcessContext = Omit<ProgramContext, "config" | "store" | "settings" | "operations">;

/** What tests replace: the domains that are served, and how to open their store. */
interface RunOptions {
  readonly served?: readonly ServedDomain[];
  readonly access?: (config: Config) => StoreAccess;
}

/** Runs one command line. Returns the exit status: 0, 1 for a failure, 2 for a command line that cannot be run. */
export async function run(
  words: readonly string[],
  context: ProcessContext,
  { served = domains, access = storeAccess }: RunOptions = {},
): Promise<number> {
  const { environment, folder, invocation } = context;
  // Whatever a command prints, a name in it cannot control the terminal.
  const printError: ProgramContext["printError"] = (text) => context.printError(plainLines(text));
  const print: ProgramContext["print"] = (text, ifLost) => {
    try {
      context.print(plainLines(text));
    } catch (error) {
      if (ifLost === undefined && isClosedPipe(error)) throw error;
      const failure = asFileError(error, "standard output");
      if (!(failure instanceof FileError)) throw failure;
      throw new FileError([failure.message, ifLost].filter(Boolean).join(" "), { cause: error });
    }
  };
  const isJson = words.includes("--json");
  const printProblem = (problem: Problem) => printError(isJson ? JSON.stringify(problem) : problem.message);
  try {
    if (words[0] === "--version") {
      print(`petstore ${version}`);
      return 0;
    }
    const commands = commandsOf(served);
    const declared = settingsOf(served);
    const command = findCommand(commands, words);
    if (!command) {
      print(overview(commands, invocation, { ...settings, ...declared }));
      return 0;
    }
    const given = readArguments(command, words.slice(command.name.split(" ").length));
    if (given === "help") {
      print(commandHelp(command, invocation));
      return 0;
    }
    let report: Report;
    try {
      const variables = variablesOf(command, commands, environment);
      const config = readConfig(variables, folder, { ...declared, ...command.variables });
      report = await command.run(given, {
        ...context,
        print,
        printError,
        config,
        store: access(config),
        settings: (wanted) => valuesOf(config, wanted),
        operations: served.flatMap(({ operations }) => operations),
      });
    } catch (error) {
      if (!(error instanceof ConfigError && command.reportInvalidSettings)) throw error;
      report = command.reportInvalidSettings(error);
    }
    const write = report.printToStderr || (report.hasFailed && !given.json) ? printError : print;
    const text = given.json ? JSON.stringify(report.json) : report.text;
    if (text) write(text, report.ifLost);
    if (report.warning) printProblem(report.warning);
    return report.hasFailed ? 1 : 0;
  } catch (error) {
    if (isClosedPipe(error)) return 1;
    printProblem(problemOf(error));
    return error instanceof UsageError ? 2 : error instanceof CommandFailed ? error.status : 1;
  }
}

/** The environment variables, without those that are for other commands alone. */
function variablesOf(
  { variables: own = {} }: ProgramCommand,
  commands: readonly ProgramCommand[],
  environment: ProcessContext["environment"],
): ProcessContext["environment"] {
  const ofCommands = new Set(commands.flatMap(({ variables = {} }) => Object.keys(variables)));
  return Object.fromEntries(Object.entries(environment).filter(([name]) => name in own || !ofCommands.has(name)));
}

/** True if nobody reads the output any more, as with `| head`. */
function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EPIPE";
}

function problemOf(error: unknown): Problem {
  if (error instanceof UsageError) return { code: "invalid_command_line", message: `${error.message} See --help.` };
  if (error instanceof CommandFailed || error instanceof OperatorError) {
    return { code: error.code, message: error.message };
  }
  const code = expected.find(([kind]) => error instanceof kind)?.[1];
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  return code ? { code, message } : { code: "internal_error", message: stack };
}
