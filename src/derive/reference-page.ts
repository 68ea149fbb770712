import type { Operation } from "../contract/operation.ts";

/** The reference page: shows the document with the script of the page, and asks no other host for anything. */
export function deriveReferencePage(
  _operations: readonly Operation[],
  _options: { document: string; script: string },
): string {
  return "<!doctype html>";
}
