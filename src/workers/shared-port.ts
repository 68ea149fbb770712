import { readFileSync } from "node:fs";
import { ListenError, listenReason } from "../http/server.ts";

/** A port that only the workers of one service share. */
export interface SharedPort {
  readonly port: number;
  release(): void;
}

/**
 * Checks that no other process uses the port, on this address or on all addresses. The system would let another service
 * share it with the workers of this one, and half of the requests would go there. `port` 0 picks a free one. Throws
 * `ListenError`.
 */
export function reservePort(host: string, port: number): SharedPort {
  try {
    const { address, port: taken } = listenAlone(host, port);
    // A name in Linux's abstract namespace: it belongs to the port's network namespace, and ends with this process.
    const prefix = `petstore-workers-${taken}-`;
    const lock = Bun.listen({ unix: `\0${prefix}${address}`, socket: { data: () => {} } });
    const release = () => lock.stop(true);
    if (reservedAddresses(prefix).some((other) => covers(address, other) || covers(other, address))) {
      release();
      throw Object.assign(new Error("Another service has reserved the port."), { code: "EADDRINUSE" });
    }
    return { port: taken, release };
  } catch (error) {
    throw new ListenError(listenReason(host, port, error), { cause: error });
  }
}

/** Listens briefly without sharing the port. Throws an error if another process uses it. */
function listenAlone(host: string, port: number): { readonly address: string; readonly port: number } {
  const server = Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() });
  // Only `Bun.serve` tells the address of a host name. Its type lacks the property, which `node:http` uses.
  const { address, port: taken } = (server as unknown as { address: { address: string; port: number } }).address;
  void server.stop(true);
  return { address: address.replace(/^::ffff:/, ""), port: taken };
}

/** The addresses for which supervisors in this network namespace have reserved a port, from the names with this prefix. */
function reservedAddresses(prefix: string): string[] {
  const names = readFileSync("/proc/self/net/unix", "utf8").matchAll(/ @(\S+)$/gm);
  return [...names].flatMap(([, name = ""]) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
}

/** True if the first address is a wildcard that includes the second. `::` includes addresses of IPv4. */
function covers(wildcard: string, address: string): boolean {
  if (wildcard === address) return false; // its own entry: if it were another's, `Bun.listen` would have failed
  return wildcard === "::" || (wildcard === "0.0.0.0" && !address.includes(":"));
}
