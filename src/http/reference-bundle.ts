import { promisify } from "node:util";
import { gzip } from "node:zlib";
// By path, because the package exports neither file. So named, both become parts of the one-file executable.
import bundle from "../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "file" };
import { version } from "../../node_modules/@scalar/api-reference/package.json";
import type { Page } from "./pages.ts";

let compressed: Promise<Blob> | undefined;

/** Compresses the bundle on another thread, once: four megabytes become one. */
async function compress(): Promise<Blob> {
  return new Blob([await promisify(gzip)(await Bun.file(bundle).bytes())]);
}

/** The bundle of the reference page. Its name changes with its version, so that browsers may keep it for ever. */
export const referenceBundle: Page & { readonly name: string } = {
  name: `reference-${version}.js`,
  type: "text/javascript; charset=utf-8",
  // Sent compressed to everybody: every browser takes gzip, and nobody else asks for it.
  headers: { "Cache-Control": "public, max-age=31536000, immutable", "Content-Encoding": "gzip" },
  content: async () => ({ body: await (compressed ??= compress()) }),
};
