import { isNetwork } from "../../http/input/client-address.ts";
import { optionalSetting, setting } from "../../settings/setting.ts";

/** The least number of bytes of a key: 32 random bytes cannot be guessed. */
const MIN_BYTES = 32;
/** A made-up key repeats its bytes. 32 random bytes practically never have fewer than 16 different values. */
const MIN_DIFFERENT = 16;

export const webhookSettings = {
  PETSTORE_SECRET_KEY: optionalSetting<readonly Uint8Array[]>({
    meaning:
      "The key from which webhook secrets are derived. In a list, the first key is for new secrets; secrets of the " +
      "other keys stay valid. To replace a key, add the new one to the end of the list in all processes, then move it " +
      "to the front. Unset: the embedded store has a key in `secret.key` in its folder; with PostgreSQL there are no " +
      "webhooks.",
    expects:
      "base64 of at least 32 random bytes, as `openssl rand -base64 32` gives; several keys are separated by commas",
    parse: parseSecretKeys,
    isSecret: true,
  }),
  PETSTORE_WEBHOOK_DENY: optionalSetting<readonly string[]>({
    meaning:
      "Addresses to which no webhook is sent, in addition to addresses that are not global. Examples are public addresses " +
      "of your own network, or its IPv6 prefix for IPv4 addresses (NAT64).",
    expects: "a comma-separated list of IP addresses or networks such as 198.51.100.0/24",
    parse: (text) => {
      const networks = text.split(",").map((network) => network.trim());
      return networks.every(isNetwork) ? networks : undefined;
    },
  }),
};

/** The length of the secret of `petstore listen`. */
export const LISTEN_SECRET_BYTES = 32;

/** The settings of `petstore listen`, with the names that the client uses. */
export const listenSettings = {
  PETSTORE_KEY: optionalSetting<string>({
    meaning: "The test key of `petstore listen`.",
    expects: "an API key such as psk_test_…",
    parse: (text) => (/^[!-~]+$/.test(text) ? text : undefined),
    isSecret: true,
  }),
  PETSTORE_WEBHOOK_SECRET: optionalSetting<Uint8Array>({
    meaning:
      "The secret with which `petstore listen` signs, so that the receiver can keep it. Unset: a new one for each run.",
    expects: "a secret such as `petstore listen` prints (whsec_…)",
    parse: (text) => {
      const bytes = Buffer.from(text.replace(/^whsec_/, ""), "base64");
      return bytes.length === LISTEN_SECRET_BYTES && text === `whsec_${bytes.toString("base64")}` ? bytes : undefined;
    },
    isSecret: true,
  }),
  PETSTORE_URL: setting<string>({
    meaning: "The service that `petstore listen` follows.",
    fallback: "http://127.0.0.1:8080/v1",
    expects: "an http or https URL that ends with /v1",
    parse: (text) => {
      const url = text.replace(/\/+$/, "");
      return /^https?:\/\/.+\/v1$/.test(url) && URL.canParse(url) ? url : undefined;
    },
  }),
};

/** The keys in a text; undefined if one of them is malformed, weak or listed twice. */
export function parseSecretKeys(text: string): readonly Uint8Array[] | undefined {
  const words = text.split(",").map((word) => word.trim());
  const keys = words.map((word) => Buffer.from(word, "base64"));
  const isStrong = keys.every((key, index) => {
    const word = (words[index] as string).replace(/=+$/, "");
    const isExact = key.toString("base64").replace(/=+$/, "") === word;
    return isExact && key.length >= MIN_BYTES && new Set(key).size >= MIN_DIFFERENT;
  });
  const different = new Set(keys.map((key) => key.toString("base64")));
  return isStrong && different.size === keys.length ? keys : undefined;
}
