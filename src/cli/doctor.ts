import type { Config, ConfigError } from "../config.ts";
import { webhookSettings } from "../domains/webhooks/webhooks.settings.ts";
import type { SettingValues } from "../settings/setting.ts";
import type { Report } from "../terminal/command.ts";
import { table } from "../terminal/output.ts";
import {
  checkAddress,
  checkBackups,
  checkClock,
  checkDisk,
  checkProxies,
  checkSecretKeys,
  checkStore,
  checkValkey,
  type Finding,
  failed,
  ok,
  type SeenValkey,
} from "./doctor-checks.ts";
import type { ProgramCommand } from "./program-command.ts";

export const doctor: ProgramCommand = {
  name: "doctor",
  summary:
    "Check for problems: settings, store, schema, secret key, disk, backups, clock, Valkey, proxies, service, base address.",
  example: "doctor",
  description:
    "It changes nothing, and works alongside the service. Run it with the settings of the service.\n" +
    "The exit status is 1 if a check failed, and 0 if there are only warnings.",
  run: async (_given, { config, settings }) => reportOf(await findings(config, settings(webhookSettings))),
  reportInvalidSettings: ({ message }: ConfigError) =>
    reportOf(message.split("\n").map((fault) => failed("settings", fault, "Correct it: --help shows all settings."))),
};

async function findings(config: Config, webhooks: SettingValues<typeof webhookSettings>): Promise<Finding[]> {
  const [store, valkey] = await Promise.all([checkStore(config), seenValkey(config)]);
  const { serverAhead, lastChange = 0 } = store.state ?? {};
  const clocks = [
    ...(serverAhead === undefined ? [] : [{ name: "PostgreSQL", ahead: serverAhead }]),
    ...(valkey && "ahead" in valkey ? [{ name: "Valkey", ahead: valkey.ahead }] : []),
  ];
  const now = Date.now();
  return [
    ok("settings", `All are valid. PETSTORE_ENV is ${config.environment}.`),
    ...store.findings,
    ...(store.state ? [checkSecretKeys(config, webhooks.PETSTORE_SECRET_KEY, store.state)] : []),
    ...checkDisk(config),
    checkBackups(config, now),
    checkClock(now, clocks, lastChange),
    checkValkey(config, valkey),
    checkProxies(config),
    ...(await checkAddress(config)),
  ];
}

async function seenValkey({ valkey }: Config): Promise<SeenValkey> {
  if (!valkey) return undefined;
  // The client takes 20 MB, which other checks do not need.
  const { inspectValkey } = await import("../limits/valkey/inspect.ts");
  return inspectValkey(valkey).catch((error: unknown) => error as Error);
}

function reportOf(found: readonly Finding[]): Report {
  const hasFailed = found.some(({ state }) => state === "failed");
  const rows = found.flatMap(({ check, state, message, advice }) => [
    [check, state, message],
    ...(advice === undefined ? [] : [["", "", `→ ${advice}`]]),
  ]);
  return { json: { ok: !hasFailed, checks: found }, text: table(["CHECK", "STATE", "FINDING"], rows), hasFailed };
}
