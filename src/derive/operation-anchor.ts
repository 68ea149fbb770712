import type { Operation } from "../contract/operation.ts";

/** The anchor of an operation on the reference page. */
export function operationAnchor({ tag, name }: Operation): string {
  return `tag/${tag.name}/${name}`;
}
