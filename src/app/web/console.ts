import { FixedContent } from "../../http/response/fixed-content.ts";
import type { StaticFile, WebContent } from "../../http/response/web-content.ts";
import { buildConsole } from "./build-console.ts";
import { arePagesMissing, isBuilt, missingPage } from "./built.ts";

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The console may load only its own files and call only its own service. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** The files of the console, by name, each compressed once. */
type Files = ReadonlyMap<string, StaticFile>;

/**
 * The web console. It is built in the background or on its first request, so that the start does not wait for it. `root` is
 * the path above the base address. `protection` has headers for pages into which users type keys.
 */
export function webConsole(root: string, protection: Readonly<Record<string, string>>) {
  const pageContent = new FixedContent(async () => pageOf(root, [...(await allFiles()).keys()]));
  const headers = { "Content-Security-Policy": policy, ...protection };
  const page: WebContent = arePagesMissing
    ? missingPage
    : { type: "text/html; charset=utf-8", headers, fixed: pageContent };
  // The page is the same at all addresses of the console: its script reads the address.
  const content: [string, WebContent][] = [
    [`${root}/console`, page],
    [`${root}/console/*`, page],
    [`${root}/console/assets/*`, { named: async (name) => (await allFiles()).get(name) }],
  ];
  /** Builds and compresses everything before the first request. */
  const prepare = async (): Promise<void> => {
    if (arePagesMissing) return;
    const fixed = [...(await allFiles()).values()].map((file) => file.fixed);
    for (const one of [pageContent, ...fixed]) await one.prepare();
  };
  return { content, prepare };
}

let files: Promise<Files> | undefined;

/** The files are the same for all services of a process. A failed build is tried again on the next call. */
function allFiles(): Promise<Files> {
  return (files ??= build().catch((error: unknown) => {
    files = undefined;
    throw error;
  }));
}

/** Builds the console from its sources, or takes the files that a built program contains. */
async function build(): Promise<Files> {
  const made = isBuilt ? (await import("./embedded.ts")).embeddedConsole : await buildConsole();
  return new Map(made.map(({ name, text }) => [name, fileOf(name, text)]));
}

function fileOf(name: string, text: string): StaticFile {
  return {
    type: types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    headers: { "Cache-Control": "public, max-age=31536000, immutable" }, // its name changes with its content
    fixed: new FixedContent(() => text),
  };
}

function pageOf(root: string, names: readonly string[]): string {
  const file = (extension: string) => `${root}/console/assets/${names.find((name) => name.endsWith(extension))}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Petstore</title>
<link rel="icon" href="${file(".svg")}">
<link rel="stylesheet" href="${file(".css")}">
<script type="module" src="${file(".js")}"></script>
</head>
<body>
<noscript>The console needs JavaScript. The API can do the same: ${root}/docs describes it.</noscript>
<div id="console"><p class="starting">Signing in…</p></div>
</body>
</html>
`;
}
