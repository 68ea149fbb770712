import { resolve } from "node:path";
import { type ParsedArguments, UsageError } from "../../../terminal/command.ts";
import { type Format, formats } from "./formats.ts";

export const formatOption = {
  format: { meaning: `${formats.join(" or ")}, if the name of the file does not end with it.`, value: "FORMAT" },
} as const;

/** Stands for the standard input or output. */
const STANDARD = "-";

/** The file of animals that a command line names. */
export interface PetFile {
  /** An absolute path; undefined for the standard input or output. */
  readonly path: string | undefined;
  readonly format: Format;
}

/** Reads the argument `FILE` and the option `--format`. Throws `UsageError`. */
export function readPetFile({ args, options }: ParsedArguments, folder: string): PetFile {
  const name = args[0] ?? "";
  const said = options["format"];
  const format = formats.find((known) => (said === undefined ? name.endsWith(`.${known}`) : known === said));
  if (!format) {
    if (/\.(xlsx?|ods|numbers)$/i.test(name))
      throw new UsageError(`${name} is a spreadsheet: save it as CSV in UTF-8.`);
    throw new UsageError(
      said === undefined
        ? `${name} does not end with ${formats.map((known) => `.${known}`).join(" or ")}, so it needs --format.`
        : `--format must be one of ${formats.join(", ")}.`,
    );
  }
  return { path: name === STANDARD ? undefined : resolve(folder, name), format };
}
