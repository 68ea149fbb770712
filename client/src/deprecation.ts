import { linkOf } from "./response.ts";

/** The deprecation headers of a response. */
export interface DeprecationNotice {
  readonly operation: string;
  /** When it was deprecated. */
  readonly since: Date;
  /** When it will be removed. */
  readonly sunset: Date;
  /** The URL of its replacement. */
  readonly successor: string | undefined;
  /** The URL of its documentation. */
  readonly documentation: string | undefined;
}

/** Reads the notice (RFC 9745, RFC 8594). Returns undefined if the operation is not deprecated. */
export function deprecationOf(operation: string, headers: Headers): DeprecationNotice | undefined {
  const deprecation = headers.get("deprecation");
  if (!deprecation) return undefined;
  return {
    operation,
    since: new Date(+deprecation.slice(1) * 1000),
    sunset: new Date(headers.get("sunset") ?? ""),
    successor: linkOf(headers, "successor-version"),
    documentation: linkOf(headers, "deprecation"),
  };
}

export function deprecationWarning({ operation, sunset, successor }: DeprecationNotice): string {
  return `petstore: ${operation} will be removed on ${sunset.toUTCString()}. Use ${successor}.`;
}
