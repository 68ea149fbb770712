/**
 * The system gives ports from 32768 on to connections, any time: one of those may be taken before it is used. A Valkey
 * server in a cluster listens at its port + 10,000, too, which is below them and never another's port.
 */
const [FIRST, LAST] = [12_000, 22_000];
const ATTEMPTS = 100;

/** A port of 127.0.0.1 on which nothing listens. Another test may take it before it is used. */
export function freePort(): number {
  for (let attempt = 1; ; attempt++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).stop(true);
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
