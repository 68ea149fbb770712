import { createHash } from "node:crypto";

/** A script, and the digest that a server knows it by. */
export interface Script {
  readonly lua: string;
  readonly digest: string;
}

export function script(lua: string): Script {
  return { lua, digest: createHash("sha1").update(lua).digest("hex") };
}
