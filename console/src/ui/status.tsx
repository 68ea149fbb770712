import type { ComponentChildren } from "preact";
import { toneOf, wordOf } from "./words.ts";

interface StatusProps {
  readonly of: string | undefined;
  /** Instead of the word of the state. */
  readonly children?: ComponentChildren;
}

/** A state as a word in its colour, with a dot. */
export function Status({ of, children }: StatusProps) {
  return <span class={`status ${toneOf(of)}`}>{children ?? (of === undefined ? "No status" : wordOf(of))}</span>;
}

/** The status of a response, coloured by class: success, rejection or failure. */
export function StatusCode({ of }: { readonly of: number }) {
  return <Status of={of < 400 ? "succeeded" : of < 500 ? "rejected" : "failed"}>{of}</Status>;
}
