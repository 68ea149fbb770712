import { get, type IncomingMessage } from "node:http";
import type { Config } from "../config.ts";
import type { ProgramCommand } from "./command.ts";

/** Milliseconds after which a service that says nothing is taken for one that is not ready. */
const DEADLINE = 3_000;

/** For machines without another program that could ask: a container has none. */
export const health: ProgramCommand = {
  name: "health",
  summary: "Ask the service on this machine whether it is ready: status 0 or 1.",
  example: "health",
  description: "Asks /readyz at PETSTORE_HOST and PETSTORE_PORT, which have to be those of the service.",
  run: async (_given, { config }) => {
    const status = await readiness(config).catch(() => "no answer");
    return { json: { status }, text: status, hasFailed: status !== "ready" };
  },
};

/** What the service says of itself. Not with `fetch`, which would ask a proxy where the environment names one. */
async function readiness({ host, port }: Config): Promise<string> {
  const own = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const signal = AbortSignal.timeout(DEADLINE);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get({ host: own, port, path: "/readyz", signal }, resolve).on("error", reject);
  const pieces: Buffer[] = [];
  for await (const piece of await promise) pieces.push(piece as Buffer);
  return (JSON.parse(Buffer.concat(pieces).toString()) as { status: string }).status;
}
