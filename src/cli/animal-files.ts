import { resolve } from "node:path";
import { type Format, formats } from "../domains/pets/pets.files.ts";
import { type Given, UsageError } from "./command.ts";

export const formatOption = {
  format: { meaning: `${formats.join(" or ")}, where the name of the file does not say it.`, value: "FORMAT" },
} as const;

/** Names the standard input or output. */
const STANDARD = "-";

/** A file of animals, as a command line names it. */
export interface AnimalFile {
  /** An absolute path; undefined for the standard input or output. */
  readonly path: string | undefined;
  readonly format: Format;
}

/** Reads the argument `FILE` and the option `--format`. Throws `UsageError`. */
export function readAnimalFile({ args, options }: Given, folder: string): AnimalFile {
  const name = args[0] ?? "";
  const said = options["format"];
  const format = formats.find((known) => (said === undefined ? name.endsWith(`.${known}`) : known === said));
  if (!format) {
    throw new UsageError(
      said === undefined
        ? `${name} does not end with ${formats.map((known) => `.${known}`).join(" or ")}, so it needs --format.`
        : `--format has to be one of ${formats.join(", ")}.`,
    );
  }
  return { path: name === STANDARD ? undefined : resolve(folder, name), format };
}

/** So many animals, or others, in words. */
export function counted(number: number, what = "animal"): string {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

/** How long and how fast, in words. */
export function pace(number: number, seconds: number): string {
  const perSecond = Math.round(number / seconds).toLocaleString("en");
  return `in ${seconds.toFixed(1)} s, ${perSecond} a second`;
}
