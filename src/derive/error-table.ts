import type { ErrorDefinition } from "../contract/errors.ts";

/** The catalogue of errors as a Markdown table. */
export function errorTable(catalogue: readonly ErrorDefinition[]): string {
  const rows = sorted(catalogue).map(({ code, status, meaning }) => `| \`${code}\` | ${status} | ${meaning} |`);
  return ["| code | status | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

/** The catalogue of errors as Markdown lists, one for each status. */
export function errorLists(catalogue: readonly ErrorDefinition[]): string {
  const groups = Map.groupBy(sorted(catalogue), ({ status }) => status);
  return [...groups]
    .map(([status, errors]) =>
      [`### ${status}\n`, ...errors.map(({ code, meaning }) => `- \`${code}\`: ${meaning}`)].join("\n"),
    )
    .join("\n\n");
}

function sorted(catalogue: readonly ErrorDefinition[]): readonly ErrorDefinition[] {
  return catalogue.toSorted((one, other) => one.status - other.status || one.code.localeCompare(other.code));
}
