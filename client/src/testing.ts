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
interface NodeModules {
  readonly spawn: (program: string, words: readonly string[], options: { readonly stdio: readonly string[] }) => Child;
}

/** The longest error output that is kept, in characters. */
const MAX_ERRORS = 4_000;

/**
 * Starts the real service with temporary data on a free port. `command` is the program and its first arguments. The
 * service also ends with this process.
 */
export async function startPetstore({
  command = ["petstore"],
}: {
  readonly command?: readonly string[] | undefined;
} = {}): Promise<RunningPetstore> {
  const module = "node:child_process"; // in a variable, so that bundlers for browsers leave it alone
  const { spawn } = (await import(module)) as NodeModules;
  const [program = "", ...words] = command;
  const child = spawn(program, [...words, "serve", "--temporary", "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  const end = () => child.kill();
  const { process } = globalThis as unknown as { readonly process: Output & { off: Output["on"] } };
  process.on("exit", end);
  let errors = "";
  let output: string | undefined = "";
  child.stderr.on("data", (text: unknown) => void (errors = `${errors}${text}`.slice(-MAX_ERRORS)));
  const first = await new Promise<string>((resolve, fail) => {
    child.on("error", fail);
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
    process.off("exit", end);
    end();
    return ended;
  };
  return { baseUrl, key, stop };
}
