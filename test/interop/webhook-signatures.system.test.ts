// What a receiver gets, verified by implementations of others: Standard Webhooks for `v1`, noble's ed25519 for `v1a`.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { SecretKeys } from "../../src/domains/webhooks/secrets/secret-keys.ts";
import {
  deriveKeys,
  messageId,
  type SigningKeys,
  shownPublicKey,
  shownSecret,
  signedHeaders,
} from "../../src/domains/webhooks/secrets/signatures.ts";
import { send } from "../../src/domains/webhooks/sending/send.ts";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { ManualClock } from "../harness/manual-clock.ts";
import { WebhookService } from "../harness/webhook-service.ts";
import { network, type Received, Receiver } from "../harness/webhooks.ts";

interface StandardWebhooks {
  readonly Webhook: new (secret: string) => { verify(body: string, headers: Record<string, string>): unknown };
}
interface Noble {
  verifyAsync(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): Promise<boolean>;
}

const isInstalled = hasInteropTools();
const packageOf = (file: string): Promise<unknown> => import(join(interopFolder, "node_modules", file));
const event = { type: "pet.updated", data: { id: 9_007_199_254_740_993n.toString(), name: "Rex 🐕 \u2028\u0000é" } };

let receiver: Receiver;
let standard: StandardWebhooks;
let noble: Noble;
beforeAll(async () => {
  if (!isInstalled) return;
  standard = (await packageOf("standardwebhooks/dist/index.js")) as StandardWebhooks;
  noble = (await packageOf("@noble/ed25519/index.js")) as Noble;
  receiver = new Receiver();
});
afterAll(async () => receiver?.stop());

/** What a receiver got of a message that is signed with these keys. */
async function received(versions: readonly SigningKeys[]) {
  const body = JSON.stringify(event);
  const headers = signedHeaders(messageId("7", "1", 12n), body, Date.now(), versions);
  const result = await send({ url: `http://127.0.0.1:${receiver.port}/`, headers, body }, network());
  expect(result.failure).toBeUndefined();
  const [last] = receiver.received.slice(-1);
  return { body: last?.body ?? "", headers: Object.fromEntries(last?.headers ?? []) };
}

/** True if one of the signatures is that of the public key. */
async function isSigned(body: string, headers: Record<string, string>, publicKey: string): Promise<boolean> {
  const message = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`);
  const key = Buffer.from(publicKey.replace(/^whpk_/, ""), "base64");
  const signatures = (headers["webhook-signature"] ?? "").split(" ").filter((word) => word.startsWith("v1a,"));
  const valid = await Promise.all(
    signatures.map((word) => noble.verifyAsync(Buffer.from(word.slice("v1a,".length), "base64"), message, key)),
  );
  return valid.includes(true);
}

describe.skipIf(!isInstalled)("a message", () => {
  const keys = new SecretKeys(randomBytes(32));
  const [first, second, third] = [1, 2, 3].map((version) => deriveKeys(keys.current, "7", version)) as [
    SigningKeys,
    SigningKeys,
    SigningKeys,
  ];

  test("is verified with the secret", async () => {
    const { body, headers } = await received([first]);
    expect(new standard.Webhook(shownSecret(first)).verify(body, headers)).toEqual(event);
    expect(() => new standard.Webhook(shownSecret(second)).verify(body, headers)).toThrow("No matching signature");
    expect(() => new standard.Webhook(shownSecret(first)).verify(`${body} `, headers)).toThrow("No matching signature");
  });

  test("is verified with the public key", async () => {
    const { body, headers } = await received([first]);
    expect(await isSigned(body, headers, shownPublicKey(first))).toBe(true);
    expect(await isSigned(body, headers, shownPublicKey(second))).toBe(false);
    expect(await isSigned(`${body} `, headers, shownPublicKey(first))).toBe(false);
  });

  test("is verified with the old and the new secret after a rotation, and with no other", async () => {
    const { body, headers } = await received([second, first]);
    for (const version of [first, second]) {
      expect(new standard.Webhook(shownSecret(version)).verify(body, headers)).toEqual(event);
      expect(await isSigned(body, headers, shownPublicKey(version))).toBe(true);
    }
    expect(() => new standard.Webhook(shownSecret(third)).verify(body, headers)).toThrow("No matching signature");
    expect(await isSigned(body, headers, shownPublicKey(third))).toBe(false);
  });
});

test.skipIf(!isInstalled)("what the service delivers is verified before and after a rotation", async () => {
  const it = await WebhookService.start({}, { clock: new ManualClock(Date.now()) }); // verifiers compare the time
  const target = it.receiver();
  const endpoint = await it.endpoint(target);
  const delivered = async (name: string): Promise<Received> => {
    await it.addPet(name);
    await it.deliver();
    return target.received.at(-1) as Received;
  };

  const expectVerified = async ({ body, headers }: Received, { secret, publicKey }: typeof endpoint) => {
    const all = Object.fromEntries(headers);
    expect(new standard.Webhook(secret).verify(body, all)).toMatchObject({ type: "pet.created" });
    expect(await isSigned(body, all, publicKey)).toBe(true);
  };
  await expectVerified(await delivered("Rex 🐕 \u2027é"), endpoint);
  const { json: rotated } = await it.call("POST", `/webhook-endpoints/${endpoint.id}/rotate-secret`);
  expect(rotated.secret).not.toBe(endpoint.secret);
  const after = await delivered("Ida");
  await expectVerified(after, endpoint);
  await expectVerified(after, rotated);
  await it.stop();
});
