import type { Client } from "./client.ts";
import type { Program } from "./program.ts";
import { isLongRun } from "./test-length.ts";

/** A signal this long after the first, in milliseconds, is a second request to stop (src/main.ts). */
export const LATER_SIGNAL = 1_500;

/**
 * Sends a later signal, which ends a service that stops, and returns its exit status. A service that was paused takes it
 * for one of those before: then another one ends it.
 */
export async function endByLaterSignal({ child }: Program, signal: NodeJS.Signals): Promise<number> {
  child.kill(signal);
  await Promise.race([child.exited, Bun.sleep(LATER_SIGNAL)]);
  child.kill(signal);
  return child.exited;
}

const CONNECTIONS = 256;
const RESPONSES_BEFORE = 600;

/** Begins a request without its body. A service that is told to stop waits for the rest, which `finish` sends. */
export async function unfinishedRequest({ port }: Pick<Program, "port">, key: string) {
  const body = '{"name":"Late","categoryId":1}';
  const ended = Promise.withResolvers<string>();
  let response = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_socket, bytes) => void (response += bytes.toString()),
      close: () => ended.resolve(response),
      error: () => ended.resolve(response),
    },
  });
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: petstore\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 7)}`,
  );
  socket.flush();
  return {
    end: () => socket.end(),
    /** Sends the rest. Resolves with everything that is received until the service closes the connection. */
    finish: () => {
      socket.write(body.slice(7));
      return ended.promise;
    },
  };
}

/**
 * Adds and lists animals over many connections until the port is closed, and calls `begun` when the load is full.
 * Returns the names that were acknowledged, the wrong responses, and the `Connection` header of the last response on
 * each connection.
 */
export async function loadUntilStopped(client: Client, begun: () => void, connections = CONNECTIONS) {
  const acknowledged: string[] = [];
  const broken: string[] = [];
  let responses = 0;
  const send = async (connection: number): Promise<string | null | undefined> => {
    for (let last: string | null = null, count = 0; ; count++) {
      const name = `Animal ${connection}-${count}`;
      const isCreate = (connection + count) % 2 === 0;
      try {
        const { status, headers, text } = await (isCreate
          ? client.call("POST", "/pets", JSON.stringify({ name, categoryId: 1 }))
          : client.call("GET", "/pets?limit=3"));
        if (status !== (isCreate ? 201 : 200) || text === undefined) broken.push(`${status}: ${text}`);
        if (isCreate && status === 201) acknowledged.push(name);
        last = headers.get("connection");
      } catch (error) {
        const { code } = error as { code?: string };
        if (code === "ECONNRESET" && responses >= RESPONSES_BEFORE) return undefined;
        if (code !== "ECONNREFUSED") broken.push(String(code));
        return last;
      }
      if (++responses === RESPONSES_BEFORE) begun();
    }
  };
  const ends = await Promise.all(Array.from({ length: connections }, (_, connection) => send(connection)));
  const last = ends.filter((one) => one !== undefined);
  // When the port closes, the system resets the few new connections that the service has not accepted yet. Of a service
  // that was paused just then, they are most.
  const resets = ends.length - last.length;
  if (resets > (isLongRun ? connections / 20 : connections * 0.9)) broken.push(`${resets} connections were reset`);
  return { acknowledged, broken, last };
}
