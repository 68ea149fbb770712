import { stringify } from "./json.ts";
import type { WebhookMessage } from "./operations.ts";

export { type FakeResponses, fakeFetch } from "./fake-fetch.ts";

/** A message as the service would send it. */
export interface SignedWebhook {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Signs a message like the service (Standard Webhooks 1.0.0, `v1`), for a test of a receiver with this secret. */
export async function signWebhook(
  message: WebhookMessage,
  secret: string,
  { now = Date.now() }: { readonly now?: number | undefined } = {},
): Promise<SignedWebhook> {
  const body = stringify(message);
  const timestamp = `${Math.floor(now / 1000)}`;
  const bytes = Uint8Array.from(atob(secret.trim().replace("whsec_", "")), (character) => character.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signed = new TextEncoder().encode(`${message.id}.${timestamp}.${body}`);
  const signature = btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign("HMAC", key, signed))));
  const headers = {
    "content-type": "application/json",
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  return { body, headers };
}

/** A service that `startPetstore` has started. */
export interface RunningPetstore {
  readonly baseUrl: string;
  /** A test key with all scopes. Its sandbox has sample animals. */
  readonly key: string;
  /** Ends the service, and resolves when its data is deleted. */
  readonly stop: () => Promise<void>;
}

/** What this module uses of a child process and its output. Programs without the types of Node compile too. */
interface Child extends Output {
  readonly stdout: Output;
  readonly stderr: Output;
  kill(): void;
}
interface Output {
  on(name: string, listener: (value: never) => void): void;
}
interface SpawnOptions {
  readonly stdio: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}
interface NodeModules {
  readonly spawn: (program: string, words: readonly string[], options: SpawnOptions) => Child;
}
interface Process {
  readonly env: Readonly<Record<string, string>>;
}

/** The longest error output that is kept, in characters. */
const MAX_ERRORS = 4_000;
const inClone =
  'With a clone of the service, use startPetstore({ command: ["node", "/path/to/the/clone/scripts/petstore.mjs"] }).';

/**
 * Starts the real service with temporary data on a free port. `command` is the program and its first arguments. The
 * service also ends with this process, in whatever way that ends. Settings in PETSTORE_ variables are for others.
 */
export async function startPetstore({
  command = ["petstore"],
}: {
  readonly command?: readonly string[] | undefined;
} = {}): Promise<RunningPetstore> {
  const module = "node:child_process"; // in a variable, so that bundlers for browsers leave it alone
  const { spawn } = (await import(module)) as NodeModules;
  const { process } = globalThis as unknown as { readonly process: Process };
  const [program = "", ...words] = command;
  const child = spawn(program, [...words, "serve", "--temporary", "--attached", "--json"], {
    stdio: ["pipe", "pipe", "pipe"], // the first ends with this process
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PETSTORE_"))),
  });
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  let errors = "";
  let output: string | undefined = "";
  child.stderr.on("data", (text: unknown) => void (errors = `${errors}${text}`.slice(-MAX_ERRORS)));
  const first = await new Promise<string>((resolve, fail) => {
    child.on("error", (cause: unknown) => fail(new Error(`${program} cannot be started. ${inClone}`, { cause })));
    child.on("close", () => fail(new Error(`${command.join(" ")} ended: ${errors}`)));
    child.stdout.on("data", (text: unknown) => {
      if (output === undefined) return; // what follows is the log
      output += text;
      const [line] = /^\{"key":.*\n/m.exec(output) ?? [];
      if (line === undefined) return;
      output = undefined;
      resolve(line);
    });
  });
  const { key, address: baseUrl } = JSON.parse(first) as { key: string; address: string };
  const stop = () => {
    child.kill();
    return ended;
  };
  return { baseUrl, key, stop };
}
