import { resolve } from "node:path";
import { devDependencies } from "../../../package.json";
import type { Config } from "../../config.ts";
import type { Operation } from "../../contract/operation.ts";
import { exactJson } from "../../contract/serialize.ts";
import { deriveLlmsText } from "../../derive/markdown.ts";
import { type DocumentedServer, deriveOpenApi, openApiYaml } from "../../derive/openapi.ts";
import { deriveReferencePage, deriveReferenceStart } from "../../derive/reference-page.ts";
import { FixedContent, type MakeContent } from "../../http/response/fixed-content.ts";
import type { StaticFile, WebContent } from "../../http/response/web-content.ts";
import { docsAddress, rootOf } from "./base-address.ts";
import { arePagesMissing, missingPage } from "./built.ts";
import { clientModule, clientPackage } from "./client-package.ts";

/** The OpenAPI document for these settings; `base` is the base address that this process serves. */
export function openApiDocument(operations: readonly Operation[], config: Config, base: string) {
  return deriveOpenApi(operations, { servers: documentedServers(config, base), docs: docsAddress(base) });
}

function documentedServers(config: Config, base: string): [DocumentedServer, ...DocumentedServer[]] {
  const servers: [DocumentedServer, ...DocumentedServer[]] = [{ url: base, description: config.environment }];
  if (config.baseUrl && config.baseUrl !== base) servers.push({ url: config.baseUrl, description: "production" });
  if (config.stagingBaseUrl && config.stagingBaseUrl !== base) {
    servers.push({ url: config.stagingBaseUrl, description: "staging" });
  }
  return servers;
}

/**
 * What the reference page may load: scripts of its own service, and responses of the servers that it documents. Its
 * script creates inline styles, which a policy cannot distinguish from injected ones. The sandbox gives the page an origin
 * that no other page has, so its script, which others have written, cannot reach the console's tabs and keys.
 */
function pagePolicy(servers: readonly DocumentedServer[]): string {
  const origins = servers.map(({ url }) => new URL(url).origin).join(" ");
  return (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; worker-src 'none'; " +
    `connect-src 'self' ${origins}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ` +
    "sandbox allow-scripts allow-forms allow-downloads allow-popups allow-popups-to-escape-sandbox"
  );
}

/** Headers that protect a page from other sites, because users type keys into it. */
export const pageProtection = {
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY", // for browsers that do not know frame-ancestors
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), usb=()",
};

/** A file that is made on its first request, so that the start does not wait for it. */
function staticFile(type: string, make: MakeContent, headers = {}): WebContent {
  return { type, headers, fixed: new FixedContent(make) };
}

/** The address of the catalogue of APIs, below the host (RFC 8615). */
const CATALOG = "/.well-known/api-catalog";

/** The `Link` header of pages where a client starts: it links to the documents. `root` is the path above the base address. */
export function startingLinks(root: string): string {
  return [
    `<${root}/openapi.json>; rel="service-desc"; type="application/json"`,
    `<${root}/docs>; rel="service-doc"; type="text/html"`,
    `<${CATALOG}>; rel="api-catalog"`,
  ].join(", ");
}

/**
 * What is derived from the operations: the document, the reference page, `llms.txt`, the client and the catalogue. `root`
 * is the path above the base address.
 */
export function documentContent(
  operations: readonly Operation[],
  config: Config,
  base: string,
  root: string,
): [string, WebContent][] {
  let derived: ReturnType<typeof openApiDocument> | undefined;
  const document = () => (derived ??= openApiDocument(operations, config, base));
  const bundle = `${root}/docs/${referenceBundle.name}`;
  const start = `${root}/docs/start.js`;
  const cors = { "Access-Control-Allow-Origin": "*" };
  const servers = documentedServers(config, base);
  const policy = { "Content-Security-Policy": pagePolicy(servers), ...pageProtection };
  const addresses = { base, docs: docsAddress(base), document: `${rootOf(base)}/openapi.json` };
  const llmsText = () => deriveLlmsText(operations, addresses);
  const json = `${root}/openapi.json`;
  // The root redirects browsers: in development to the console, elsewhere to the reference page.
  const entrance: WebContent = {
    type: "text/plain",
    headers: {
      Location: `${root}/${config.environment === "development" ? "console" : "docs"}`,
      Link: startingLinks(root),
    },
    content: () => ({ body: "", status: 302 }),
  };
  const referencePage = staticFile("text/html; charset=utf-8", () => deriveReferencePage(bundle, start), policy);
  return [
    [json, staticFile("application/json", () => exactJson(document()), cors)],
    [`${root}/openapi.yaml`, staticFile("application/yaml", () => openApiYaml(document()), cors)],
    [`${root}/llms.txt`, staticFile("text/plain; charset=utf-8", llmsText, cors)],
    ...[...new Set([root || "/", `${root}/`])].map((path): [string, WebContent] => [path, entrance]),
    [`${root}/docs`, arePagesMissing ? missingPage : referencePage],
    [start, staticFile("text/javascript; charset=utf-8", () => deriveReferenceStart(operations, json))],
    [bundle, referenceBundle],
    [`${root}/client.js`, staticFile("text/javascript; charset=utf-8", () => clientModule(true), cors)],
    [`${root}/client.tgz`, arePagesMissing ? missingPage : staticFile("application/gzip", clientPackage, cors)],
    [CATALOG, apiCatalog(servers.map(({ url }) => url))],
  ];
}

/** A catalogue of the APIs at these base addresses, that of this process first: a linkset (RFC 9264) for RFC 9727. */
function apiCatalog(bases: readonly string[]): WebContent {
  const items = bases.map((base) => `<${base}>; rel="item"`);
  const catalog = new URL(CATALOG, bases[0]).href;
  const headers = {
    "Access-Control-Allow-Origin": "*",
    Link: [`<${catalog}>; rel="api-catalog"`, ...items].join(", "), // RFC 9727, section 2
  };
  const linkset = bases.map((base) => {
    const root = rootOf(base);
    return {
      anchor: base,
      "service-desc": [
        { href: `${root}/openapi.json`, type: "application/json" },
        { href: `${root}/openapi.yaml`, type: "application/yaml" },
      ],
      "service-doc": [
        { href: `${root}/docs`, type: "text/html" },
        { href: `${root}/llms.txt`, type: "text/plain" },
      ],
    };
  });
  const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
  return staticFile(type, () => JSON.stringify({ linkset }), headers);
}

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
