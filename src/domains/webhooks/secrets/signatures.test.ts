import { describe, expect, test } from "bun:test";
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { SecretKeys } from "./secret-keys.ts";
import { deriveKeys, messageId, shownPublicKey, shownSecret, signedHeaders, signingKeys } from "./signatures.ts";

const { current: key } = new SecretKeys(randomBytes(32));
const now = Date.UTC(2026, 10, 21, 12) + 999;

/** The signatures in a header, by kind. */
function signatures(header: string, kind: string): string[] {
  return header.split(" ").flatMap((word) => (word.startsWith(`${kind},`) ? [word.slice(kind.length + 1)] : []));
}

describe("a signature", () => {
  test("matches the example in Standard Webhooks", () => {
    const keys = signingKeys(Buffer.from("plJ3nmyCDGBKInavdOK15jsl", "base64"), randomBytes(32));
    const body = '{"event_type":"ping","data":{"success":true}}';
    const headers = signedHeaders("msg_loFOjxBNrRLzqYUf", body, 1_731_705_121_000, [keys]);
    expect(headers["webhook-timestamp"]).toBe("1731705121");
    expect(signatures(headers["webhook-signature"], "v1")).toEqual(["rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="]);
  });

  test("matches the third example in RFC 8032 with its key", () => {
    const seed = Buffer.from("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "hex");
    const keys = signingKeys(randomBytes(32), seed);
    const shown = Buffer.from(shownPublicKey(keys).slice("whpk_".length), "base64").toString("hex");
    expect(shown).toBe("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
  });

  test("is made with each version of the secret, the newest first", () => {
    const versions = [deriveKeys(key, "7", 2), deriveKeys(key, "7", 1)];
    const headers = signedHeaders("msg_1", "{}", now, versions);
    expect(headers["webhook-signature"]).toMatch(/^v1,\S+ v1a,\S+ v1,\S+ v1a,\S+$/);
    const alone = versions.map((version) => signedHeaders("msg_1", "{}", now, [version])["webhook-signature"]);
    expect(headers["webhook-signature"]).toBe(alone.join(" "));
    expect(new Set(headers["webhook-signature"].split(" ")).size).toBe(4);
  });

  test("is valid for its exact id, time and body only", () => {
    const keys = deriveKeys(key, "7", 1);
    const body = '{"name":"Rex 🐕‍🦺 \u2028"}';
    const headers = signedHeaders("msg_1", body, now, [keys]);
    const [signature = ""] = signatures(headers["webhook-signature"], "v1a");
    const x = Buffer.from(shownPublicKey(keys).slice("whpk_".length), "base64").toString("base64url");
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    const isValid = (text: string) => verify(null, Buffer.from(text), publicKey, Buffer.from(signature, "base64"));
    expect(isValid(`msg_1.${Math.floor(now / 1000)}.${body}`)).toBe(true);
    expect(isValid(`msg_2.${Math.floor(now / 1000)}.${body}`)).toBe(false);
    expect(isValid(`msg_1.${Math.floor(now / 1000) + 1}.${body}`)).toBe(false);
    expect(isValid(`msg_1.${Math.floor(now / 1000)}.${body} `)).toBe(false);
  });
});

/** The keys as a receiver sees them. */
const all = (endpoint: string, version: number, from = key) => {
  const keys = deriveKeys(from, endpoint, version);
  return [shownSecret(keys), shownPublicKey(keys)];
};

describe("the keys of an endpoint", () => {
  test("are always the same", () => {
    expect(all("7", 1)).toEqual(all("7", 1));
  });

  test("have the formats of Standard Webhooks", () => {
    const [secret = "", publicKey = ""] = all("7", 1);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/); // 32 bytes
    expect(publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
  });

  test("differ between endpoints, versions and secret keys", () => {
    const { current: other } = new SecretKeys(randomBytes(32));
    const shown = [all("7", 1), all("7", 11), all("71", 1), all("1:7", 1), all("8", 1), all("7", 1, other)].flat();
    expect(new Set(shown.map((text) => text.replace(/^wh[a-z]+_/, ""))).size).toBe(12);
  });
});

describe("the id of a message", () => {
  test("is always the same for an event, and has no full stop", () => {
    expect(messageId("7", "3", 12n)).toBe(messageId("7", "3", 12n));
    expect(messageId("7", "3", 12n)).toMatch(/^msg_[A-Za-z0-9_-]{24}$/);
  });

  test("differs between events, shops and endpoints", () => {
    const ids = [
      messageId("7", "3", 12n),
      messageId("7", "3", 13n),
      messageId("7", "31", 2n),
      messageId("2:7", "3", 1n),
    ];
    expect(new Set([...ids, messageId("7", "3", 1n)]).size).toBe(5);
  });
});
