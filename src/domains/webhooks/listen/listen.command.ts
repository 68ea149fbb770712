import { randomBytes } from "node:crypto";
import { exactJson } from "../../../contract/serialize.ts";
import { clientVariables } from "../../../settings/client-variables.ts";
import { optionalSetting } from "../../../settings/setting.ts";
import {
  type Command,
  type CommandContext,
  CommandFailed,
  type ParsedArguments,
  UsageError,
} from "../../../terminal/command.ts";
import { plainLines } from "../../../terminal/output.ts";
import {
  messageId,
  type SigningKeys,
  shownPublicKey,
  shownSecret,
  signedHeaders,
  signingKeys,
} from "../secrets/signatures.ts";
import { TIME_LIMIT } from "../sending/send.ts";
import { eventFeed, type FeedEvent } from "./event-feed.ts";

const SECRET_BYTES = 32;

const variables = {
  ...clientVariables,
  PETSTORE_WEBHOOK_SECRET: optionalSetting<Uint8Array>({
    meaning: "The secret that signs, so that the receiver can keep it. Unset: a new one for each run.",
    expects: "a secret such as this command prints (whsec_…)",
    parse: (text) => {
      const bytes = Buffer.from(text.replace(/^whsec_/, ""), "base64");
      return bytes.length === SECRET_BYTES && text === `whsec_${bytes.toString("base64")}` ? bytes : undefined;
    },
    isSecret: true,
  }),
};

/** Forwards the events of a sandbox to a receiver that the service itself cannot reach. */
export const listenCommand: Command = {
  name: "listen",
  summary: "Forward the events of a sandbox to a program on this machine, as webhooks.",
  description:
    "Follows the stream of events, and sends each as a signed message. Prints the secret first. Reconnects when the\n" +
    "stream ends. Each message is sent once. With --json, each line is an object.",
  example: "listen --forward http://127.0.0.1:3000/hook",
  variables,
  options: {
    forward: { meaning: "Where to send the messages.", value: "URL", isRequired: true },
    types: { meaning: "Only events of these types, separated by commas.", value: "TYPES" },
    after: { meaning: "Start after the event with this id instead of with the next one.", value: "EVENT_ID" },
  },
  run: async (given, context) => {
    const { target, types, after } = readOptions(given);
    const { PETSTORE_KEY: key, PETSTORE_URL: base, PETSTORE_WEBHOOK_SECRET } = context.settings(variables);
    if (key === undefined) throw new CommandFailed("key_missing", "Set PETSTORE_KEY to a test key.");
    if (!key.startsWith("psk_test_")) {
      throw new CommandFailed("test_key_required", "PETSTORE_KEY must be a test key, because listen is for sandboxes.");
    }
    const shared = PETSTORE_WEBHOOK_SECRET ?? randomBytes(SECRET_BYTES);
    const keys = signingKeys(shared, shared); // the public key also stays the same with the secret
    const print = (line: string, fields: object) =>
      context.output(`${plainLines(given.json ? exactJson(fields) : line)}\n`);
    const secret = shownSecret(keys);
    const publicKey = shownPublicKey(keys);
    await print(`Secret: ${secret}\nPublic key: ${publicKey}`, { secret, publicKey });
    const say = (message: string) => print(message, { message });
    for await (const event of eventFeed({ base, key, types, after, stop: context.stop, say })) {
      const outcome = await forward(event, target, keys, context);
      if (context.stop.aborted) break;
      const shown = "error" in outcome ? `failed: ${outcome.error}` : outcome.status;
      await print(`${event.id} ${event.type} ${shown}`, { id: event.id, type: event.type, ...outcome });
    }
    return { json: undefined, text: "" };
  },
};

/** Sends one message. Returns the status of the response, or why it failed. */
async function forward(
  event: FeedEvent,
  target: URL,
  keys: SigningKeys,
  { stop }: CommandContext,
): Promise<{ readonly status: number } | { readonly error: string }> {
  // `listen` has no endpoint and no shop: its public key takes the place of an endpoint.
  const id = messageId(shownPublicKey(keys), "", event.id);
  const { type, at } = event;
  const body = `{"id":"${id}","type":"${type}","timestamp":"${at}","mode":"test","data":${exactJson(event)}}`;
  try {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json", ...signedHeaders(id, body, Date.now(), [keys]) },
      body,
      redirect: "manual",
      // A connection that was kept may be half open, and an event on it would be lost.
      keepalive: false,
      signal: AbortSignal.any([stop, AbortSignal.timeout(TIME_LIMIT)]),
    });
    await response.body?.cancel();
    return { status: response.status };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function readOptions({ options: { forward: url = "", types, after } }: ParsedArguments) {
  const target = URL.parse(url);
  if (!target || !/^https?:$/.test(target.protocol)) {
    throw new UsageError("--forward must be an http or https URL such as http://127.0.0.1:3000/hook.");
  }
  if (after !== undefined && !/^(0|[1-9][0-9]{0,18})$/.test(after)) {
    throw new UsageError("--after must be the id of an event.");
  }
  return { target, types, after };
}
