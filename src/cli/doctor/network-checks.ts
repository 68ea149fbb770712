import { baseAddress, baseSetting } from "../../app/web/base-address.ts";
import type { Config } from "../../config.ts";
import { rootOf } from "../../contract/base-address.ts";
import type { ValkeyState } from "../../limits/valkey/inspect.ts";
import { proxyOptions } from "../../telemetry/proxy.ts";
import { ANOTHER_PROGRAM, READINESS_DEADLINE, readiness } from "../health.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** How long a request to the base address may take, in milliseconds. */
const DEADLINE = 5_000;
/** A slower Valkey would noticeably delay each request, in milliseconds. */
const SLOW = 10;

/** The codes of connections that nothing accepts. */
const absent = new Set<string | undefined>(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);

/** The state of Valkey; an error if it does not answer, undefined if none is set. */
export type SeenValkey = ValkeyState | Error | undefined;

export function checkValkey({ valkey, database }: Config, seen: SeenValkey): Finding {
  if (!valkey || !seen) {
    return database
      ? warning("valkey", "Not set. Each process counts limits on its own.", "Set PETSTORE_VALKEY_URL if several run.")
      : ok("valkey", "Not set. A single process does not need it.");
  }
  if (seen instanceof Error) {
    const advice =
      "Check that it runs, PETSTORE_VALKEY_URL, and the permissions of its user. " +
      "Without it, each process counts limits on its own.";
    return failed("valkey", `${valkey.shown}: ${seen.message}`, advice);
  }
  const { version, evictionPolicy, latency } = seen;
  const message = `${valkey.shown}, ${version}, answered in ${latency.toFixed(1)} ms.`;
  const [name = "", number = ""] = version.split(" ");
  if (name === "Redis" && Number.parseInt(number, 10) < 7)
    return failed("valkey", message, "Use Valkey or Redis 7 or later.");
  // The policies named volatile-… drop counts too: every key has an expiry.
  if (evictionPolicy !== "noeviction") {
    return warning("valkey", `${message} It may drop counts (${evictionPolicy}).`, "Set maxmemory-policy noeviction.");
  }
  if (latency > SLOW) return warning("valkey", message, "Each request waits for it. Run it closer to the service.");
  return ok("valkey", message);
}

export function checkProxies(config: Config): Finding {
  const { trustedProxies: proxies } = config;
  const all = proxies.filter((network) => /\/0+$/.test(network));
  if (all.length > 0) {
    const advice = "Set PETSTORE_TRUSTED_PROXIES to the addresses of your proxies.";
    return failed("proxies", `${all.join(", ")} trusts every client, so clients can fake their addresses.`, advice);
  }
  if (proxies.length > 0) return ok("proxies", `${proxies.join(", ")}.`);
  if (baseAddress(config, config.host, config.port).startsWith("https:")) {
    const advice = "Set PETSTORE_TRUSTED_PROXIES to the proxy. Otherwise all clients without a key share one limit.";
    return warning("proxies", "None is trusted, but the base address uses TLS, so there is a proxy.", advice);
  }
  return ok("proxies", "None is trusted.");
}

/** Checks whether the service runs here, and whether its base address leads to it. */
export async function checkAddress(config: Config): Promise<Finding[]> {
  const { host, port, environment } = config;
  const base = baseAddress(config, host, port);
  const served = await readiness(config).catch((error: Error) => error);
  const service = checkService(served, `${host}, port ${port}`);
  if (environment !== "development" && base.startsWith("http:")) {
    const advice = `Set ${baseSetting(config)} to the https address that clients use. Links in responses start with it.`;
    return [service, warning("base address", `${base} has no TLS.`, advice)];
  }
  if (served instanceof Error) {
    const reason = isAbsence(served) ? "run" : "respond";
    return [service, ok("base address", `${base}. It was not tested, because the service does not ${reason}.`)];
  }
  const fault = await unreachable(base);
  if (fault === undefined) return [service, ok("base address", `${base} leads to the service.`)];
  const advice = "Check the name, the proxy and its certificate. A firewall may allow access only from outside.";
  return [service, warning("base address", `${base}: ${fault}.`, advice)];
}

/** Judges the response at the address of the service, or the error of the request. */
function checkService(served: string | Error, at: string): Finding {
  if (served instanceof Error) {
    if (isAbsence(served)) return ok("service", `It does not run: nothing responds at ${at}.`);
    const message =
      served.name === "AbortError" // its deadline
        ? `Connections to ${at} are not refused, but nothing responds within ${READINESS_DEADLINE / 1_000} s.`
        : `The request to ${at} failed: ${served.message}.`;
    return failed("service", message, "Check its process and its log.");
  }
  if (served === "ready") return ok("service", `It is ready at ${at}.`);
  if (served === ANOTHER_PROGRAM)
    return failed("service", `Another program responds at ${at}.`, "Stop it, or set another PETSTORE_PORT.");
  return failed("service", `It responds with ${served} at ${at}.`, "Check its log.");
}

/** True if nothing accepts connections there. */
function isAbsence({ code }: NodeJS.ErrnoException): boolean {
  return absent.has(code);
}

/** Why a base address does not lead to a service; undefined if it does. The request counts in no limit. */
async function unreachable(base: string): Promise<string | undefined> {
  const document = `${rootOf(base)}/openapi.json`;
  try {
    const signal = AbortSignal.timeout(DEADLINE);
    const { status, headers } = await fetch(document, { method: "HEAD", signal, ...proxyOptions(document) });
    if (status !== 200) return `${document} responds with ${status}`;
    return headers.get("content-type")?.includes("json") ? undefined : `${document} is not an OpenAPI document`;
  } catch (error) {
    return (error as Error).message.replace(/\.$/, "");
  }
}
