import type { Caller } from "../../src/contract/caller.ts";
import type { BoundRead, Input, Paged } from "../../src/contract/handler.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { isInt64 } from "../../src/contract/schemas.ts";
import type { OpenStorage } from "../../src/storage/storage.ts";
import { rounds } from "./test-length.ts";

/** A page of a list, by the operation, its path and query, and where it starts. */
export interface PageRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly after: unknown;
}

/** Values of the parameters of a list. */
interface Samples {
  /** Of path and query parameters that are identifiers. */
  readonly ids: readonly bigint[];
  /** Where pages of a list by identifiers start, besides at its beginning. */
  readonly positions: readonly bigint[];
  /** Of query parameters that are times. */
  readonly times: readonly string[];
}

type Schema = {
  readonly format?: string;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: object;
} & object;

/** Values for a parameter, as its schema has them. Throws for a kind of parameter that has none here. */
function valuesFor(name: string, schema: Schema, samples: Samples): readonly unknown[] {
  if (schema.enum) return schema.enum;
  if (isInt64(schema)) return samples.ids;
  if (schema.format === "date-time") return samples.times;
  if (schema.examples) return [...schema.examples, "no row has this"];
  if (name === "search") return ["", "Re", "117", "no row has this"];
  if (schema.items) return [valuesFor(name, schema.items, samples)];
  if (schema.default !== undefined) return [schema.default];
  throw new Error(`The parameter ${name} needs values here, so that its pages can be read.`);
}

/** All ways to choose one value of each list. */
function choices(lists: readonly (readonly [string, readonly unknown[]])[]): Record<string, unknown>[] {
  return lists.reduce<Record<string, unknown>[]>(
    (chosen, [name, values]) =>
      chosen.flatMap((one) => values.map((value) => (value === undefined ? one : { ...one, [name]: value }))),
    [{}],
  );
}

function parametersOf(object: { readonly properties: object } | undefined): [string, Schema][] {
  const parameters = Object.entries((object?.properties ?? {}) as Record<string, Schema>);
  return parameters.filter(([name]) => name !== "cursor");
}

/** The most filters in one request, besides requests with all filters. */
const MAX_FILTERS = rounds(2, 3);

/** All kinds of requests for a paged list: without filters, with a few, with all of them, and in each order. */
function requestsFor({ params, query }: Operation, samples: Samples): Omit<PageRequest, "after">[] {
  const paths = parametersOf(params?.schema).map(([name, schema]) => [name, valuesFor(name, schema, samples)] as const);
  const queries = parametersOf(query).map(([name, schema]) => {
    const values = valuesFor(name, schema, samples);
    return [name, schema.default === undefined ? [undefined, ...values] : values] as const;
  });
  const defaults = queries.filter(([, values]) => values[0] !== undefined).length;
  const few = choices(queries).filter((one) => Object.keys(one).length <= defaults + MAX_FILTERS);
  // Each value of each parameter, but not in all combinations: they would be thousands.
  const most = Math.max(...queries.map(([, values]) => values.length));
  const all = Array.from({ length: most }, (_, index) =>
    Object.fromEntries(
      queries.map(([name, values]) => {
        const given = values.filter((value) => value !== undefined);
        return [name, given[index % given.length]];
      }),
    ),
  );
  const chosen = queries.length > defaults + MAX_FILTERS ? [...few, ...all] : few;
  return choices(paths).flatMap((path) => chosen.map((one) => ({ params: path, query: one })));
}

/**
 * Reads pages of a list in all ways that its contract allows: at its start, the next two pages, and deep in the list.
 * Calls `page` after each page. Returns the number of items on them.
 */
export async function walkPages(
  storage: OpenStorage,
  { operation, read }: BoundRead,
  caller: Caller,
  samples: Samples,
  page: (request: PageRequest) => Promise<void>,
): Promise<number> {
  let items = 0;
  for (const request of requestsFor(operation, samples)) {
    const ask = async (after: unknown): Promise<unknown> => {
      const outcome = await storage.read(read({ ...request, after, body: undefined, caller } as unknown as Input));
      if ("error" in outcome) return undefined;
      await page({ ...request, after });
      items += ((outcome as Paged).items as unknown[]).length;
      return (outcome as Paged).next;
    };
    let next = await ask(undefined);
    for (let turned = 0; turned < 2 && next !== undefined; turned++) next = await ask(next);
    if (isInt64(operation.paged?.position as never)) for (const position of samples.positions) await ask(position);
    // Its positions are texts, because it has lists by name, too.
    else if (operation.name === "listPets") for (const position of samples.positions) await ask(String(position));
  }
  return items;
}
