import { Type } from "typebox";
import type { Fault } from "../../contract/errors.ts";
import { withCommas } from "../../contract/messages.ts";
import { LongText, RULES, type Rule, Text } from "../../contract/schemas.ts";

/** Limits of one resource: pairs, characters of a key and of a value, and bytes of all keys and values together. */
const MAX_PAIRS = 50;
const MAX_KEY_LENGTH = 40;
const MAX_VALUE_LENGTH = 500;
const MAX_BYTES = 4_096;
/** Enough to remove all pairs and to set as many others. */
const MAX_PATCH_PAIRS = 2 * MAX_PAIRS;

/** The metadata of a resource. */
export type Metadata = Readonly<Record<string, string>>;
/** A change of metadata: a null value removes its pair, and null instead of an object removes all pairs. */
export type MetadataPatch = Readonly<Record<string, string | null>> | null;

/** Many programs reject or drop this key in JSON, so a webhook that contains it could not be delivered. */
const REFUSED_KEY = "__proto__";

const noRefusedKey: Rule = {
  allows: (pairs) => !Object.hasOwn(pairs as object, REFUSED_KEY),
  message: `must not have the key ${REFUSED_KEY}, which many programs reject`,
};
const notTooLarge: Rule = {
  allows: (pairs) => bytesOf(pairs as MetadataPatch) <= MAX_BYTES,
  message: `must not hold more than ${withCommas(MAX_BYTES)} bytes in keys and values together`,
};

const bounds =
  `Up to ${MAX_PAIRS} pairs, with keys of 1 to ${MAX_KEY_LENGTH} characters and values of up to ${MAX_VALUE_LENGTH}: together at most ` +
  `${withCommas(MAX_BYTES)} bytes in UTF-8. The key \`${REFUSED_KEY}\` is not allowed.`;

const keys = Text({ description: "A key.", minLength: 1, maxLength: MAX_KEY_LENGTH });
const value = LongText({ description: "A value.", minLength: 0, maxLength: MAX_VALUE_LENGTH });
const examples = [{ supplier: "Tiny Paws", shelf: "B-12" }];

const NewMetadata = Type.Unsafe<Metadata>({
  title: "NewMetadata",
  type: "object",
  description: `Key-value pairs for your own use. ${bounds}`,
  maxProperties: MAX_PAIRS,
  propertyNames: keys,
  additionalProperties: value,
  examples,
  [RULES]: [noRefusedKey, notTooLarge],
});
const Metadata = Type.Unsafe<Metadata>({
  title: "Metadata",
  type: "object",
  description: "The key-value pairs that you set. Absent if there are none.",
  maxProperties: MAX_PAIRS,
  additionalProperties: Type.String({ description: "A value.", maxLength: MAX_VALUE_LENGTH }),
});
const MetadataPatch = Type.Unsafe<MetadataPatch>({
  title: "MetadataPatch",
  type: ["object", "null"],
  description:
    "Pairs to set. A `null` value removes its pair, `null` instead of an object removes all. Other pairs stay. " +
    `The limits of \`NewMetadata\` apply to the resulting pairs; a patch has at most ${MAX_PATCH_PAIRS}.`,
  maxProperties: MAX_PATCH_PAIRS,
  propertyNames: keys,
  additionalProperties: { ...value, type: ["string", "null"], description: "A value; `null` removes the pair." },
  examples: [{ shelf: "C-3", supplier: null }],
  [RULES]: [noRefusedKey],
});

/** The field `metadata` of a new resource, of a returned one, and of a patch. */
export const newMetadata = Type.Optional(NewMetadata);
export const metadata = Type.Optional(Metadata);
export const metadataPatch = Type.Optional(MetadataPatch);

/** The pairs to store: undefined if there are none. */
export function unlessEmpty(pairs: Metadata | undefined): Metadata | undefined {
  return pairs && Object.keys(pairs).length > 0 ? pairs : undefined;
}

/** True if both have the same pairs, in any order. */
export function sameMetadata(one: Metadata = {}, other: Metadata = {}): boolean {
  const entries = Object.entries(one);
  return (
    entries.length === Object.keys(other).length &&
    entries.every(([key, text]) => Object.hasOwn(other, key) && other[key] === text)
  );
}

/** The pairs after a patch (RFC 7396). */
export function patchedMetadata(pairs: Metadata | undefined, patch: MetadataPatch | undefined): Metadata | undefined {
  if (patch === undefined) return pairs;
  if (patch === null) return undefined;
  const merged = new Map(Object.entries<string | null>(pairs ?? {}));
  for (const [key, text] of Object.entries(patch)) merged.set(key, text);
  // `fromEntries` makes each key an own field, even one like `__proto__`.
  return unlessEmpty(Object.fromEntries([...merged].filter(([, text]) => text !== null)) as Metadata);
}

/** Which limit the pairs after a patch exceed, as a fault of the resource; undefined if none. */
export function metadataFault(pairs: Metadata | undefined): Fault | undefined {
  if (pairs === undefined) return undefined;
  const path = "/metadata";
  const { length } = Object.keys(pairs);
  if (length > MAX_PAIRS) {
    return { path, message: `would then have ${length} pairs; at most ${MAX_PAIRS} are allowed` };
  }
  const bytes = bytesOf(pairs);
  if (bytes <= MAX_BYTES) return undefined;
  return { path, message: `would then hold ${bytes} bytes; at most ${MAX_BYTES} are allowed` };
}

/** Bytes of keys and values in UTF-8. */
function bytesOf(pairs: MetadataPatch): number {
  let bytes = 0;
  for (const [key, text] of Object.entries(pairs ?? {})) {
    bytes += Buffer.byteLength(key) + (typeof text === "string" ? Buffer.byteLength(text) : 0);
  }
  return bytes;
}
