import { script } from "./script.ts";
import { Valkey } from "./valkey.ts";
import type { ValkeyAddress } from "./valkey-url.ts";

/** The relevant properties of a Valkey or Redis server. */
export interface ValkeyState {
  /** `Valkey 8.1.0`. */
  readonly version: string;
  /** Its policy when its memory is full: `noeviction`. */
  readonly evictionPolicy: string;
  /** Its clock, in unix milliseconds. */
  readonly time: number;
  /** How long it took to answer, in milliseconds. */
  readonly latency: number;
}

const look = script("return {redis.call('INFO', 'server'), redis.call('INFO', 'memory'), redis.call('TIME')}");

/** Looks at a server, or at one of a cluster. Rejects if it does not answer. */
export async function inspectValkey(address: ValkeyAddress): Promise<ValkeyState> {
  const valkey = await Valkey.connect(address);
  try {
    await valkey.ping();
    const started = performance.now();
    const [server, memory, [seconds, micros]] = (await valkey.run(look, [], [])) as [string, string, [string, string]];
    const latency = performance.now() - started;
    const own = field(server, "valkey_version");
    return {
      version: own ? `Valkey ${own}` : `Redis ${field(server, "redis_version") ?? "of an unknown version"}`,
      evictionPolicy: field(memory, "maxmemory_policy") ?? "unknown",
      time: Number(seconds) * 1_000 + Number(micros) / 1_000,
      latency,
    };
  } finally {
    valkey.close();
  }
}

/** A field of what `INFO` says. */
function field(text: string, name: string): string | undefined {
  return new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(text)?.[1];
}
