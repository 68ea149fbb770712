import { isDeepStrictEqual } from "node:util";
import { ErrorBody, type ErrorDefinition, retiredCodes } from "./errors.ts";
import type { Operation } from "./operation.ts";
import { operationFaults, repeated } from "./operation-faults.ts";
import { errorCatalogue } from "./operation-properties.ts";
import { LOCAL_DESCRIPTION } from "./schemas.ts";

/** A contract that cannot be served. `faults` lists all that is wrong with it, not just the first. */
export class ContractError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The contract has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
    this.name = "ContractError";
    this.faults = faults;
  }
}

/** All faults of a list of operations, each as a text that names where it is. Checked at build time or startup. */
export function contractFaults(operations: readonly Operation[]): string[] {
  return [
    ...repeated(operations.map((operation) => operation.name)).map(
      (name) => `${name}: two operations have this name; rename one.`,
    ),
    ...repeated(operations.map(routeKey)).map((route) => {
      const names = operations.filter((operation) => routeKey(operation) === route).map(({ name }) => name);
      return `${route}: ${names.join(" and ")} have this method and path; change one.`;
    }),
    ...pathFaults(operations),
    ...errorFaults(errorCatalogue(operations)),
    ...schemaFaults(operations),
    ...tagFaults(operations),
    ...operations.flatMap((operation) =>
      operationFaults(operation, operations).map((fault) => `${operation.name}: ${fault}`),
    ),
  ];
}

/** Two paths that differ in the names of their parameters only are the same route. */
function routeKey({ method, path }: Operation): string {
  return `${method} ${withoutNames(path)}`;
}

function withoutNames(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, "{}");
}

/** The operations of a route need one path: the router and the document have one entry for each path. */
function pathFaults(operations: readonly Operation[]): string[] {
  const paths = new Set(operations.map(({ path }) => path));
  return [...Map.groupBy(paths, withoutNames).values()]
    .filter((same) => same.length > 1)
    .map((same) => `${same.join(" and ")} differ only in the names of their parameters; use the same names.`);
}

function errorFaults(catalogue: readonly ErrorDefinition[]): string[] {
  return [
    ...repeated(catalogue.map((error) => error.code)).map(
      (code) => `${code}: two errors have this code; define it once and import it, or rename one.`,
    ),
    ...catalogue.flatMap(({ code, status, meaning }) => [
      ...(/^[a-z]+(_[a-z]+)*$/.test(code)
        ? []
        : [`${code}: an error code is written in snake_case, like pet_not_found.`]),
      ...(Number.isInteger(status) && status >= 400 && status <= 599
        ? []
        : [`${code}: ${status} is not the status of an error; use 400 to 599.`]),
      ...(meaning.trim() ? [] : [`${code}: the error has no meaning; write one sentence.`]),
      ...(retiredCodes.includes(code)
        ? [`${code}: the code is retired and cannot be used again; choose another.`]
        : []),
    ]),
  ];
}

/** Schemas with a title become named components of the document: one title, one schema. */
function schemaFaults(operations: readonly Operation[]): string[] {
  const byTitle = new Map<string, object>();
  const ambiguous = new Set<string>();
  const visit = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { title } = schema as { title?: unknown };
    if (typeof title === "string") {
      // The description of one place of use may differ.
      const { [LOCAL_DESCRIPTION]: _, ...general } = schema as Record<string, unknown>;
      if (!isDeepStrictEqual(byTitle.get(title) ?? general, general)) ambiguous.add(title);
      byTitle.set(title, general);
    }
    for (const part of Object.values(schema)) visit(part);
  };
  visit(ErrorBody);
  for (const operation of operations) {
    const { params, query, body, sends, ifMatch, response } = operation;
    for (const schema of [params?.schema, query, body?.schema, sends?.schema, ifMatch, response.schema]) visit(schema);
  }
  return [...ambiguous].map((title) => `${title}: two different schemas have this title; rename one.`);
}

/** Each tag must have one description. */
function tagFaults(operations: readonly Operation[]): string[] {
  const names = new Map(operations.map(({ tag }) => [`${tag.name}\n${tag.description}`, tag.name])).values();
  return repeated([...names]).map(
    (name) => `${name}: two different tags have this name; share one value, or rename one.`,
  );
}
