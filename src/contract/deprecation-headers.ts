import type { Operation } from "./operation.ts";
import { dateToUnixSeconds } from "./operation-properties.ts";

/** The headers of each response of a deprecated operation. */
export interface DeprecationHeaders {
  readonly Deprecation: string;
  readonly Sunset: string;
  readonly Link: string;
}

/**
 * The headers of an operation; undefined if it is not deprecated. `base` is the base address, and `documentation` that
 * of the operation on the reference page.
 */
export function deprecationHeaders(
  { deprecation }: Operation,
  operations: readonly Operation[],
  { base, documentation }: { readonly base: string; readonly documentation: string },
): DeprecationHeaders | undefined {
  if (!deprecation) return undefined;
  const { since, removal, replacement } = deprecation;
  const successor = operations.find(({ name }) => name === replacement);
  return {
    Deprecation: `@${dateToUnixSeconds(since)}`, // RFC 9745, a structured date
    Sunset: new Date(dateToUnixSeconds(removal) * 1000).toUTCString(), // RFC 8594
    Link: `<${documentation}>; rel="deprecation"; type="text/html", <${base}${successor?.path}>; rel="successor-version"`,
  };
}
