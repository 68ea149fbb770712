import { clientSources, clientTypes, isBuilt } from "./built.ts";

const ENTRY = "/src/index.ts";
/** For tests of other programs. That for msw needs msw. */
const TESTING = ["/src/testing.ts", "/src/msw.ts"];
/** The size of a block of a tar archive, in bytes. */
const BLOCK = 512;
/** The time of each file, as npm sets it: 1985-10-26T08:15:00Z. */
const FILE_TIME = 499_162_500;

/** The files of the client, by path. */
async function sourcesOf(): Promise<Record<string, string>> {
  return isBuilt ? (await import("./embedded.ts")).embeddedClient : clientSources();
}

/** The client as one module, for browsers. */
export async function clientModule(isMinified: boolean): Promise<string> {
  const { outputs } = await build({ minify: isMinified });
  return nameFiles(await (outputs[0] as Blob).text());
}

/** What is built of the package, by path: type declarations, modules and their source maps. */
export async function builtFiles(): Promise<[string, string][]> {
  const types = isBuilt ? (await import("./embedded.ts")).embeddedTypes : clientTypes();
  const { outputs } = await build({ sourcemap: "linked", external: ["msw"] }, [ENTRY, ...TESTING]);
  const modules = outputs.map(
    async (output) => [`dist/${output.path.replace(/^.*\//, "")}`, nameFiles(await output.text())] as [string, string],
  );
  return [...Object.entries(await types), ...(await Promise.all(modules))];
}

async function build(options: Pick<Bun.BuildConfig, "minify" | "sourcemap" | "external">, entrypoints = [ENTRY]) {
  const files = Object.entries(await sourcesOf()).filter(([path]) => path.startsWith("src/"));
  const inMemory = Object.fromEntries(files.map(([path, text]) => [`/${path}`, text]));
  return Bun.build({ entrypoints, files: inMemory, ...options });
}

/** Bun names each file by its path from the current folder, on which its debug id depends: here, by that from the package's. */
function nameFiles(text: string): string {
  return text
    .replace(/^\/\/ (?:\.\.\/)+/gm, "// ")
    .replaceAll(/"(?:\.\.\/)*src\//g, '"../src/') // none in the folder /
    .replace(/"debugId": "\w+",\s*|^\/\/# debugId=\w+\n/m, "");
}

/**
 * The package of the client. Its bytes depend on the sources alone, because npm keeps their checksum: with another one
 * for the same version, `npm ci` fails. So not `Bun.Archive`, which writes the time.
 */
export async function clientPackage(): Promise<Uint8Array<ArrayBuffer>> {
  const others = Object.entries(await sourcesOf()).filter(([path]) => !path.startsWith("src/"));
  const files: [string, string][] = [...others, ...(await builtFiles())];
  const entries = files.flatMap(([path, text]) => tarEntry(`package/${path}`, Buffer.from(text)));
  const archive = Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]);
  return Bun.gzipSync(archive, { library: "libdeflate", level: 9 });
}

/** A file of a tar archive in the POSIX format (ustar), with a path of at most 100 bytes. */
function tarEntry(path: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, "0"), at);
  header.write(path, 0);
  octal(0o644, 100, 7);
  octal(0, 108, 7); // owner
  octal(0, 116, 7); // group
  octal(content.length, 124, 11);
  octal(FILE_TIME, 136, 11);
  header.write("        0", 148); // spaces in place of the checksum, then the type of a plain file
  header.write("ustar\x0000", 257);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  octal(checksum, 148, 6);
  header.write("\0 ", 154);
  return [header, content, Buffer.alloc(-content.length & (BLOCK - 1))];
}
