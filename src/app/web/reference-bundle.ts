// Imported by path, because the package exports neither file. Both become parts of the one-file executable.

import { resolve } from "node:path";
import bundle from "../../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { version } from "../../../node_modules/@scalar/api-reference/package.json";
import { FixedContent } from "../../http/response/fixed-content.ts";
import type { StaticFile } from "../../http/response/web-content.ts";

/** The script of the reference page. Its name contains its version, so browsers can cache it forever. */
export const referenceBundle: StaticFile & { readonly name: string } = {
  name: `reference-${version}.js`,
  type: "text/javascript; charset=utf-8",
  headers: { "Cache-Control": "public, max-age=31536000, immutable" },
  // In a built script, the path is relative to that script.
  fixed: new FixedContent(() => Bun.file(resolve(import.meta.dir, bundle)).bytes()),
};
