import type { Operation } from "../../src/contract/operation.ts";
import { exactJson } from "../../src/contract/serialize.ts";

/* oxlint-disable typescript/no-explicit-any -- the document has any shape that JSON has */

const HEADERS_OF_ALL = /^X-/;

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
    return [name, { method, path: template, status, headers, body: content && exactJson(example) }] as const;
  });
  // Of several that fit an address, the one with the fewest parameters comes first.
  const successes = Object.fromEntries(responses.toSorted(([, a], [, b]) => parameters(a) - parameters(b)));

  const calls = Object.values<any>(document.paths).flatMap((path) => Object.values<any>(path));
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
/** A response of the service, as its documentation shows it. */
export interface Example {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The headers of every response. */
export const headersOfAll: Readonly<Record<string, string>> = ${JSON.stringify(headersOf(resolve(first), true))};

/** The success of each operation. In a path, \`*\` is a parameter. */
export const successes: Readonly<Record<string, Example & { readonly method: string; readonly path: string }>> = ${JSON.stringify(successes)};

/** The error of each code. */
export const failures: Readonly<Record<string, Example>> = ${JSON.stringify(failures)};
`;
}
