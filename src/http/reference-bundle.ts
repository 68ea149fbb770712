import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Page } from "./pages.ts";

const main = import.meta.resolve("@scalar/api-reference"); // …/dist/index.js
const { version } = JSON.parse(readFileSync(new URL("../package.json", main), "utf8")) as { version: string };

let compressed: Promise<Blob> | undefined;

/** Compresses the bundle on another thread, once: four megabytes become one. */
async function compress(): Promise<Blob> {
  const bundle = await Bun.file(new URL("./browser/standalone.js", main)).bytes();
  return new Blob([await promisify(gzip)(bundle)]);
}

/** The bundle of the reference page. Its name changes with its version, so that browsers may keep it for ever. */
export const referenceBundle: Page & { readonly name: string } = {
  name: `reference-${version}.js`,
  type: "text/javascript; charset=utf-8",
  // Sent compressed to everybody: every browser takes gzip, and nobody else asks for it.
  headers: { "Cache-Control": "public, max-age=31536000, immutable", "Content-Encoding": "gzip" },
  content: async () => ({ body: await (compressed ??= compress()) }),
};
