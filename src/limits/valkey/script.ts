import { createHash } from "node:crypto";

/** A Lua script, with the SHA-1 digest by which servers cache it. */
export interface Script {
  readonly lua: string;
  readonly digest: string;
}

export function script(lua: string): Script {
  return { lua, digest: createHash("sha1").update(lua).digest("hex") };
}
