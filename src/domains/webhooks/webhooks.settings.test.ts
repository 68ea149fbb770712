import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readSettings } from "../../settings/setting.ts";
import { webhookSettings } from "./webhooks.settings.ts";

const random = (bytes: number) => randomBytes(bytes).toString("base64");
const read = (text: string) => readSettings({ PETSTORE_SECRET_KEY: text }, webhookSettings);

describe("PETSTORE_SECRET_KEY", () => {
  test("accepts base64 of 32 bytes and more, with and without padding, and hexadecimal digits", () => {
    const key = randomBytes(32);
    const base64 = key.toString("base64");
    for (const text of [base64, base64.replace("=", ""), ` ${base64} `]) {
      expect(read(text).values.PETSTORE_SECRET_KEY).toEqual([key]);
    }
    expect(read(random(64)).faults).toEqual([]);
    expect(read(key.toString("hex")).faults).toEqual([]);
  });

  test("accepts a list", () => {
    const [first, second] = [randomBytes(32), randomBytes(48)];
    const listed = read(`${first.toString("base64")}, ${second.toString("base64")}`);
    expect(listed.values.PETSTORE_SECRET_KEY).toEqual([first, second]);
  });

  const one = random(32);
  test.each([
    ["too short", random(31)],
    ["one letter", "a".repeat(64)],
    ["a word again and again", "changeme".repeat(8)],
    ["digits only, again and again", "0123456789".repeat(6).slice(0, 48)],
    ["not base64", "correct horse battery staple, correct horse battery"],
    ["base64url", `${"-_".repeat(4)}${randomBytes(30).toString("base64")}`],
    ["cut off", `${random(33)}A`],
    ["the same key twice", `${one},${one}`],
    ["an empty one in a list", `${one},`],
    ["a weak one in a list", `${one},${"a".repeat(64)}`],
  ])("refuses a value that is %s, without showing it", (_name, text) => {
    const { faults } = read(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain("openssl rand -base64 32");
    expect(faults[0]).not.toContain(text.slice(0, 20));
  });
});

const deny = (text: string) =>
  readSettings({ PETSTORE_WEBHOOK_DENY: text }, webhookSettings).values.PETSTORE_WEBHOOK_DENY;

describe("PETSTORE_WEBHOOK_DENY", () => {
  test("accepts addresses and networks", () => {
    expect(deny("8.8.8.8, 9.9.0.0/16,2000::/32")).toEqual(["8.8.8.8", "9.9.0.0/16", "2000::/32"]);
  });

  test.each(["example.com", "8.8.8.0/33", "8.8.8.8,", "8.8.8"])("refuses %j", (text) => {
    expect(deny(text)).toBeUndefined();
  });
});
