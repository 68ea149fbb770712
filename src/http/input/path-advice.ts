import { didYouMean, listed, shown, suggest } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";
import { actionsOf } from "../../contract/operation-properties.ts";

/** A longer path is compared with none: the work for a request stays small. */
const MAX_LENGTH = 200;

export type PathAdvice = ReturnType<typeof pathAdvice>;

/**
 * Returns what says which path or method a request may mean, if it has one that is not served. `basePath` is the path of the
 * base address; `others` are paths outside it, each with the names that it has at other services. `docs` is the one that
 * lists all operations.
 */
export function pathAdvice(
  basePath: string,
  operations: readonly Operation[],
  others: ReadonlyMap<string, readonly string[]>,
  docs: string,
) {
  const inside = operations.map(({ path }) => [comparable(path), basePath + path] as const);
  const outside = [...others].flatMap(([path, names]) =>
    [path, ...names].map((one) => [comparable(one), path] as const),
  );
  /** The served paths, by what is compared of them. */
  const served = new Map([...outside, ...inside]);
  const inPaths = new Set(operations.flatMap(({ path }) => path.split("/")));
  const words = operations
    .toReversed()
    .flatMap((one) => [one.tag.name, ...(one.aliases ?? [])].map((word) => [word, one] as const));
  /** Operations by words that are in no served path: their aliases, and the tag's name for its first one. */
  const byWord = new Map(words.filter(([word]) => !inPaths.has(word)));

  /** The message for a request whose path is not served. */
  function ofUnknown({ url }: Request): string {
    // Requests of HTTP/1.0 without Host have no absolute URL.
    const path = url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/[?#].*$/s, "");
    if (path.replace(/\/$/, "") === basePath)
      return `This is the base address. Operations follow it, such as ${described(operations[0])}. ${docs} lists all.`;
    const meant = path.length > MAX_LENGTH ? undefined : nearest(decoded(path));
    // The URL has lost its dot segments; routes match the path as it was sent.
    if (meant === decoded(path)) return `Send the path as ${shown(meant)}: without escapes, "." and ".." as segments.`;
    const all = meant === docs ? "" : ` ${docs} lists all operations.`;
    return `There is nothing at ${shown(path)}.${didYouMean(meant)}${all}`;
  }

  /** The message for a request whose path does not support its method. `at` is one of the operations of the path. */
  function ofMethod(method: string, allow: string, at: Operation): string {
    const near = operations.find(
      (one) => one.method === method && (isItemOf(one.path, at.path) || isItemOf(at.path, one.path)),
    );
    const elsewhere = near ? ` ${method} works at ${basePath}${near.path}.` : "";
    const below = near ? [] : actionsOf(at.path, operations);
    const actions = below.length > 0 ? ` POST works at ${listed(below.map(({ path }) => basePath + path))}.` : "";
    const patch = method === "PUT" && allow.includes("PATCH") ? " PATCH changes the fields that you send." : "";
    return `This path does not support ${method}. It supports ${allow}.${patch}${elsewhere}${actions}`;
  }

  /** The path that is probably meant; an operation that is found by a word is shown with its method. */
  function nearest(path: string): string | undefined {
    const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
    const given = comparable(
      below.replace(/^(?:\/+(?:api|rest|v[0-9]+)(?=\/|$))+/i, "").replaceAll(/[^/]*[0-9][^/]*/g, "{}"),
    );
    return served.get(given) ?? filtered(given) ?? byWords(given) ?? partOf(given);
  }

  /** A list with the filter for one item of another: `/events?petId={petId}` for `/pets/7/events`. */
  function filtered(given: string): string | undefined {
    const [, item, last = ""] = /^(.*\/\{\})\/([^/]+)$/.exec(given) ?? [];
    const [, parameter = ""] = /\{(\w+)\}$/.exec(served.get(item ?? "") ?? "") ?? [];
    const other = byWord.get(last);
    const known = other?.method === "GET" ? other.path : `/${last}`;
    const list = operations.find(
      ({ method, path, query }) =>
        method === "GET" && !path.includes("{") && path.endsWith(known) && parameter in (query?.properties ?? {}),
    );
    return list && `GET ${basePath}${list.path}?${parameter}={${parameter}}`;
  }

  /** The operation that one of the segments is another word for, the last one first; or its path with what follows. */
  function byWords(given: string): string | undefined {
    const segments = given.split("/");
    for (let at = segments.length - 1; at > 0; at--) {
      const segment = segments[at] ?? "";
      const operation = byWord.get(segment) ?? byWord.get(`${segment}s`);
      if (!operation) continue;
      const rest = segments.slice(at + 1);
      const longer = rest.length > 0 && served.get([comparable(operation.path), ...rest].join("/"));
      return longer || described(operation);
    }
    return undefined;
  }

  /** The same path in another form, one that this is a part of, or one that is mistyped; or that of its beginning. */
  function partOf(given: string): string | undefined {
    const known = [...served.keys()];
    for (let part = given; part !== ""; part = part.slice(0, part.lastIndexOf("/"))) {
      const isNear = (one: string) => one.startsWith(`${part}/`) || one.endsWith(part) || one.endsWith(`${part}s`);
      const meant = served.get(part) ?? served.get(known.find(isNear) ?? suggest(part, known) ?? "");
      if (meant !== undefined) return meant;
    }
    return undefined;
  }

  function described(operation: Operation | undefined): string | undefined {
    return operation && `${operation.method} ${basePath}${operation.path} (${operation.summary})`;
  }

  return { ofUnknown, ofMethod };
}

/** What is compared of a path: not its case, hyphens, double or final slashes, and the names of its parameters. */
function comparable(path: string): string {
  const plain = path
    .toLowerCase()
    .replaceAll(/[_-]/g, "")
    .replaceAll(/\{[^}]*\}/g, "{}");
  return plain.replaceAll(/\/+/g, "/").replace(/(?<=.)\/$/, "");
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** True for the path of an item of a list: `/pets/{petId}` of `/pets`. */
function isItemOf(item: string, list: string): boolean {
  return item.startsWith(`${list}/{`) && !item.slice(list.length + 1).includes("/");
}
