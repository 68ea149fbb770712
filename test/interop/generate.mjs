// Generates a client with each tool: node generate.mjs DOCUMENT FOLDER
// The settings are those with which the tool keeps 64-bit integers apart from numbers, where it can.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypes, { astToString } from "openapi-typescript";
import orval from "orval";
import ts from "typescript";

const [document, folder] = process.argv.slice(2);

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const types = await openapiTypes(pathToFileURL(document), {
  transform: ({ format }) => (format === "int64" ? bigint : undefined),
});
writeFileSync(join(folder, "types.ts"), astToString(types));

await createClient({
  input: document,
  output: join(folder, "hey"),
  logs: { level: "silent", file: false },
  plugins: [
    "@hey-api/client-fetch",
    "@hey-api/typescript",
    "zod",
    { name: "@hey-api/transformers", bigInt: true },
    { name: "@hey-api/sdk", validator: true, transformer: true },
  ],
});

const reviver = { path: join(folder, "../clients/exact-json.ts"), name: "exactValue" };
await orval.generate({
  input: document,
  output: {
    target: join(folder, "orval/client.ts"),
    client: "fetch",
    baseUrl: { getBaseUrlFromSpecification: true },
    override: { useBigInt: true, fetch: { jsonReviver: reviver } },
  },
});
await orval.generate({
  input: document,
  output: {
    target: join(folder, "orval/plain.ts"),
    client: "fetch",
    baseUrl: { getBaseUrlFromSpecification: true },
  },
});
await orval.generate({
  input: document,
  output: { target: join(folder, "orval/zod.ts"), client: "zod", override: { useBigInt: true } },
});
