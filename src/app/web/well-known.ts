import type { Config } from "../../config.ts";
import { FixedContent } from "../../http/response/fixed-content.ts";
import type { WebContent } from "../../http/response/web-content.ts";
import type { Clock } from "../../timing/clock.ts";
import { rootOf } from "./base-address.ts";

/** The address of the catalogue, below the host (RFC 8615). */
const CATALOG = "/.well-known/api-catalog";
const SECURITY = "/.well-known/security.txt";

/** The `Link` header of pages where a client starts: it links to the documents. `root` is the path above the base address. */
export function startingLinks(root: string): string {
  return [
    `<${root}/openapi.json>; rel="service-desc"; type="application/json"`,
    `<${root}/docs>; rel="service-doc"; type="text/html"`,
    `<${CATALOG}>; rel="api-catalog"`,
  ].join(", ");
}

/** The content at well-known paths of a host. `bases` are base addresses, that of this process first. */
export function wellKnownContent(
  { security }: Config,
  bases: readonly [string, ...string[]],
  clock: Clock,
): [string, WebContent][] {
  const { origin } = new URL(bases[0]);
  const items = bases.map((base) => `<${base}>; rel="item"`);
  return [
    [
      CATALOG,
      {
        type: 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
        headers: {
          "Access-Control-Allow-Origin": "*",
          Link: [`<${origin}${CATALOG}>; rel="api-catalog"`, ...items].join(", "), // RFC 9727, section 2
        },
        fixed: new FixedContent(() => JSON.stringify(deriveApiCatalog(bases))),
      },
    ],
    [
      SECURITY,
      {
        type: "text/plain; charset=utf-8",
        headers: { "Cache-Control": "no-cache" },
        content: () =>
          security && !hasExpired(security, clock) ? { body: securityText(security, origin + SECURITY) } : undefined,
      },
    ],
  ];
}

/** True once the contact has expired and must not be used any more (RFC 9116, section 2.5.5). */
export function hasExpired({ expires }: NonNullable<Config["security"]>, clock: Clock): boolean {
  return clock.now() >= Date.parse(expires);
}

function securityText({ contacts, expires, policy }: NonNullable<Config["security"]>, canonical: string): string {
  return [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    `Canonical: ${canonical}`,
    ...(policy === undefined ? [] : [`Policy: ${policy}`]),
    "",
  ].join("\n");
}

/** A catalogue of the APIs at these base addresses, as a linkset (RFC 9264) for RFC 9727. */
function deriveApiCatalog(bases: readonly string[]): object {
  return {
    linkset: bases.map((base) => {
      const root = rootOf(base);
      return {
        anchor: base,
        "service-desc": [
          { href: `${root}/openapi.json`, type: "application/json" },
          { href: `${root}/openapi.yaml`, type: "application/yaml" },
        ],
        "service-doc": [
          { href: `${root}/docs`, type: "text/html" },
          { href: `${root}/llms.txt`, type: "text/plain" },
        ],
      };
    }),
  };
}
