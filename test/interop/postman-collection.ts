import { join } from "node:path";
import { IDEMPOTENCY_KEY } from "../../src/contract/requests.ts";
import { interopFolder } from "../harness/interop-tools.ts";

/* oxlint-disable typescript/no-explicit-any -- collections and reports are what the tools make them */

/** What a request of a collection brought. `summary` is that of its operation. */
export interface Outcome {
  readonly summary: string;
  readonly status: number;
  /** The error code; undefined where there is none. */
  readonly code: string | undefined;
  /** Headers of the response, by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
}

/** What the converter writes where it takes no value from the document: a type. */
export const placeholder = /"<(array|boolean|dateTime|integer|long|number|object|string)>"/;

/** Converts a document, with the converter's default settings or with values from its examples, and returns its requests. */
export async function makeCollection(document: string, file: string, from?: "examples"): Promise<any[]> {
  const command = ["node", tool("openapi-to-postmanv2/bin/openapi2postmanv2.js"), "-s", document, "-o", file];
  if (from) command.push("-O", "parametersResolution=Example");
  // Now and then, the converter ignores the setting.
  for (let attempt = 0; attempt < 5; attempt++) {
    await run(command);
    const collection = await Bun.file(file).json();
    const requests = requestsOf(collection.item);
    setIdempotencyKeys(requests);
    await Bun.write(file, JSON.stringify(collection));
    if (!from || !placeholder.test(JSON.stringify(requests))) return requests;
  }
  throw new Error("In five attempts, the converter took no values from the examples.");
}

/** Runs the requests of a collection one after another, in its order, with the key and nothing else set. */
export async function runCollection(file: string, key: string, base?: string): Promise<Outcome[]> {
  const settings = [`bearerToken=${key}`, ...(base === undefined ? [] : [`baseUrl=${base}`])];
  const command = ["node", tool("newman/bin/newman.js"), "run", file];
  const report = `${file}.report.json`;
  command.push(...settings.flatMap((setting) => ["--env-var", setting]));
  command.push("--timeout-request", "20000"); // a stream does not end
  command.push("--reporters", "json", "--reporter-json-export", report);
  await run(command);
  const { executions } = (await Bun.file(report).json()).run;
  return executions.map(({ item, response }: any) => {
    const body = Buffer.from(response?.stream?.data ?? []).toString();
    return {
      summary: item.name,
      status: response?.code ?? 200,
      code: response?.code >= 400 ? JSON.parse(body).code : undefined,
      headers: new Map((response?.header ?? []).map((header: any) => [header.key.toLowerCase(), header.value])),
    };
  });
}

function tool(path: string): string {
  return join(interopFolder, "node_modules", path);
}

/**
 * Replaces the converter's random key by a UUID. It cuts what it makes for a pattern to a length, within an escaped
 * quote now and then. The document has no example for this header: who copies it would repeat the first request.
 */
function setIdempotencyKeys(requests: any[]): void {
  for (const { request } of requests) {
    for (const header of request.header ?? []) {
      if (header.key === IDEMPOTENCY_KEY) header.value = crypto.randomUUID();
    }
  }
}

function requestsOf(items: any[]): any[] {
  return items.flatMap((item) => (item.item ? requestsOf(item.item) : [item]));
}

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${(await said).join("\n")}`);
}
