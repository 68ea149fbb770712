import type { Operation } from "./operation.ts";
import { suggest } from "./suggest.ts";

/** The keys of a type. A missing, repeated or unknown key does not compile. */
type KeysOf<T> = Readonly<Record<keyof T, true>>;
type Part<Name extends keyof Operation> = KeysOf<NonNullable<Operation[Name]>>;

const ofOperation: KeysOf<Operation> = {
  name: true,
  method: true,
  path: true,
  tag: true,
  summary: true,
  description: true,
  stability: true,
  deprecation: true,
  testPanel: true,
  scopes: true,
  separateQuota: true,
  params: true,
  query: true,
  body: true,
  emits: true,
  ifMatch: true,
  response: true,
  paged: true,
  errors: true,
};
const tag: Part<"tag"> = { name: true, description: true, stability: true };
const deprecation: Part<"deprecation"> = { since: true, removal: true, replacement: true, advice: true };
const params: Part<"params"> = { schema: true, invalidError: true };
const body: Part<"body"> = { schema: true, examples: true };
const response: Part<"response"> = {
  status: true,
  description: true,
  schema: true,
  examples: true,
  location: true,
  entityTag: true,
  secret: true,
  stream: true,
};
const stream: KeysOf<NonNullable<Operation["response"]["stream"]>> = { id: true, event: true };
const paged: Part<"paged"> = { position: true };
const ofParts = { tag, deprecation, params, body, response, paged };

/** Faults for unknown keys of an operation or its parts. A misspelled key would otherwise be ignored. */
export function unknownKeyFaults(operation: Operation): string[] {
  return [
    ...unknownKeys(operation, ofOperation, ""),
    ...Object.entries(ofParts).flatMap(([name, known]) =>
      unknownKeys(operation[name as keyof typeof ofParts] ?? {}, known, `${name}.`),
    ),
    ...unknownKeys(operation.response.stream ?? {}, stream, "response.stream."),
  ];
}

function unknownKeys(part: object, known: object, prefix: string): string[] {
  return Object.keys(part)
    .filter((key) => !Object.hasOwn(known, key))
    .map((key) => {
      const meant = suggest(key, Object.keys(known));
      return `the key ${prefix}${key} is not known; ${meant ? `did you mean ${prefix}${meant}?` : "remove it."}`;
    });
}
