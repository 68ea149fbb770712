import { resolve } from "node:path";
import { devDependencies } from "../../../package.json";
import { FixedContent } from "../../http/response/fixed-content.ts";
import type { StaticFile } from "../../http/response/web-content.ts";

/** By path, because the package does not export it. It becomes part of a built program. Loaded late: it may be missing. */
const importBundle = () =>
  import("../../../node_modules/@scalar/api-reference/dist/browser/standalone.js", { with: { type: "file" } });

/** The script of the reference page. Its name contains its version, so browsers can cache it forever. */
export const referenceBundle: StaticFile & { readonly name: string } = {
  name: `reference-${devDependencies["@scalar/api-reference"]}.js`,
  type: "text/javascript; charset=utf-8",
  headers: { "Cache-Control": "public, max-age=31536000, immutable" },
  // In a built script, the path is relative to that script.
  fixed: new FixedContent(async () => Bun.file(resolve(import.meta.dir, (await importBundle()).default)).bytes()),
};
