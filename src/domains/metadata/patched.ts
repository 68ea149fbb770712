import { isDeepStrictEqual } from "node:util";
import { present, type Sparse } from "../../collections/present.ts";
import type { Fault } from "../../contract/errors.ts";
import { type Metadata, type MetadataPatch, metadataFault, patchedMetadata } from "./metadata.schemas.ts";

/** A resource with the fields of a change (RFC 7396), where `null` removes one; `before` itself if nothing differs. */
export function patched<T extends { readonly metadata?: Metadata }>(
  before: T,
  fields: { readonly [K in keyof T]: T[K] | (K extends "metadata" ? MetadataPatch : null) | undefined },
): T | Fault {
  const pairs = patchedMetadata(before.metadata, fields.metadata);
  const fault = metadataFault(pairs);
  if (fault) return fault;
  const after = present({ ...fields, metadata: pairs } as Sparse<T>);
  return isDeepStrictEqual(after, before) ? before : after;
}
