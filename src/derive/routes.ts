import type { Operation } from "../contract/operation.ts";

/** The operations of one path below the base address, by method. */
export interface PathOperations<O extends Operation> {
  /** The path as the router writes it: `/pets/:petId`. */
  readonly pattern: string;
  readonly methods: ReadonlyMap<string, O>;
  /** The value of `Allow` (RFC 9110, section 10.2.1): HEAD comes with GET, OPTIONS with every path. */
  readonly allow: string;
}

/** Groups operations by path. */
export function derivePaths<O extends Operation>(operations: readonly O[]): PathOperations<O>[] {
  const byPattern = Map.groupBy(operations, ({ path }) => path.replaceAll(/\{([^}]*)\}/g, ":$1"));
  return [...byPattern].map(([pattern, group]) => {
    const methods = new Map<string, O>(group.map((operation) => [operation.method, operation]));
    const names = [...methods.keys()].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return { pattern, methods, allow: [...names, "OPTIONS"].join(", ") };
  });
}
