import { script } from "./scripts.ts";
import { OPERATOR_TIMEOUT, Valkey } from "./valkey.ts";
import type { ValkeyAddress } from "./valkey-url.ts";

/** The relevant properties of a Valkey or Redis server. */
export type ValkeyState = Awaited<ReturnType<typeof inspectValkey>>;

const readState = script("return {redis.call('INFO', 'server'), redis.call('INFO', 'memory'), redis.call('TIME')}");

/** Reads the state of a server, or of one server of a cluster. Rejects if it does not respond in time. */
export async function inspectValkey(address: ValkeyAddress) {
  const valkey = await Valkey.connect(address, undefined, OPERATOR_TIMEOUT);
  try {
    await valkey.ping();
    const started = performance.now();
    const state = (await valkey.run(readState, [], [])) as [string, string, [string, string]];
    const latency = performance.now() - started;
    const [server, memory, [seconds, micros]] = state;
    const own = field(server, "valkey_version");
    return {
      /** `Valkey 8.1.0`. */
      version: own ? `Valkey ${own}` : `Redis ${field(server, "redis_version") ?? "of an unknown version"}`,
      /** Its `maxmemory-policy`, for example `noeviction`. */
      evictionPolicy: field(memory, "maxmemory_policy") ?? "unknown",
      /** How far its clock is ahead of this machine's, in milliseconds. */
      ahead: Number(seconds) * 1_000 + Number(micros) / 1_000 - Date.now(),
      /** Its response time in milliseconds. */
      latency,
    };
  } finally {
    valkey.close();
  }
}

/** A field of the reply to `INFO`. */
function field(text: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(text)?.[1];
}
