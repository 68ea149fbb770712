import { isDeepStrictEqual } from "node:util";
import type { Fault } from "../../contract/errors.ts";
import { type Metadata, type MetadataPatch, metadataFault, patchedMetadata } from "./metadata.schemas.ts";

type Sparse<T> = { readonly [K in keyof T]: T[K] | null | undefined };

/** The fields that have a value. */
export function present<T extends object>(fields: Sparse<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined && one !== null)) as T;
}

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
