import { clientSources } from "./client-sources.ts" with { type: "macro" };

const sources = clientSources();
const ENTRY = "/src/index.ts";

/** The client as one module. */
export async function clientModule(isMinified: boolean): Promise<string> {
  const files = Object.entries(sources).filter(([path]) => path.startsWith("src/"));
  const { outputs } = await Bun.build({
    entrypoints: [ENTRY],
    files: Object.fromEntries(files.map(([path, text]) => [`/${path}`, text])),
    minify: isMinified,
  });
  return (outputs[0] as Blob).text();
}

/** The package of the client, as `npm pack` makes it. */
export async function clientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const others = Object.entries(sources).filter(([path]) => !path.startsWith("src/"));
  const files = { ...Object.fromEntries(others), "dist/index.js": await clientModule(false) };
  const inPackage = Object.entries(files).map(([path, content]) => [`package/${path}`, content]);
  return new Bun.Archive(Object.fromEntries(inPackage), { compress: "gzip" }).bytes();
}
