/** A response. */
export interface Came {
  readonly request: { readonly method?: string; readonly path: string };
  /** The request, as it is shown. */
  readonly sent: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body, with 64-bit integers as bigints; undefined if it is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a check says what it expects of it
  readonly json: any;
  /** True if it came on the connection of an earlier request. */
  readonly isReused: boolean;
}

/** Something else came than is right, which is the message. */
export class Wrong extends Error {
  declare readonly sent: string;
  declare readonly came: string;
}

/** A check that cannot be made here. The message says why. */
export class Skipped extends Error {}

export function wrong(right: string, sent: string, came: string, cause?: unknown): Wrong {
  return Object.assign(new Wrong(right, { cause }), { sent, came });
}

/** Throws `Wrong` unless the response is as it must be. `right` says how. */
export function must({ sent, status, headers, text }: Came, isRight: unknown, right: string): void {
  if (!isRight) throw wrong(right, sent, `${status} ${headers.get("content-type") ?? "without a type"}: ${text}`);
}

/**
 * Throws `Wrong` unless the response has the header, with a value that is right, which is returned. Without a test, the
 * value is `right`, or a list that has it.
 */
export function mustHave(came: Came, name: string, right = "any", test?: (value: string) => unknown): string {
  const value = came.headers.get(name) ?? "";
  const known = [value, "any", ...value.split(/[,;] */)].map((one) => one.toLowerCase());
  if (value !== "" && (test ? test(value) : known.includes(right.toLowerCase()))) return value;
  throw wrong(`${name}: ${right}`, came.sent, `${came.status}, ${name}: ${value || "absent"}`);
}

/** When a response was made, by its `Date`, in Unix milliseconds. */
export const timeOf = ({ headers }: Came) => Date.parse(headers.get("date") ?? "") || Date.now();
