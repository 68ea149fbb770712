import type { Operation } from "../../src/contract/operation.ts";
import { exactJson } from "../../src/contract/serialize.ts";

/* oxlint-disable typescript/no-explicit-any -- the document has any shape that JSON has */

const HEADERS_OF_ALL = /^X-/;
const CHECKED = /^(?:type|enum|required|minimum|maximum|minLength|maxLength|minItems|maxItems)$/;

/** How many parameters a path has, and one. */
const parameters = ({ path }: { readonly path: string }) => path.split("*").length;

/** The responses of the document as a module of the client, for its fake service. It is not formatted. */
export function deriveExamples(operations: readonly Operation[], document: any): string {
  const resolve = ({ $ref, ...part }: any): any =>
    $ref
      ? resolve(
          $ref
            .split("/")
            .slice(1)
            .reduce((node: any, token: string) => node[token], document),
        )
      : part;

  /** The headers that a response always has, with their examples. */
  const headersOf = (response: any, isOfAll = false) =>
    Object.fromEntries(
      Object.entries<any>(response.headers).flatMap(([name, header]) => {
        const { required, example } = resolve(header);
        return required && HEADERS_OF_ALL.test(name) === isOfAll ? [[name, String(example)]] : [];
      }),
    );

  /** What the fake service checks of a body. */
  const checked = (schema: any): any => {
    const { properties, items, additionalProperties: others, ...rest } = resolve(schema);
    const kept = Object.entries(rest).filter(([name]) => CHECKED.test(name));
    return {
      ...Object.fromEntries(kept),
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, checked(one)])),
      }),
      ...(items && { items: checked(items) }),
      ...(others !== undefined && { additionalProperties: typeof others === "object" ? checked(others) : others }),
    };
  };

  const responses = operations.map(({ name, method, path, response: { status, location, examples } }) => {
    const success = resolve(document.paths[path][method.toLowerCase()].responses[status]);
    const [type, content] = Object.entries<any>(success.content ?? {})[0] ?? [];
    const [example] = Object.values(examples ?? {}) as any[];
    const address = location?.replaceAll(/\{([^}]*)\}/g, (_, field: string) => String(example[field]));
    const headers = {
      ...headersOf(success),
      ...(type && { "Content-Type": type }),
      ...(location && { Location: document.servers[0].url + address }),
    };
    const template = path.replaceAll(/\{\w+\}/g, "*");
    const { content: bodies, required } = document.paths[path][method.toLowerCase()].requestBody ?? {};
    const input = bodies && { isRequired: required === true, schema: checked(bodies["application/json"].schema) };
    return [name, { method, path: template, status, headers, body: content && exactJson(example), input }] as const;
  });
  // Of several that fit an address, the one with the fewest parameters comes first.
  const successes = Object.fromEntries(responses.toSorted(([, a], [, b]) => parameters(a) - parameters(b)));

  // Errors of deprecated operations warn of the end of these, so they come last.
  const calls = Object.values<any>(document.paths)
    .flatMap((path) => Object.values<any>(path))
    .toSorted((one, other) => Number(one.deprecated ?? false) - Number(other.deprecated ?? false));
  const all = calls.flatMap((call) => Object.entries<any>(call.responses ?? {}));
  const failures: Record<string, unknown> = {};
  for (const [status, reference] of all) {
    const response = resolve(reference);
    if (Number(status) < 400) continue;
    for (const [code, example] of Object.entries<any>(response.content["application/json"].examples)) {
      const headers = { ...headersOf(response), "Content-Type": "application/json" };
      failures[code] ??= { status: Number(status), headers, body: exactJson(resolve(example).value) };
    }
  }
  const [, first] = all[0] as [string, any];
  return `
import type { BodySchema } from "./check-body.ts";

/** A response of the service, as its documentation shows it. */
export interface Example {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The headers of every response. */
export const headersOfAll: Readonly<Record<string, string>> = ${JSON.stringify(headersOf(resolve(first), true))};

/** The success of each operation. In a path, \`*\` is a parameter. */
export const successes: Readonly<Record<string, Example & { readonly method: string; readonly path: string; readonly input?: { readonly isRequired: boolean; readonly schema: BodySchema } }>> = ${JSON.stringify(successes)};

/** The error of each code. */
export const failures: Readonly<Record<string, Example>> = ${JSON.stringify(failures)};
`;
}
