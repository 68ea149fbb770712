// A message is sent only to a receiver that proves its identity.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority, canCertify } from "../../../../test/harness/certificates.ts";
import { message, network, RawReceiver, Receiver, type ReceiverOptions } from "../../../../test/harness/webhooks.ts";
import { send } from "./send.ts";

const resolve = () => Promise.resolve(["127.0.0.1"]);

describe.skipIf(!canCertify)("a receiver over TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "petstore-webhook-tls-"));
  let authority: Authority;
  let toStop: { stop(): void | Promise<void> }[] = [];
  beforeAll(async () => {
    authority = await Authority.make(folder);
  });
  afterEach(async () => {
    for (const started of toStop.splice(0)) await started.stop();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function receiver(...tls: NonNullable<ReceiverOptions["tls"]>): Receiver {
    const started = new Receiver({ tls });
    toStop = [...toStop, started];
    return started;
  }

  /** Sends to this host at a port of this machine. */
  const sendTo = (host: string, { port }: { port: number }, authorities = authority.certificate) =>
    send(message(`https://${host}:${port}/hook`), network({ authorities, resolve }));

  test("gets the message if its certificate is for the name, although the connection is to the address", async () => {
    const taking = receiver(await authority.certify("DNS:hook.test"));
    expect(await sendTo("hook.test", taking)).toMatchObject({ failure: undefined, status: 200, excerpt: "taken" });
    expect(await sendTo("hook.test.", taking)).toMatchObject({ failure: undefined });
    expect(taking.received[0]?.headers.get("host")).toBe(`hook.test:${taking.port}`);
  });

  test("gets the name (SNI), so that it can choose its certificate", async () => {
    const chosen = { ...(await authority.certify("DNS:hook.test")), serverName: "hook.test" };
    const other = { ...(await authority.certify("DNS:other.test")), serverName: "other.test" };
    const taking = receiver(other, chosen);
    expect(await sendTo("hook.test", taking)).toMatchObject({ failure: undefined });
    expect(await sendTo("other.test", taking)).toMatchObject({ failure: undefined });
  });

  test("gets the message if its URL has an address, and its certificate is for that", async () => {
    const taking = receiver(await authority.certify("IP:127.0.0.1"));
    expect(await sendTo("127.0.0.1", taking)).toMatchObject({ failure: undefined });
  });

  test.each(["DNS:other.test", "DNS:a.hook.test", "DNS:*.hook.test", "DNS:127.0.0.1", "IP:127.0.0.1"])(
    "gets nothing where its certificate is for %s",
    async (altName) => {
      const wrong = receiver(await authority.certify(altName));
      expect(await sendTo("hook.test", wrong)).toMatchObject({ failure: "tls_failed" });
      expect(wrong.received).toEqual([]);
    },
  );

  test("gets nothing for another name after a message to the same address", async () => {
    const taking = receiver(await authority.certify("DNS:hook.test"));
    expect(await sendTo("hook.test", taking)).toMatchObject({ failure: undefined });
    expect(await sendTo("other.test", taking)).toMatchObject({ failure: "tls_failed" });
    expect(taking.received).toHaveLength(1);
  });

  test("gets nothing if its certificate has expired", async () => {
    const expired = receiver(await authority.certify("DNS:hook.test", -1));
    expect(await sendTo("hook.test", expired)).toMatchObject({ failure: "tls_failed" });
    expect(expired.received).toEqual([]);
  });

  test("gets nothing if its certificate is not trusted, despite settings in the environment", async () => {
    const unknown = receiver(await authority.certify("DNS:hook.test"));
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const url = `https://127.0.0.1:${unknown.port}/hook`;
      expect((await fetch(url, { method: "POST" })).status).toBe(200); // it is in force
      const otherAuthority = await Authority.make(mkdtempSync(join(folder, "other-")));
      expect(await sendTo("hook.test", unknown, otherAuthority.certificate)).toMatchObject({ failure: "tls_failed" });
      const result = await send(message(`https://hook.test:${unknown.port}/hook`), network({ resolve }));
      expect(result).toMatchObject({ failure: "tls_failed" });
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
    expect(unknown.received).toHaveLength(1);
  });

  test("gets nothing if it does not speak TLS", async () => {
    const plain = await RawReceiver.start((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    toStop = [...toStop, plain];
    expect(await sendTo("hook.test", plain)).toMatchObject({ failure: "tls_failed" });
  });
});
