import type { IncomingMessage } from "node:http";
import { engineOf } from "../app/store/engines.ts";
import type { Config } from "../config.ts";
import type { ProgramCommand } from "./program-command.ts";

/** A service that does not respond within this time, in milliseconds, counts as not ready. */
export const READINESS_DEADLINE = 3_000;
/** The status if something else responds at the address of the service. */
export const ANOTHER_PROGRAM = "another program";

/** A service that leaves a request without a response for this long hangs, in milliseconds. */
const HANGS_AFTER = 10_000;

/** For containers, which have no other HTTP client, and for the watchdog in deploy/. */
export const health: ProgramCommand = {
  name: "health",
  summary: "Check whether the service on this machine is ready: exit status 0 or 1.",
  example: "health",
  description:
    "Requests /readyz where the service of the data folder listens. On PostgreSQL, and before its first start, this is " +
    "PETSTORE_HOST and PETSTORE_PORT, which must be those of the service.",
  options: { hung: { meaning: "Succeed only if it hangs: it gave no response for 10 s. For a watchdog." } },
  run: async ({ options: { hung } }, { config }) => {
    const { host, port } = addressOfService(config);
    if (hung !== undefined) {
      const isHung = await readiness({ host, port }, HANGS_AFTER).then(
        () => false,
        ({ name }: Error) => name === "AbortError",
      );
      const text = isHung ? `no response in 10 s at ${host}, port ${port}` : "";
      return { json: { hung: isHung }, text, hasFailed: !isHung };
    }
    const status = await readiness({ host, port }).catch(() => "no answer");
    const hasFailed = status !== "ready";
    const where = hasFailed ? ` at ${host}, port ${port}` : "";
    return { json: { status }, text: status + where, hasFailed };
  },
};

/** Where a service listens. */
type ServiceAddress = Pick<Config, "host" | "port">;

/** Where the service on the store that the settings choose listens, or will listen. */
export function addressOfService(config: Config): ServiceAddress {
  const { host = config.host, port = config.port } = engineOf(config).servedBy() ?? {};
  return { host, port };
}

/**
 * The status that the service reports, or `ANOTHER_PROGRAM`. Rejects if nothing responds. It does not use `fetch`, which
 * would use a proxy from the environment.
 */
export function readiness({ host, port }: ServiceAddress, deadline = READINESS_DEADLINE): Promise<string> {
  // Where IPv6 is off, a service on `::` listens on IPv4 alone.
  if (host === "::") return readinessAt("::1", port, deadline).catch(() => readinessAt("127.0.0.1", port, deadline));
  return readinessAt(host === "0.0.0.0" ? "127.0.0.1" : host, port, deadline);
}

async function readinessAt(host: string, port: number, deadline: number): Promise<string> {
  // Loaded here, so that the start of the service does not wait for them.
  const [{ get }, { json }] = await Promise.all([import("node:http"), import("node:stream/consumers")]);
  const signal = AbortSignal.timeout(deadline);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get({ host, port, path: "/readyz", signal }, resolve).on("error", reject);
  try {
    const { status } = (await json(await promise)) as { status: unknown };
    return typeof status === "string" ? status : ANOTHER_PROGRAM;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code.startsWith("HPE_")) return ANOTHER_PROGRAM; // not JSON, or not HTTP
    throw error;
  }
}
