import { didYouMean, shown, suggest } from "../../contract/messages.ts";
import type { Operation } from "../../contract/operation.ts";

/** A longer path is compared with none: the work for a request stays small. */
const MAX_LENGTH = 200;

/** Says which path or method a request may mean, if it has one that is not served. */
export class PathAdvice {
  readonly #basePath: string;
  readonly #operations: readonly Operation[];
  /** The served paths, by what is compared of them. */
  readonly #served: ReadonlyMap<string, string>;

  /** `basePath` is the path of the base address; `others` are paths outside it. */
  constructor(basePath: string, operations: readonly Operation[], others: Iterable<string>) {
    this.#basePath = basePath;
    this.#operations = operations;
    const served = operations.map(({ path }) => [comparable(path), basePath + path] as const);
    this.#served = new Map([...served, ...[...others].map((path) => [comparable(path), path] as const)]);
  }

  /** The message for a request whose path is not served. */
  ofUnknown({ url }: Request): string {
    // Requests of HTTP/1.0 without Host have no absolute URL.
    const path = url.replace(/^[a-z]+:\/\/[^/]*/i, "").replace(/[?#].*$/s, "");
    const meant = path.length > MAX_LENGTH ? undefined : this.#nearest(decoded(path));
    // The URL has lost its dot segments; routes match the path as it was sent.
    if (meant === decoded(path)) return `Send the path as ${shown(meant)}: without escapes, "." and ".." as segments.`;
    return `There is nothing at ${shown(path)}.${didYouMean(meant)}`;
  }

  /** The message for a request whose path does not support its method. `at` is one of the operations of the path. */
  ofMethod(method: string, allow: string, at: Operation | undefined): string {
    const near = this.#operations.find(
      (one) => one.method === method && at && (isItemOf(one.path, at.path) || isItemOf(at.path, one.path)),
    );
    const elsewhere = near ? ` ${method} works at ${this.#basePath}${near.path}.` : "";
    return `This path does not support ${method}. It supports ${allow}.${elsewhere}`;
  }

  /** The same path in another form, one that this is a part of, or one that is mistyped; or that of its beginning. */
  #nearest(path: string): string | undefined {
    const below = path.startsWith(`${this.#basePath}/`) ? path.slice(this.#basePath.length) : path;
    const given = below.replace(/^(?:\/+(?:api|v[0-9]+)(?=\/|$))+/i, "").replaceAll(/[^/]*[0-9][^/]*/g, "{}");
    const known = [...this.#served.keys()];
    for (let part = comparable(given); part !== ""; part = part.slice(0, part.lastIndexOf("/"))) {
      const isNear = (one: string) => one.startsWith(`${part}/`) || one.endsWith(part);
      const meant = this.#served.get(part) ?? this.#served.get(known.find(isNear) ?? suggest(part, known) ?? "");
      if (meant !== undefined) return meant;
    }
    return undefined;
  }
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
