import { isNetwork } from "../../http/client-address.ts";
import { optionalSetting } from "../../settings/setting.ts";

/** Bytes of a key. 32 random ones cannot be guessed. */
const LEAST_BYTES = 32;
/** A text that somebody made up repeats its bytes. Fewer than 16 different ones among 32 random bytes do not occur. */
const LEAST_DIFFERENT = 16;

export const webhookSettings = {
  PETSTORE_SECRET_KEY: optionalSetting<readonly Uint8Array[]>({
    meaning:
      "The key from which the secrets of webhook endpoints are derived. A list takes new secrets from the first key; " +
      "those of the others stay valid as long as their key is listed. Unset: the embedded store keeps a key in " +
      "`secret.key` in its folder, and with PostgreSQL there are no webhooks.",
    expects: "base64 of at least 32 random bytes, as `openssl rand -base64 32` gives, more of them separated by commas",
    parse: parseSecretKeys,
    isSecret: true,
  }),
  PETSTORE_WEBHOOK_DENY: optionalSetting<readonly string[]>({
    meaning:
      "Addresses or networks that no webhook is sent to, separated by commas, beside those that are not global: such " +
      "as public addresses of your own network, or an IPv6 prefix of it that leads to IPv4 addresses (NAT64).",
    expects: "a comma-separated list of IP addresses or networks such as 198.51.100.0/24",
    parse: (text) => {
      const networks = text.split(",").map((network) => network.trim());
      return networks.every(isNetwork) ? networks : undefined;
    },
  }),
};

/** The keys of a text; undefined where one of them is malformed, weak or there twice. */
export function parseSecretKeys(text: string): readonly Uint8Array[] | undefined {
  const words = text.split(",").map((word) => word.trim());
  const keys = words.map((word) => Buffer.from(word, "base64"));
  const isStrong = keys.every((key, index) => {
    const word = (words[index] as string).replace(/=+$/, "");
    const isExact = key.toString("base64").replace(/=+$/, "") === word;
    return isExact && key.length >= LEAST_BYTES && new Set(key).size >= LEAST_DIFFERENT;
  });
  const different = new Set(keys.map((key) => key.toString("base64")));
  return isStrong && different.size === keys.length ? keys : undefined;
}
