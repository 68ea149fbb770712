import { durationOf } from "../words.ts";
import type { Control } from "./field.tsx";

/** A control for a number of seconds, with a few choices. `none` is the label for no number. */
export function durationControl(offered: readonly number[], none?: string): Control {
  return ({ id, entry, change, described }) => (
    <select
      id={id}
      value={entry as string}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      {...described}
    >
      {none && <option value="">{none}</option>}
      {offered.map((seconds) => (
        <option key={seconds} value={seconds}>
          {seconds === 0 ? "None" : durationOf(seconds)}
        </option>
      ))}
    </select>
  );
}
