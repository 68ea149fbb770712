import { ListenError, listenReason } from "../http/server.ts";

/** A port that only the workers of one service share. */
export interface SharedPort {
  readonly port: number;
  release(): void;
}

const nothing = { data: () => {} };

/**
 * Checks that no other process uses the port of this address. The system would let another service share it with the
 * workers of this one, and half of the requests would go there. `port` 0 picks a free one. Throws `ListenError`.
 */
export function reservePort(host: string, port: number): SharedPort {
  const taken = listenAlone(host, port);
  // A name in Linux's abstract namespace: it belongs to the same network as the port, and ends with this process. It has
  // at most 107 bytes: of two long host names with the same beginning, the second is refused.
  const unix = `\0petstore-workers-${taken}-${host}`.slice(0, 107);
  try {
    const lock = Bun.listen({ unix, socket: nothing });
    return { port: taken, release: () => lock.stop(true) };
  } catch (error) {
    throw new ListenError(listenReason(host, taken, error), { cause: error });
  }
}

/** Listens briefly without sharing the port, which fails if another process uses it. Returns the port. */
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
