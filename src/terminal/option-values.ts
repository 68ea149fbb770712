import { type ParsedArguments, UsageError } from "./command.ts";

/** The value of an option that must be one of some words. Throws `UsageError`. */
export function oneOf<const T extends string>({ options }: ParsedArguments, name: string, known: readonly T[]): T {
  const found = known.find((one) => one === options[name]);
  if (!found) throw new UsageError(`--${name} must be one of ${known.join(", ")}.`);
  return found;
}

/** The value of an option that must be a whole number from 1 to `most`, which has at most five digits. Throws `UsageError`. */
export function wholeNumber({ options }: ParsedArguments, name: string, most: number): number {
  const text = options[name] ?? "";
  if (!/^[1-9][0-9]{0,4}$/.test(text) || Number(text) > most) {
    throw new UsageError(`--${name} must be a whole number from 1 to ${most}.`);
  }
  return Number(text);
}
