import { isIP } from "node:net";
import { clientVariables } from "../settings/client-variables.ts";
import { type Command, UsageError } from "../terminal/command.ts";

const { PETSTORE_KEY } = clientVariables;
const meaning = "A test key of an account on the plan Free: the level `limits` of `verify` uses up its minute.";
/** The variables that `read` reads. */
export const variables = { PETSTORE_KEY, PETSTORE_LIMITS_KEY: { ...PETSTORE_KEY, meaning } };

export const levelNames: readonly string[] = ["core", "service", "deployment", "limits"];

function refuseIf(isWrong: boolean, message: string): void {
  if (isWrong) throw new UsageError(message);
}

/**
 * Reads the command line and the variables: the base address, without a slash at its end; the keys; the levels; a second
 * address of this machine; the category of the animals that are added. Throws `UsageError`.
 */
export function read(...[{ args, options }, { settings }]: Parameters<Command["run"]>) {
  const { PETSTORE_KEY: key = "", PETSTORE_LIMITS_KEY: limitsKey } = settings(variables);
  const { levels: wanted = "", from: second, category = "1", live } = options;
  const base = (args[0] ?? "").replace(/\/+$/, "");
  const isBase = /^https?:\/\/[^?#@]+\/v1$/.test(base) && URL.canParse(base);
  refuseIf(!isBase, "ADDRESS must be a base address, which ends with /v1: https://pets.example.com/v1.");
  refuseIf(!key, "Set PETSTORE_KEY to a test key of the service.");
  const consequence = "is no test key (psk_test_…): --live adds animals to its shop, and deletes them.";
  for (const [name, one] of Object.entries({ PETSTORE_KEY: key, PETSTORE_LIMITS_KEY: limitsKey ?? key }))
    refuseIf(live === undefined && !one.startsWith("psk_test_"), `${name} ${consequence}`);
  refuseIf(!/^\d{1,19}$/.test(category), "--category must be the id of a category.");
  refuseIf(second !== undefined && !isIP(second), "--from must be an IP address of this machine.");
  const levels = wanted.split(",");
  const unknown = levels.find((name) => !levelNames.includes(name));
  refuseIf(unknown !== undefined, `--levels must be some of ${levelNames.join(", ")}, not ${unknown}.`);
  return { base, key, limitsKey, levels, second, category: options["category"] };
}
