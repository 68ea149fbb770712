import { wordOf } from "./words.ts";

/** A state as a coloured dot and a word. The colours are in `styles/lists.css`; a state without one is grey. */
export function Status({ of }: { readonly of: string | undefined }) {
  return <span class={`status ${of ?? ""}`}>{of === undefined ? "No status" : wordOf(of)}</span>;
}

/** The status of a response, coloured by class: success, rejection or failure. */
export function StatusCode({ of }: { readonly of: number }) {
  return <span class={`status number ${of < 400 ? "succeeded" : of < 500 ? "paused" : "failed"}`}>{of}</span>;
}
