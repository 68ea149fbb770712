import { optionalSetting } from "../settings/setting.ts";

/** The parts of a setting that is a base address. */
const baseAddress = {
  expects: "an absolute http or https address that ends with /v1",
  parse: (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
    return isPlain && /^(\/[A-Za-z0-9._~-]+)*\/v1$/.test(url.pathname)
      ? url.origin + url.pathname // not its `href`, which keeps the `?` of an empty query
      : undefined;
  },
};

function parsePublicUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url.href : undefined;
}

/** The settings that clients can see. */
export const publicSettings = {
  PETSTORE_BASE_URL: optionalSetting<string>({
    meaning:
      "The base address as clients see it; links in responses start with it. With `PETSTORE_ENV=staging`, " +
      "`PETSTORE_STAGING_BASE_URL` takes its place. Unset: `http://HOST:PORT/v1`.",
    ...baseAddress,
  }),
  PETSTORE_STAGING_BASE_URL: optionalSetting<string>({
    meaning: "The same for staging. If both are set, the OpenAPI document lists both.",
    ...baseAddress,
  }),
  PETSTORE_CONTACT_URL: optionalSetting<string>({
    meaning: "A page where users get help; the OpenAPI document names it as the contact. Unset: the reference page.",
    expects: "an absolute http or https address without credentials",
    parse: parsePublicUrl,
  }),
  PETSTORE_CONTACT_EMAIL: optionalSetting<string>({
    meaning: "An e-mail address for users; the OpenAPI document names it.",
    expects: "an e-mail address such as support@example.org",
    parse: (text) => (/^[^\s@<>"]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text) ? text : undefined),
  }),
  PETSTORE_SECURITY_CONTACT: optionalSetting<readonly string[]>({
    meaning:
      "Where to report security problems, the preferred address first; published at `/.well-known/security.txt` (RFC " +
      "9116). Needs `PETSTORE_SECURITY_EXPIRES`.",
    expects: "addresses that start with mailto:, https: or tel:, separated by commas",
    parse: (text) => {
      const contacts = text.split(",").map((contact) => contact.trim());
      return contacts.every((contact) => /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[0-9-]+)$/.test(contact))
        ? contacts
        : undefined;
    },
  }),
  PETSTORE_SECURITY_EXPIRES: optionalSetting<string>({
    meaning:
      "The day (UTC) on which the security contact expires; from then on `security.txt` returns 404. RFC 9116 " +
      "recommends less than a year.",
    expects: "a day as YYYY-MM-DD",
    parse: (text) => {
      const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
      return day && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
        ? `${text}T00:00:00Z`
        : undefined;
    },
  }),
  PETSTORE_SECURITY_POLICY: optionalSetting<string>({
    meaning: "The page with the rules for security researchers; `security.txt` links to it.",
    expects: "an absolute http or https address without credentials",
    parse: parsePublicUrl,
  }),
};
