import type { Caller } from "../../contract/caller.ts";

/** The actor for a key that readers of the shop's log must not see. */
export const UNNAMED_KEY = "key";

/** Who makes a change, and the shop that changes. */
export interface Author {
  readonly shop: number;
  /** The id of a key, `UNNAMED_KEY`, `system` or `operator`. */
  readonly actor: string;
  /** The request that makes the change, if there is one. */
  readonly requestId: string | null;
}

/** The key of a request, as the author of its changes. */
export function authorOf({ shop, keyId }: Caller, requestId: string): Author {
  return { shop, actor: keyId, requestId };
}

/** The service itself, as the author of the changes of background tasks. */
export function system(shop: number): Author {
  return { shop, actor: "system", requestId: null };
}

/** The operator, as the author of the changes of a command. */
export function operator(shop: number): Author {
  return { shop, actor: "operator", requestId: null };
}
