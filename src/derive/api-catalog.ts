import { rootOf } from "../contract/base-address.ts";

/** A catalogue of the APIs at these base addresses, as a linkset (RFC 9264) for RFC 9727. */
export function deriveApiCatalog(bases: readonly string[]): object {
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
