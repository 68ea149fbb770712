// The document as a collection of Bruno, made with the converter's default settings and sent in its order.
import { expect, test } from "bun:test";
import { createRequire } from "node:module";
import { join } from "node:path";
import { hasInteropTools, interopFolder } from "../harness/interop-tools.ts";
import { keyIn, newDataDir, Program } from "../harness/program.ts";

interface Named {
  readonly name: string;
  readonly value: string;
  readonly enabled: boolean;
}

interface BrunoRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Named[];
  readonly params: readonly (Named & { readonly type: "path" | "query" })[];
  readonly body: { readonly json: string | null };
}

interface BrunoItem {
  readonly request?: BrunoRequest;
  readonly items?: readonly BrunoItem[];
}

function requestsOf({ request, items = [] }: BrunoItem): BrunoRequest[] {
  return [...(request ? [request] : []), ...items.flatMap(requestsOf)];
}

/** Sends a request as Bruno does: with what is enabled, and with the key. Returns its method and path, and what came. */
async function send({ method, url, headers, params, body }: BrunoRequest, base: string, key: string) {
  const enabled = params.filter((parameter) => parameter.enabled);
  const of = (type: string) => enabled.filter((parameter) => parameter.type === type);
  const path = of("path").reduce((text, { name, value }) => text.replace(`:${name}`, value), url);
  const query = new URLSearchParams(of("query").map(({ name, value }): [string, string] => [name, value]));
  const sent = new Headers(
    headers.filter((header) => header.enabled).map(({ name, value }): [string, string] => [name, value]),
  );
  sent.set("Authorization", `Bearer ${key}`);
  if (body.json !== null) sent.set("Content-Type", "application/json");
  const leaving = new AbortController(); // a stream does not end
  const response = await fetch(`${path.replace("{{baseUrl}}", base)}?${query}`, {
    method,
    headers: sent,
    body: body.json,
    signal: leaving.signal,
  });
  const text = response.ok ? "" : await response.text();
  leaving.abort();
  const template = url.replace("{{baseUrl}}", "").replaceAll(/:(\w+)/g, "{$1}");
  return { call: `${method} ${template}`, status: response.status, code: text && JSON.parse(text).code };
}

test.skipIf(!hasInteropTools())("each request succeeds but those that name what does not exist", async () => {
  const load = createRequire(join(interopFolder, "package.json"));
  const service = await Program.start(newDataDir());
  const document = await (await fetch(new URL("/openapi.json", service.base))).json();
  const collection = (await load("@usebruno/converters").openApiToBruno(document)) as BrunoItem;
  const outcomes = [];
  for (const request of requestsOf(collection)) outcomes.push(await send(request, service.base, keyIn(service.output)));
  await service.end();
  const failed = outcomes.filter(({ status }) => status >= 400);
  // They need an order that is open, or an id that the service has made up.
  expect(failed.filter(({ code }) => code !== "order_not_open" && !code.endsWith("_not_found"))).toEqual([]);
  expect(outcomes.length - failed.length).toBeGreaterThan((2 / 3) * outcomes.length);
});
