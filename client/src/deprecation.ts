import { linkOf } from "./response.ts";

/** What the headers of a deprecated operation say. */
export interface DeprecationNotice {
  readonly operation: string;
  /** When it was deprecated. */
  readonly since: Date;
  /** When it is removed. */
  readonly sunset: Date;
  /** The address of what replaces it. */
  readonly successor: string | undefined;
  /** The address of its documentation. */
  readonly documentation: string | undefined;
}

/** Reads the notice (RFC 9745, RFC 8594); undefined for an operation that is not deprecated. */
export function deprecationOf(operation: string, headers: Headers): DeprecationNotice | undefined {
  const deprecation = headers.get("deprecation");
  if (!deprecation) return undefined;
  return {
    operation,
    since: new Date(+deprecation.slice(1) * 1000),
    sunset: new Date(headers.get("sunset") ?? Number.NaN),
    successor: linkOf(headers, "successor-version"),
    documentation: linkOf(headers, "deprecation"),
  };
}

export function warnOfDeprecation({ operation, sunset, successor }: DeprecationNotice): void {
  console.warn(`petstore: ${operation} will be removed on ${sunset.toUTCString()}. Use ${successor}.`);
}
