import { errorCatalogue } from "../contract/check.ts";
import type { Operation } from "../contract/operation.ts";
import { errorTable } from "./error-table.ts";

/** A setting, as far as its reference shows it. */
interface DocumentedSetting {
  readonly fallback: string;
  readonly meaning: string;
  readonly expects: string;
}

/** The parts of the documentation that are derived from the program, by file and by name of the part. */
export function derivedParts(
  operations: readonly Operation[],
  settings: Readonly<Record<string, DocumentedSetting>>,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return {
    "docs/errors.md": { errors: errorTable(errorCatalogue(operations)) },
    "docs/operating.md": { settings: settingsTable(settings) },
  };
}

/** The text with the content of its part `name`, which stands between two comments, replaced. */
export function replacePart(text: string, name: string, content: string): string {
  const [start, end] = [`<!-- derived: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The text has no part named ${name}.`);
  return `${text.slice(0, from + start.length)}\n\n${content}\n\n${text.slice(to)}`;
}

function settingsTable(settings: Readonly<Record<string, DocumentedSetting>>): string {
  const rows = Object.entries(settings).map(
    ([name, { fallback, meaning, expects }]) =>
      `| \`${name}\` | ${fallback ? `\`${fallback}\`` : "unset"} | ${meaning} Has to be ${expects}. |`,
  );
  return ["| setting | default | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}
