import { readFileSync } from "node:fs";
import { ListenError, listenReason } from "../http/server.ts";

/** A port that only the workers of one service share. */
export interface SharedPort {
  readonly port: number;
  release(): void;
}

/**
 * Checks that no other process uses the port of this address, also as one of all addresses. The system would let another
 * service share it with the workers of this one, and half of the requests would go there. `port` 0 picks a free one.
 * Throws `ListenError`.
 */
export function reservePort(host: string, port: number): SharedPort {
  const { address, port: taken } = listenAlone(host, port);
  // A name in Linux's abstract namespace: it belongs to the same network as the port, and ends with this process.
  const prefix = `petstore-workers-${taken}-`;
  try {
    const lock = Bun.listen({ unix: `\0${prefix}${address}`, socket: { data: () => {} } });
    const release = () => lock.stop(true);
    if (!reservedAddresses(prefix).some((other) => covers(address, other) || covers(other, address))) {
      return { port: taken, release };
    }
    release();
  } catch (error) {
    throw new ListenError(listenReason(host, taken, error), { cause: error });
  }
  throw new ListenError(listenReason(host, taken, { code: "EADDRINUSE", message: "" }));
}

/** Listens briefly without sharing the port, which fails if another process uses it. */
function listenAlone(host: string, port: number): { readonly address: string; readonly port: number } {
  try {
    const server = Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() });
    // Only a server of HTTP tells the address of a name. Its type lacks the property, which `node:http` uses.
    const { address, port: taken } = (server as unknown as { address: { address: string; port: number } }).address;
    void server.stop(true);
    return { address: address.replace(/^::ffff:/, ""), port: taken };
  } catch (error) {
    throw new ListenError(listenReason(host, port, error), { cause: error });
  }
}

/** The addresses of which a supervisor in this network has reserved the port whose names have this prefix. */
function reservedAddresses(prefix: string): string[] {
  const names = readFileSync("/proc/self/net/unix", "utf8").matchAll(/ @(\S+)$/gm);
  return [...names].flatMap(([, name = ""]) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
}

/** Whether the first address stands for several, of which the second is one. `::` includes those of IPv4. */
function covers(wildcard: string, address: string): boolean {
  if (wildcard === address) return false; // the system refuses the second of two equal names
  return wildcard === "::" || (wildcard === "0.0.0.0" && !address.includes(":"));
}
