import { ListenError, listenReason } from "../http/server.ts";

/** A port that the workers of one service share, and nobody else. */
export interface SharedPort {
  readonly port: number;
  release(): void;
}

const nothing = { data: () => {} };

/**
 * Makes sure that nobody listens on the port, and that no other service shares it with its own workers, as the system
 * would let it: half of the requests would go there. `port` 0 takes a free one. Throws `ListenError`.
 */
export function reservePort(host: string, port: number): SharedPort {
  const taken = listenAlone(host, port);
  // A name in Linux's abstract namespace: it belongs to the same network as the port, and ends with this process.
  const unix = `\0petstore-workers-${taken}`;
  try {
    const lock = Bun.listen({ unix, socket: nothing });
    return { port: taken, release: () => lock.stop(true) };
  } catch (error) {
    throw new ListenError(listenReason(host, taken, error), { cause: error });
  }
}

/** Listens for a moment, as no one can who shares a port. Returns the port. */
function listenAlone(host: string, port: number): number {
  try {
    const listener = Bun.listen({ hostname: host, port, exclusive: true, socket: nothing });
    const { port: taken } = listener;
    listener.stop(true);
    return taken;
  } catch (error) {
    throw new ListenError(listenReason(host, port, error), { cause: error });
  }
}
