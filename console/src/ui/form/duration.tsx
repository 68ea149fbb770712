import { Select } from "../select.tsx";
import { durationOf } from "../words.ts";
import type { Control } from "./field.tsx";

/** A control for a number of seconds, with a few choices. `none` is the label for no number. */
export function durationControl(offered: readonly number[], none: string): Control {
  const choices = [["", none], ...offered.map((seconds) => [String(seconds), durationOf(seconds)] as const)] as const;
  return ({ id, entry, change, described }) => (
    <Select id={id} value={entry as string} choose={change} choices={choices} {...described} />
  );
}
