import type { ErrorDefinition } from "../contract/errors.ts";
import type { Operation } from "../contract/operation.ts";

/** Addresses of the service, as clients see them. */
interface Addresses {
  readonly base: string;
  readonly docs: string;
  readonly document: string;
}

/** Instructions for language models that call the service, in Markdown (llmstxt.org). */
export function deriveLlmsText(operations: readonly Operation[], { base, docs, document }: Addresses): string {
  const byTag = Map.groupBy(operations, ({ tag }) => tag);
  return `${[
    "# Petstore",
    "> An HTTP/JSON interface for the animals of a pet store.",
    `The base address is ${base}. Send an API key as \`Authorization: Bearer <API_KEY>\`. Errors have a body with ` +
      "`code`, `message` and `status`. After a 429, wait as long as `Retry-After` says. Identifiers are " +
      "64-bit integers or text, as the OpenAPI document says. Send `Idempotency-Key` with each POST and PATCH, to be able " +
      "to send it again safely.",
    "## Documentation",
    [
      `- [OpenAPI document](${document}): every operation, schema and error`,
      `- [Reference](${docs}): the same to read`,
    ].join("\n"),
    ...[...byTag].flatMap(([{ name, description }, own]) => [
      `## ${name}`,
      description,
      own.map(operationLine).join("\n"),
    ]),
  ].join("\n\n")}\n`;
}

function operationLine({ name, method, path, summary, stability, deprecation }: Operation): string {
  const mark = deprecation
    ? ` Deprecated, removed on ${deprecation.removal}.`
    : stability === "stable"
      ? ""
      : ` (${stability})`;
  return `- \`${method} ${path}\` (${name}): ${summary}.${mark}`;
}

/** The catalogue of errors as a Markdown table. */
export function errorTable(catalogue: readonly ErrorDefinition[]): string {
  const sorted = catalogue.toSorted((one, other) => one.status - other.status || one.code.localeCompare(other.code));
  const rows = sorted.map(({ code, status, meaning }) => `| \`${code}\` | ${status} | ${meaning} |`);
  return ["| code | status | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}
