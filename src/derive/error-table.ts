import type { ErrorDefinition } from "../contract/errors.ts";

/** The catalogue of errors as a Markdown table. */
export function errorTable(catalogue: readonly ErrorDefinition[]): string {
  const rows = catalogue
    .toSorted((one, other) => one.status - other.status || one.code.localeCompare(other.code))
    .map(({ code, status, meaning }) => `| \`${code}\` | ${status} | ${meaning} |`);
  return ["| code | status | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}
