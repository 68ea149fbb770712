import { isNetwork } from "../../http/input/client-address.ts";
import { optionalSetting } from "../../settings/setting.ts";

/** The least number of bytes of a key: 32 random bytes cannot be guessed. */
const MIN_BYTES = 32;
/** A made-up key repeats its bytes. 32 random bytes practically never have fewer than 16 different values. */
const MIN_DIFFERENT = 16;

export const webhookSettings = {
  PETSTORE_SECRET_KEY: optionalSetting<readonly Uint8Array[]>({
    meaning:
      "The key from which webhook secrets are derived. In a list, the first key is for new secrets; secrets of the " +
      "other keys stay valid. A service that lacks the key of an enabled endpoint does not start. To replace a key, add the new one to the end of the list in all processes, then move it " +
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
